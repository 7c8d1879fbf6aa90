package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
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
		c := &chart{title: "Effect of " + a.name + ", " + d.name, xLabel: a.label, yLabel: "R@8", logX: a.log}
		for _, m := range d.modes {
			c.series = append(c.series, d.varied(m, a)...)
		}
		if len(c.series) == 0 {
			continue
		}
		caption := "All other parameters at their defaults."
		top := slices.MaxFunc(c.series, func(a, b series) int { return cmp.Compare(a.epsilon, b.epsilon) }).epsilon
		if top > 0 {
			c.series = append(c.series, flat(fmt.Sprintf("ceiling at epsilon %g", top), -1, d.ceiling(top)))
		}
		out = append(out, figure{SVG: template.HTML(c.svg()), Caption: caption})
		if a.uses == evaluate.UsesSteps {
			if c := d.objective(a); c != nil {
				out = append(out, figure{SVG: template.HTML(c.svg()), Caption: "The objective before step T, relative to the start. That it falls does not mean that neighbours are found."})
			}
		}
	}
	return out
}

// varied returns the lines of a mode over an axis: one for each epsilon at which
// the axis was varied and everything else left at its default.
func (d *dataset) varied(m evaluate.Mode, a axis) (out []series) {
	if !m.Uses.Has(a.uses) {
		return nil
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
			out = append(out, series{name: name, color: d.color[m.Name], epsilon: s.Epsilon})
		}
		out[i].at = append(out[i].at, sampleOf(a.get(s.Params), s.Figures[evaluate.RecallAt8]))
	}
	return tidy(out)
}

// tidy sorts the samples of each line and drops lines of fewer than two.
func tidy(lines []series) []series {
	for _, s := range lines {
		slices.SortFunc(s.at, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	}
	return slices.DeleteFunc(lines, func(s series) bool { return len(s.at) < 2 })
}

// onlyDiffers tells whether p is q but for the axis.
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
func (d *dataset) objective(a axis) *chart {
	c := &chart{title: "Objective over the steps, " + d.name, xLabel: "T", yLabel: "relative to the start"}
	for _, m := range d.modes {
		s := series{name: m.Title, color: d.color[m.Name]}
		for _, one := range d.all {
			first, ok := one.Facts[objectiveFirst]
			if one.Mode == m.Name && ok && first > 0 && onlyDiffers(one.Params, m.At(one.Epsilon), a) {
				v := one.Facts[objectiveLast] / first
				s.at = append(s.at, sample{x: a.get(one.Params), y: v, low: v, high: v})
			}
		}
		c.series = append(c.series, tidy([]series{s})...)
	}
	if len(c.series) == 0 {
		return nil
	}
	return c
}
