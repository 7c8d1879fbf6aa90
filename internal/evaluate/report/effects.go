package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// axis is a parameter whose effect has a picture of its own.
type axis struct {
	name, label string
	log         bool
	uses        evaluate.Axes
	get         func(evaluate.Params) float64
	clear       func(*evaluate.Params)
}

func axes() []axis {
	return []axis{
		{"dimensions k", "k", true, evaluate.UsesColumns, func(p evaluate.Params) float64 { return float64(p.Dim) }, func(p *evaluate.Params) { p.Dim = 0 }},
		{"label coefficient alpha", "alpha", false, evaluate.UsesAlpha, func(p evaluate.Params) float64 { return p.Alpha }, func(p *evaluate.Params) { p.Alpha = 0 }},
		{"bandwidth sigma", "sigma", true, evaluate.UsesSigma, func(p evaluate.Params) float64 { return p.Sigma }, func(p *evaluate.Params) { p.Sigma = 0 }},
		{"steps T: convergence", "T", false, evaluate.UsesSteps, func(p evaluate.Params) float64 { return float64(p.Steps) }, func(p *evaluate.Params) { p.Steps = 0 }},
	}
}

// effects draws one picture for each parameter that was varied.
func (d *dataset) effects() (out []figure) {
	for _, a := range axes() {
		c, top := shareChart("Effect of "+a.name+", "+d.name, a.label, "R@8", a.log), 0.0
		for _, m := range d.modes {
			lines, epsilon := d.varied(m, a)
			c.Series, top = append(c.Series, lines...), max(top, epsilon)
		}
		if len(c.Series) == 0 {
			continue
		}
		c.X.Ticks = plot.Places(c.Series)
		if top > 0 {
			c.Series = append(c.Series, flat(fmt.Sprintf("ceiling at epsilon %g", top), -1, d.ceiling(top)))
		}
		out = append(out, figureOf(c, "All other parameters at their defaults."))
		if a.uses == evaluate.UsesSteps {
			if c := d.objective(a); c != nil {
				out = append(out, figureOf(c, "The objective before step T, relative to the start. That it falls does not mean that neighbours are found."))
			}
		}
	}
	return out
}

// varied returns the lines of a mode over an axis: one for each epsilon at which
// the axis was varied and everything else left at its default, and the largest of these.
func (d *dataset) varied(m evaluate.Mode, a axis) (out []plot.Series, top float64) {
	if !m.Uses.Has(a.uses) {
		return nil, 0
	}
	place := make(map[float64]int)
	for _, s := range d.all {
		if s.Mode != m.Name || !onlyDiffers(s.Params, m.At(s.Epsilon), a) {
			continue
		}
		i, ok := place[s.Epsilon]
		if !ok {
			i = len(out)
			place[s.Epsilon] = i
			name := titleOf(m)
			if s.Epsilon > 0 {
				name += fmt.Sprintf(", epsilon %g", s.Epsilon)
			}
			out = append(out, plot.Series{Name: name, Colour: d.color[m.Name]})
		}
		out[i].Points = append(out[i].Points, sampleOf(a.get(s.Params), s.Figures[evaluate.RecallAt8]))
	}
	for epsilon, i := range place {
		if len(out[i].Points) > 1 {
			top = max(top, epsilon)
		}
	}
	return tidy(out), top
}

// tidy sorts the samples of each line and drops lines of fewer than two.
func tidy(lines []plot.Series) []plot.Series {
	for _, s := range lines {
		slices.SortFunc(s.Points, func(a, b plot.Sample) int { return cmp.Compare(a.X, b.X) })
	}
	return slices.DeleteFunc(lines, func(s plot.Series) bool { return len(s.Points) < 2 })
}

// onlyDiffers reports whether p is q but for the axis.
func onlyDiffers(p, q evaluate.Params, a axis) bool {
	a.clear(&p)
	a.clear(&q)
	return p == q
}

// The facts from which the objective is drawn.
const (
	objectiveFirst = "objective before the first step"
	objectiveLast  = "objective before the last step"
)

// objective draws how far the objective has fallen before step T.
func (d *dataset) objective(a axis) *plot.Chart {
	c := shareChart("Objective over the steps, "+d.name, "T", "relative to the start", false)
	for _, m := range d.modes {
		s := plot.Series{Name: m.Title, Colour: d.color[m.Name]}
		for _, one := range d.all {
			first, ok := one.Facts[objectiveFirst]
			if one.Mode == m.Name && ok && first > 0 && onlyDiffers(one.Params, m.At(one.Epsilon), a) {
				v := one.Facts[objectiveLast] / first
				s.Points = append(s.Points, plot.Sample{X: a.get(one.Params), Y: v})
			}
		}
		c.Series = append(c.Series, tidy([]plot.Series{s})...)
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.X.Ticks = plot.Places(c.Series)
	return c
}
