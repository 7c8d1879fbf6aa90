package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/evaluate"
)

// dataset is the part of a report on one data set.
type dataset struct {
	name  string
	modes []evaluate.Mode
	color map[string]int
	// main has the summaries at the defaults of their modes, for any epsilon;
	// all has the others as well; missing has those without figures.
	main, all, missing []evaluate.Summary
	epsilons           []float64
}

// dataView is a data set as the template sees it.
type dataView struct {
	Name, Facts                           string
	Open, Published, Noise, Recall, Fetch *table
	Charts, Effects                       []figure
	Missing                               []string // which figures there are not, and why
}

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

func newDataset(name string, modes []evaluate.Mode, summaries []evaluate.Summary) *dataset {
	d := &dataset{name: name, modes: modes, color: make(map[string]int)}
	byName := make(map[string]evaluate.Mode)
	for i, m := range modes {
		byName[m.Name] = m
		d.color[m.Name] = i
	}
	for _, s := range summaries {
		if s.Data != name {
			continue
		}
		if s.Unavailable != "" {
			d.missing = append(d.missing, s)
			continue
		}
		d.all = append(d.all, s)
		m, ok := byName[s.Mode]
		if ok && s.Params == m.At(s.Epsilon) {
			d.main = append(d.main, s)
			if s.Epsilon > 0 {
				d.epsilons = append(d.epsilons, s.Epsilon)
			}
		}
	}
	slices.Sort(d.epsilons)
	d.epsilons = slices.Compact(d.epsilons)
	return d
}

// find returns the summary of a mode at an epsilon, 0 for modes without.
func (d *dataset) find(mode string, epsilon float64) *evaluate.Summary {
	for i, s := range d.main {
		if s.Mode == mode && s.Epsilon == epsilon {
			return &d.main[i]
		}
	}
	return nil
}

func (d *dataset) view() dataView {
	return dataView{
		Name: d.name, Facts: d.facts(),
		Open: d.open(), Published: d.published(), Noise: d.noise(), Recall: d.recall(), Fetch: d.fetch(),
		Charts: d.charts(), Effects: d.effects(), Missing: d.reasons(),
	}
}

// reasons says what was not available.
func (d *dataset) reasons() (lines []string) {
	for _, s := range d.missing {
		what := s.Mode
		if s.Epsilon > 0 {
			what += fmt.Sprintf(" at epsilon %g", s.Epsilon)
		}
		lines = append(lines, what+": "+s.Unavailable)
	}
	return lines
}

func (d *dataset) facts() string {
	all := slices.Concat(d.all, d.missing)
	s := all[0]
	asked := make([]int, 0, len(all))
	for _, one := range all {
		asked = append(asked, one.Asked)
	}
	queries := strconv.Itoa(slices.Max(asked))
	if low := slices.Min(asked); low < slices.Max(asked) {
		queries = fmt.Sprintf("%d to %s", low, queries)
	}
	return fmt.Sprintf("%d gallery rows of %d classes, %s queries for each of %s.", s.Gallery, s.Classes, queries, count(s.Seeds, "seed"))
}

// count prints a number of things, such as "1 seed" and "3 seeds".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

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

