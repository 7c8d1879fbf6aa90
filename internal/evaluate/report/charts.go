package report

import (
	"html/template"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

func (d *dataset) charts() (out []figure) {
	if len(d.epsilons) < 2 {
		return nil
	}
	if c := d.recallChart(); c != nil {
		out = append(out, figure{SVG: template.HTML(c.svg()), Caption: "Eight answers, not ranked by the client. The ceiling is for equally likely classes and replace-one. Dotted lines need no epsilon."})
	}
	if c := d.overlapChart(); c != nil {
		out = append(out, figure{SVG: template.HTML(c.svg()), Caption: "More rows sent than kept. The ceiling is for replace-one and neighbours that are equally likely to be any row of the gallery, however the client ranks what it gets; dotted: without a query, the same download, all of the gallery once, or an encrypted query."})
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
		if s := d.find(m.Name, 0); s != nil && m.Warning == "" && m.Assumes == "" && !takesAll(s) {
			c.series = append(c.series, flat(m.Title, d.color[m.Name], s.Figures[evaluate.RecallAt8].Mean))
		}
	}
	if v, ok := d.random(evaluate.RandomRecall8); ok {
		c.series = append(c.series, flat(randomTitle, -1, v))
	}
	c.series = append(c.series, d.bound("ceiling", d.ceiling))
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
	for _, m := range d.modes {
		if s := d.find(m.Name, 0); s != nil && (takesAll(s) || encrypted(s)) {
			c.series = append(c.series, flat(m.Title, d.color[m.Name], s.Figures[evaluate.OverlapAt8].Mean))
		}
	}
	for _, v := range sorted(shares) {
		c.series = append(c.series, d.bound("ceiling, "+share(v)+" sent", func(e float64) float64 { return evaluate.OverlapCeiling(v, e) }))
	}
	return c
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
