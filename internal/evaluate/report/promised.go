package report

import (
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// promised is the table of modes whose embedding was diagnosed.
func (d *dataset) promised() *table {
	t := &table{Caption: "What the distances between classes promise", Head: []string{"mode"}}
	for _, c := range PromiseColumns {
		t.Head = append(t.Head, c.Head)
	}
	for _, m := range d.modes {
		s := d.find(m.Name, 0)
		if s == nil {
			continue
		}
		if _, ok := s.Facts[gammaFact]; !ok {
			continue
		}
		r := row{Cells: []cell{{Text: m.Title}}}
		for _, c := range PromiseColumns {
			text := c.Text(s.Facts)
			if text == "" {
				text = "–"
			}
			r.Cells = append(r.Cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t.unlessEmpty()
}

// promises says in words what follows, for each mode of the table.
func (d *dataset) promises() (notes []string) {
	for _, m := range d.modes {
		if s := d.find(m.Name, 0); s != nil && hasPromise(s) {
			notes = append(notes, m.Title+". "+s.Note)
		}
	}
	return notes
}

func hasPromise(s *evaluate.Summary) bool {
	_, ok := s.Facts[gammaFact]
	return ok && s.Note != ""
}

// A PromiseColumn is a column of the table of what distances between classes promise.
type PromiseColumn struct {
	Head, fact string
	share      bool // of new rows
}

// PromiseColumns are the columns in their order.
var PromiseColumns = []PromiseColumn{
	{Head: "gamma/2", fact: gammaFact}, {Head: "L delta", fact: carryFact}, {Head: "A_delta", fact: spreadFact},
	{Head: "theorem", fact: theoremFact, share: true}, {Head: "direct", fact: directFact, share: true},
}

// Text is the figure of the column among facts, "" where there is none, and where nothing is
// promised.
func (c PromiseColumn) Text(facts map[string]float64) string {
	v, ok := facts[c.fact]
	switch {
	case !ok || c.share && v == 0:
		return ""
	case c.share:
		return share(v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
