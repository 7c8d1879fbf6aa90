package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

type table struct {
	Caption string
	Head    []string
	Rows    []row
}

type row struct {
	Cells []cell
	Bound bool // not a measurement
}

// cell is a text, and half the width of an interval where there is one.
type cell struct{ Text, Half string }

// show prints a figure with half of its interval.
func show(s *evaluate.Summary, m evaluate.Metric) cell {
	if s == nil {
		return cell{Text: "–"}
	}
	v, ok := s.Figures[m]
	if !ok {
		return cell{Text: "–"}
	}
	c := cell{Text: share(v.Mean)}
	// Not cut to 0..1: the width would no longer be that of the interval.
	if half := (v.High - v.Low) / 2; half > 0 && !math.IsInf(half, 0) {
		c.Half = share(half)
	}
	return c
}

// share prints a share with three digits, .123 as tables of recall do.
func share(v float64) string {
	text := strconv.FormatFloat(v, 'f', 3, 64)
	if text[0] == '0' {
		return text[1:]
	}
	return text
}

// fact prints a fact that is a share.
func fact(s *evaluate.Summary, name string) cell {
	if v, ok := s.Facts[name]; ok {
		return cell{Text: share(v)}
	}
	return cell{Text: "–"}
}

// open is the table of modes that have no epsilon.
func (d *dataset) open() *table {
	metrics := []evaluate.Metric{evaluate.RecallAt1, evaluate.RecallAt8, evaluate.PrecisionAt8, evaluate.MAP, evaluate.OverlapAt8}
	metrics = slices.DeleteFunc(metrics, func(m evaluate.Metric) bool { return !d.hasOpen(m) }) // mAP@100 of few rows
	t := &table{Caption: "Nothing hidden", Head: []string{"mode"}}
	for _, m := range metrics {
		t.Head = append(t.Head, string(m))
	}
	random := map[evaluate.Metric]evaluate.Metric{
		evaluate.RecallAt1: evaluate.RandomRecall1, evaluate.RecallAt8: evaluate.RandomRecall8,
		evaluate.PrecisionAt8: evaluate.RandomRecall1, // a random row has the class as often wherever it stands
	}
	first := randomRow()
	for _, metric := range metrics {
		if metric == evaluate.OverlapAt8 && len(d.all) > 0 {
			first.Cells = append(first.Cells, d.randomOverlap())
			continue
		}
		first.Cells = append(first.Cells, d.randomCell(random[metric]))
	}
	for _, m := range d.modes {
		s := d.find(m.Name, 0)
		if s == nil || m.Warning != "" || m.Assumes != "" || takesAll(s) {
			continue
		}
		r := row{Cells: []cell{{Text: m.Title}}}
		for _, metric := range metrics {
			r.Cells = append(r.Cells, show(s, metric))
		}
		t.Rows = append(t.Rows, r)
	}
	return t.unlessEmpty().startingWith(first)
}

// hasOpen reports whether a mode without an epsilon has a figure.
func (d *dataset) hasOpen(metric evaluate.Metric) bool {
	return slices.ContainsFunc(d.main, func(s evaluate.Summary) bool {
		_, ok := s.Figures[metric]
		return ok && s.Epsilon == 0 && !encrypted(&s)
	})
}

// published is the table of modes without an epsilon whose guarantee does not
// hold.
func (d *dataset) published() *table {
	t := &table{Caption: "The published method taken apart", Head: []string{"", string(evaluate.RecallAt8), string(evaluate.WrongClassAt8)}}
	for _, m := range d.modes {
		if s := d.find(m.Name, 0); s != nil && m.Warning != "" {
			t.Rows = append(t.Rows, row{Cells: []cell{{Text: m.Title}, show(s, evaluate.RecallAt8), show(s, evaluate.WrongClassAt8)}})
			t.Caption = "The published method taken apart: " + m.Warning
		}
	}
	return t.unlessEmpty().startingWith(randomRow(d.randomCell(evaluate.RandomRecall8), cell{Text: "–"}))
}

// randomTitle is the title of what random rows find.
const randomTitle = "8 random rows"

func randomRow(cells ...cell) row {
	return row{Cells: append([]cell{{Text: randomTitle}}, cells...), Bound: true}
}

// startingWith puts rows before those of a table, if there is one.
func (t *table) startingWith(rows ...row) *table {
	if t != nil {
		t.Rows = append(rows, t.Rows...)
	}
	return t
}

// unlessEmpty returns nil for a table without rows.
func (t *table) unlessEmpty() *table {
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// overEpsilon makes a table with a column for each epsilon.
func (d *dataset) overEpsilon(caption string) *table {
	t := &table{Caption: caption, Head: []string{"epsilon"}}
	for _, e := range d.epsilons {
		t.Head = append(t.Head, strconv.FormatFloat(e, 'g', -1, 64))
	}
	return t
}

func (d *dataset) noise() *table {
	t := d.overEpsilon("Noise on what is sent, as a multiple of it")
	for _, m := range d.sends() {
		r, any := row{Cells: []cell{{Text: m.Title}}}, false
		for _, e := range d.epsilons {
			c := cell{Text: "–"}
			if s := d.find(m.Name, e); s != nil {
				if v, ok := s.Facts[noiseFact]; ok {
					c.Text, any = strconv.FormatFloat(v, 'g', 3, 64), true
				}
			}
			r.Cells = append(r.Cells, c)
		}
		if any {
			t.Rows = append(t.Rows, r)
		}
	}
	return t.unlessEmpty()
}

// recall is the table of R@1 or R@8 of modes that send back only what is kept.
func (d *dataset) recall(metric, random evaluate.Metric) *table {
	caption := string(metric) + " of 8 answers picked from the request"
	if delta := d.delta(); delta > 0 {
		caption += ", delta " + strings.Replace(strconv.FormatFloat(delta, 'g', -1, 64), "e-0", "e-", 1)
	}
	t := d.overEpsilon(caption)
	for _, m := range d.sends() {
		r, any := row{Cells: []cell{{Text: titleOf(m)}}}, false
		for _, e := range d.epsilons {
			c := show(d.find(m.Name, e), metric)
			any = any || c.Text != "–"
			r.Cells = append(r.Cells, c)
		}
		if any {
			t.Rows = append(t.Rows, r)
		}
	}
	bound, chance := row{Cells: []cell{{Text: "ceiling"}}, Bound: true}, randomRow()
	for _, e := range d.epsilons {
		bound.Cells = append(bound.Cells, cell{Text: share(d.ceiling(e))})
		chance.Cells = append(chance.Cells, d.randomCell(random))
	}
	if metric != evaluate.RecallAt8 {
		return t.unlessEmpty().startingWith(chance)
	}
	return t.unlessEmpty().startingWith(bound, chance)
}
