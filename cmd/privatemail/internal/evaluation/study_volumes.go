package evaluation

import (
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// volumes prints the bytes that travel, and those of taking all rows.
func (t *studyTables) volumes(w io.Writer) {
	var rows []titled
	for _, m := range t.modes {
		for _, part := range []struct {
			title string
			of    func(evaluate.Volume) float64
		}{
			{titleOf(m), func(v evaluate.Volume) float64 { return v.Float32.Query }},
			{compactTitle, func(v evaluate.Volume) float64 { return v.Int8.Query }},
			{"    once", func(v evaluate.Volume) float64 { return v.Float32.Once }},
			{"    once, of int8", func(v evaluate.Volume) float64 { return v.Int8.Once }},
		} {
			r := titled{title: part.title}
			for _, e := range t.epsilons {
				r.figures = append(r.figures, t.bytes(m.Name, e, part.of))
			}
			rows = appendFilled(rows, r)
		}
	}
	all := t.allRows()
	if len(rows) == 0 {
		if all != "" {
			fmt.Fprintf(w, "\nall rows, once: %s bytes\n", all)
		}
		return
	}
	last := titled{title: "  all rows, int8, once"}
	for range t.epsilons {
		last.figures = append(last.figures, all)
	}
	writeOverEpsilon(w, "bytes a query", t.epsilons, append(rows, last), "")
}

// bytes prints what a mode sends at an epsilon.
func (t *studyTables) bytes(mode string, epsilon float64, of func(evaluate.Volume) float64) string {
	for _, l := range t.lines {
		if l.Mode == mode && l.Epsilon == epsilon && epsilon > 0 && of(l.Volume) > 0 {
			return report.ShowBytes(of(l.Volume))
		}
	}
	return ""
}

// allRows prints what the whole gallery takes.
func (t *studyTables) allRows() string {
	for _, l := range t.lines {
		if l.Volume.AllRows > 0 {
			return report.ShowBytes(l.Volume.AllRows)
		}
	}
	return ""
}
