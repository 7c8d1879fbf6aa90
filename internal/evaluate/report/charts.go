package report

import (
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// figure is a picture with its words.
type figure struct {
	Title, Caption string
	SVG            template.HTML // made by package plot, all text escaped
}

func figureOf(c *plot.Chart, caption string) figure {
	return figure{SVG: template.HTML(c.Element()), Caption: caption}
}

// shareChart returns an empty chart of shares, 0 to 1.
func shareChart(title, x, y string, log bool) *plot.Chart {
	return &plot.Chart{Title: title, X: plot.Axis{Name: x, Log: log}, Y: plot.Axis{Name: y, High: 1, Show: shownShare}}
}

func shownShare(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

func (d *dataset) charts() (out []figure) {
	if len(d.epsilons) < 2 {
		return nil
	}
	if c := d.recallChart(); c != nil {
		out = append(out, figureOf(c, "Eight answers, not ranked by the client. The ceiling is for equally likely classes and replace-one. Dotted lines need no epsilon."))
	}
	if c := d.overlapChart(); c != nil {
		out = append(out, figureOf(c, "More rows sent than kept. The ceiling is for replace-one and neighbours that are equally likely to be any row of the gallery, however the client ranks what it gets; dotted: without a query, the same download, all of the gallery once, or an encrypted query."))
	}
	return out
}

func (d *dataset) recallChart() *plot.Chart {
	c := shareChart("R@8 against epsilon, "+d.name, "epsilon", "R@8", true)
	for _, m := range d.sends() {
		if s, ok := d.line(m, evaluate.RecallAt8); ok {
			c.Series = append(c.Series, s)
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	for _, m := range d.modes {
		if s := d.find(m.Name, 0); s != nil && m.Warning == "" && m.Assumes == "" && !takesAll(s) {
			c.Series = append(c.Series, flat(m.Title, d.color[m.Name], s.Figures[evaluate.RecallAt8].Mean))
		}
	}
	if v, ok := d.random(evaluate.RandomRecall8); ok {
		c.Series = append(c.Series, flat(randomTitle, -1, v))
	}
	c.Series = append(c.Series, d.bound("ceiling", d.ceiling))
	c.X.Ticks = plot.Places(c.Series)
	return c
}

func (d *dataset) overlapChart() *plot.Chart {
	c := shareChart("overlap@8 against epsilon, "+d.name, "epsilon", "overlap@8", true)
	shares := make(map[float64]bool)
	for _, m := range d.modes {
		i := slices.IndexFunc(d.main, func(s evaluate.Summary) bool { return s.Mode == m.Name && fetches(&s) })
		if i < 0 {
			continue
		}
		if s, ok := d.line(m, evaluate.OverlapAt8); ok {
			c.Series = append(c.Series, s, flat(m.Title+", no query", d.color[m.Name], d.main[i].Figures[evaluate.NoQueryOverlap8].Mean))
			shares[math.Round((d.main[i].Download+d.main[i].Base)*1000)/1000] = true
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	for _, m := range d.modes {
		if s := d.find(m.Name, 0); s != nil && (takesAll(s) || encrypted(s)) {
			c.Series = append(c.Series, flat(m.Title, d.color[m.Name], s.Figures[evaluate.OverlapAt8].Mean))
		}
	}
	for _, v := range sorted(shares) {
		c.Series = append(c.Series, d.bound("ceiling, "+share(v)+" sent", func(e float64) float64 { return evaluate.OverlapCeiling(v, e) }))
	}
	c.X.Ticks = plot.Places(c.Series)
	return c
}

// line returns the series of a mode over epsilon.
func (d *dataset) line(m evaluate.Mode, metric evaluate.Metric) (plot.Series, bool) {
	s := plot.Series{Name: titleOf(m), Colour: d.color[m.Name]}
	for _, e := range d.epsilons {
		if found := d.find(m.Name, e); found != nil {
			if v, ok := found.Figures[metric]; ok {
				s.Points = append(s.Points, sampleOf(e, v))
			}
		}
	}
	return s, len(s.Points) > 0
}

// bound samples a function between the smallest and the largest epsilon.
func (d *dataset) bound(name string, f func(epsilon float64) float64) plot.Series {
	s := plot.Series{Name: name, Colour: -1, Look: plot.Dashed}
	lo, hi := d.epsilons[0], d.epsilons[len(d.epsilons)-1]
	const points = 60
	for i := range points + 1 {
		e := lo * math.Pow(hi/lo, float64(i)/points)
		s.Points = append(s.Points, plot.Sample{X: e, Y: f(e)})
	}
	return s
}

func sampleOf(x float64, v evaluate.Interval) plot.Sample {
	s := plot.Sample{X: x, Y: v.Mean, Low: max(v.Low, 0), High: min(v.High, 1)}
	if math.IsInf(v.Low, 0) || math.IsInf(v.High, 0) {
		s.Low, s.High = v.Mean, v.Mean
	}
	return s
}

// flat is the horizontal line of a value that epsilon does not change.
func flat(name string, color int, y float64) plot.Series {
	return plot.Series{Name: name, Colour: color, Look: plot.Level, Points: []plot.Sample{{X: math.NaN(), Y: y}}}
}
