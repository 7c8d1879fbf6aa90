package evaluation

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// studyTables prints the figures of one data set.
type studyTables struct {
	modes    []evaluate.Mode
	lines    []report.Line // of the data set, with the defaults of their modes
	epsilons []float64
}

// Titles of rows that no mode has.
const (
	randomTitle  = "  8 random rows"
	noQueryTitle = "    the same download, no query"
	compactTitle = "    of int8"
)

// has reports whether a mode has figures.
func (t *studyTables) has(mode string) bool {
	return slices.ContainsFunc(t.lines, func(l report.Line) bool { return l.Mode == mode && l.Unavailable == "" })
}

// figure prints a figure of a mode at an epsilon, 0 for modes without.
func (t *studyTables) figure(mode string, epsilon float64, metric evaluate.Metric) string {
	for _, l := range t.lines {
		if v, ok := l.Figures[string(metric)]; ok && l.Mode == mode && l.Epsilon == epsilon {
			return showShare(v.Mean)
		}
	}
	return ""
}

// random prints what random rows find, for the mode that asks the most queries.
func (t *studyTables) random(metric evaluate.Metric) (text string) {
	asked := 0
	for _, l := range t.lines {
		if v, ok := l.Figures[string(metric)]; ok && l.Asked > asked {
			text, asked = showShare(v.Mean), l.Asked
		}
	}
	return text
}

// randomOverlap prints what is expected of overlap@8 of random rows.
func (t *studyTables) randomOverlap() string {
	return showShare(min(1, evaluate.ListLength/float64(t.lines[0].Gallery)))
}

// showShare prints three digits, and no 0 before the point.
func showShare(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0") }

// titleOf is the title of a mode, marked where its guarantee does not hold.
func titleOf(m evaluate.Mode) string {
	if m.Warning != "" {
		return "! " + m.Title
	}
	return "  " + m.Title
}

// open prints the modes that have no epsilon.
func (t *studyTables) open(w io.Writer) {
	metrics := []evaluate.Metric{evaluate.RecallAt1, evaluate.RecallAt8, evaluate.OverlapAt8, evaluate.WrongClassAt8}
	rows := []titled{{randomTitle, []string{t.random(evaluate.RandomRecall1), t.random(evaluate.RandomRecall8), t.randomOverlap(), ""}}}
	for _, m := range t.modes {
		if m.Assumes == "" { // others have a table of their own
			rows = appendFilled(rows, t.openRow(m, metrics))
		}
	}
	if len(rows) == 1 {
		return
	}
	writeFigures(w, "no epsilon", metrics, rows)
}

// openRow is a row with the figures of a mode that has no epsilon.
func (t *studyTables) openRow(m evaluate.Mode, metrics []evaluate.Metric) titled {
	r := titled{title: titleOf(m)}
	for _, metric := range metrics {
		r.figures = append(r.figures, t.figure(m.Name, 0, metric))
	}
	return r
}

// recalls prints R@1 and R@8 of the modes that have an epsilon, side by side.
func (t *studyTables) recalls(w io.Writer) {
	random, ceiling := titled{title: randomTitle}, titled{title: "  ceiling, 8 rows sent"}
	for _, e := range t.epsilons {
		random.figures = append(random.figures, t.random(evaluate.RandomRecall1), t.random(evaluate.RandomRecall8))
		ceiling.figures = append(ceiling.figures, "", showShare(evaluate.Ceiling(t.lines[0].Classes, e, t.delta())))
	}
	rows := []titled{random, ceiling}
	for _, m := range t.modes {
		rows = appendFilled(rows, t.overEpsilon(titleOf(m), m, evaluate.RecallAt1, evaluate.RecallAt8))
		rows = appendFilled(rows, t.overEpsilon(noQueryTitle, m, evaluate.NoQueryRecall1, evaluate.NoQueryRecall8))
	}
	if len(rows) > 2 {
		writeOverEpsilon(w, "", t.epsilons, rows, "R@1", "R@8")
	}
}

// overlaps prints overlap@8 of the modes that download more rows than they keep.
func (t *studyTables) overlaps(w io.Writer) {
	random := titled{title: randomTitle}
	for range t.epsilons {
		random.figures = append(random.figures, t.randomOverlap())
	}
	rows := []titled{random}
	for _, m := range t.modes {
		if slices.ContainsFunc(t.lines, func(l report.Line) bool { return l.Mode == m.Name && l.Download > 0 }) {
			rows = appendFilled(rows, t.overEpsilon(titleOf(m), m, evaluate.OverlapAt8))
			rows = appendFilled(rows, t.overEpsilon(compactTitle, m, evaluate.CompactOverlap8))
			rows = appendFilled(rows, t.overEpsilon(noQueryTitle, m, evaluate.NoQueryOverlap8))
		}
	}
	if len(rows) > 1 {
		writeOverEpsilon(w, "overlap@8", t.epsilons, rows, "")
	}
}

// overEpsilon is a row with the figures of a mode at each epsilon.
func (t *studyTables) overEpsilon(title string, m evaluate.Mode, metrics ...evaluate.Metric) titled {
	r := titled{title: title}
	for _, e := range t.epsilons {
		for _, metric := range metrics {
			r.figures = append(r.figures, t.figure(m.Name, e, metric))
		}
	}
	return r
}

// delta is the largest of the lines.
func (t *studyTables) delta() (delta float64) {
	for _, l := range t.lines {
		delta = max(delta, l.Delta)
	}
	return delta
}
