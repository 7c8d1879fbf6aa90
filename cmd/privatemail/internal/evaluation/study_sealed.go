package evaluation

import (
	"io"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// sealed prints the modes that hide their queries by encryption: their figures, the bytes of a
// query and of what is taken once, and the time of the server.
func (t *studyTables) sealed(w io.Writer) {
	metrics := []evaluate.Metric{evaluate.RecallAt1, evaluate.RecallAt8, evaluate.OverlapAt8}
	rows := []titled{{randomTitle, []string{t.random(evaluate.RandomRecall1), t.random(evaluate.RandomRecall8), t.randomOverlap(), "", "", "", ""}}}
	for _, m := range t.modes {
		if m.Assumes == "" {
			continue
		}
		r := t.openRow(m, metrics)
		for _, l := range t.lines {
			if x := l.Volume.Sealed; l.Mode == m.Name && x != (evaluate.Exchange{}) {
				r.figures = append(r.figures, report.ShowBytes(x.Up), report.ShowBytes(x.Down), report.ShowBytes(x.Once), report.ShowSeconds(x.Seconds))
				rows = append(rows, r)
				break
			}
		}
	}
	if len(rows) > 1 {
		writeFigures(w, "encrypted, no epsilon", append(metrics, "bytes up", "bytes down", "once", "server"), rows)
	}
}