// open is the table of modes that have no epsilon.
func (d *dataset) open() *table {
	metrics := []evaluate.Metric{evaluate.RecallAt1, evaluate.RecallAt8, evaluate.PrecisionAt8, evaluate.MAP, evaluate.OverlapAt8}
	t := &table{Caption: "Nothing hidden", Head: []string{"mode"}}
	for _, m := range metrics {
		t.Head = append(t.Head, string(m))
	}
	for _, m := range d.modes {
		s := d.find(m.Name, 0)
		if s == nil || m.Warning != "" {
			continue
		}
		r := row{Cells: []cell{{Text: m.Title}}}
		for _, metric := range metrics {
			r.Cells = append(r.Cells, show(s, metric))
		}
		t.Rows = append(t.Rows, r)
	}
	return t.unlessEmpty()
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
	return t.unlessEmpty()
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

// fetches tells whether a summary downloads more than it keeps.
func fetches(s *evaluate.Summary) bool {
	_, ok := s.Figures[evaluate.NoQueryRecall8]
	return ok
}

// sends lists the modes with an epsilon that send back only what is kept.
func (d *dataset) sends() (modes []evaluate.Mode) {
	for _, m := range d.modes {
		for _, s := range d.main {
			if s.Mode == m.Name && s.Epsilon > 0 && !fetches(&s) {
				modes = append(modes, m)
				break
			}
		}
	}
	return modes
}

// Facts that tables show.
const (
	noiseFact     = "noise to signal"
	inclusionFact = "probability of the own cell"
)

// fact prints a fact that is a share.
func fact(s *evaluate.Summary, name string) cell {
	if v, ok := s.Facts[name]; ok {
		return cell{Text: share(v)}
	}
	return cell{Text: "–"}
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

// delta is the one of the records, which all share it.
func (d *dataset) delta() float64 {
	delta := 0.0
	for _, s := range d.main {
		delta = max(delta, s.Delta)
	}
	return delta
}

func (d *dataset) recall() *table {
	caption := "R@8 of 8 answers picked from the request"
	if delta := d.delta(); delta > 0 {
		caption += ", delta " + strings.Replace(strconv.FormatFloat(delta, 'g', -1, 64), "e-0", "e-", 1)
	}
	t := d.overEpsilon(caption)
	modes := d.sends()
	if len(modes) == 0 {
		return nil
	}
	bound := row{Cells: []cell{{Text: "ceiling"}}, Bound: true}
	for _, e := range d.epsilons {
		bound.Cells = append(bound.Cells, cell{Text: share(d.ceiling(e))})
	}
	random := row{Cells: []cell{{Text: "8 random rows"}}, Bound: true}
	for range d.epsilons {
		random.Cells = append(random.Cells, cell{Text: share(d.chance())})
	}
	t.Rows = append(t.Rows, bound, random)
	for _, m := range modes {
		r := row{Cells: []cell{{Text: titleOf(m)}}}
		for _, e := range d.epsilons {
			r.Cells = append(r.Cells, show(d.find(m.Name, e), evaluate.RecallAt8))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// titleOf is the title of a mode with its warning, which no figure goes without.
func titleOf(m evaluate.Mode) string {
	if m.Warning == "" {
		return m.Title
	}
	return m.Title + " (" + m.Warning + ")"
}

// chance is R@8 of rows drawn at random from classes of one size.
func (d *dataset) chance() float64 {
	return 1 - math.Pow(1-1/float64(d.all[0].Classes), evaluate.ListLength)
}

func (d *dataset) ceiling(epsilon float64) float64 {
	return evaluate.Ceiling(d.all[0].Classes, epsilon, d.delta())
}

func (d *dataset) fetch() *table {
	t := &table{
		Caption: "More rows sent than kept",
		Head:    []string{"mode", "epsilon", "p", "download", "overlap@8", "no query", "R@1", "no query", "R@8", "no query"},
	}
	for _, m := range d.modes {
		title := m.Title // stands in the first of its rows
		for i := range d.main {
			s := &d.main[i]
			if s.Mode != m.Name || !fetches(s) {
				continue
			}
			download := share(s.Download)
			if s.Base > 0 {
				download += " + " + share(s.Base) + " once"
			}
			t.Rows = append(t.Rows, row{Cells: []cell{
				{Text: title}, {Text: strconv.FormatFloat(s.Epsilon, 'g', -1, 64)}, fact(s, inclusionFact), {Text: download},
				show(s, evaluate.OverlapAt8), show(s, evaluate.NoQueryOverlap8),
				show(s, evaluate.RecallAt1), show(s, evaluate.NoQueryRecall1),
				show(s, evaluate.RecallAt8), show(s, evaluate.NoQueryRecall8),
			}})
			title = ""
		}
	}
	return t.unlessEmpty()
}

// line returns the series of a mode over epsilon.
func (d *dataset) line(m evaluate.Mode, metric evaluate.Metric) (series, bool) {
	s := series{name: titleOf(m), color: d.color[m.Name]}
	for _, e := range d.epsilons {
		if found := d.find(m.Name, e); found != nil {
			if v, ok := found.Figures[metric]; ok {
				s.at = append(s.at, sampleOf(e, v))
			}
		}
	}
	return s, len(s.at) > 0
}

func sampleOf(x float64, v evaluate.Interval) sample {
	s := sample{x: x, y: v.Mean, low: max(v.Low, 0), high: min(v.High, 1)}
	if math.IsInf(v.Low, 0) || math.IsInf(v.High, 0) {
		s.low, s.high = v.Mean, v.Mean
	}
	return s
}

// flat is the horizontal line of a value that epsilon does not change.
func flat(name string, color int, y float64) series {
	return series{name: name, color: color, at: []sample{{x: math.NaN(), y: y, low: y, high: y}}}
}

// bound samples a function between the smallest and the largest epsilon.
func (d *dataset) bound(name string, f func(epsilon float64) float64) series {
	s := series{name: name, color: -1, dashed: true}
	lo, hi := d.epsilons[0], d.epsilons[len(d.epsilons)-1]
	const points = 60
	for i := range points + 1 {
		e := lo * math.Pow(hi/lo, float64(i)/points)
		s.at = append(s.at, sample{x: e, y: f(e)})
	}
	return s
}

func (d *dataset) charts() (out []figure) {
	if len(d.epsilons) < 2 {
		return nil
	}
	if c := d.recallChart(); c != nil {
		out = append(out, figure{SVG: template.HTML(c.svg()), Caption: "Eight answers, not ranked by the client. The ceiling is for equally likely classes and replace-one. Dotted lines need no epsilon."})
	}
	if c := d.overlapChart(); c != nil {
		out = append(out, figure{SVG: template.HTML(c.svg()), Caption: "More rows sent than kept. The ceiling is for replace-one and neighbours that are equally likely to be any row of the gallery, however the client ranks what it gets; dotted: the same download without a query."})
	}
	return out
}

func (d *dataset) recallChart() *chart {
	c := &chart{title: "R@8 against epsilon, " + d.name, xLabel: "epsilon", yLabel: "R@8", logX: true}
	for _, m := range d.sends() {
		if s, ok := d.line(m, evaluate.RecallAt8); ok {
			c.series = append(c.series, s)
		}
	}
	if len(c.series) == 0 {
		return nil
	}
	for _, m := range d.modes {
		if s := d.find(m.Name, 0); s != nil && m.Warning == "" {
			c.series = append(c.series, flat(m.Title, d.color[m.Name], s.Figures[evaluate.RecallAt8].Mean))
		}
	}
	c.series = append(c.series, flat("8 random rows", -1, d.chance()), d.bound("ceiling", d.ceiling))
	return c
}

func (d *dataset) overlapChart() *chart {
	c := &chart{title: "overlap@8 against epsilon, " + d.name, xLabel: "epsilon", yLabel: "overlap@8", logX: true}
	shares := make(map[float64]bool)
	for _, m := range d.modes {
		i := slices.IndexFunc(d.main, func(s evaluate.Summary) bool { return s.Mode == m.Name && fetches(&s) })
		if i < 0 {
			continue
		}
		if s, ok := d.line(m, evaluate.OverlapAt8); ok {
			c.series = append(c.series, s, flat(m.Title+", no query", d.color[m.Name], d.main[i].Figures[evaluate.NoQueryOverlap8].Mean))
			shares[math.Round((d.main[i].Download+d.main[i].Base)*1000)/1000] = true
		}
	}
	if len(c.series) == 0 {
		return nil
	}
	for _, v := range sorted(shares) {
		c.series = append(c.series, d.bound("ceiling, "+share(v)+" sent", func(e float64) float64 { return evaluate.OverlapCeiling(v, e) }))
	}
	return c
}

func sorted(set map[float64]bool) (values []float64) {
	for v := range set {
		values = append(values, v)
	}
	slices.Sort(values)
	return values
}
