package report

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
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
	// Those of retrieval/margin, of modes whose embedding was diagnosed.
	gammaFact, carryFact, spreadFact = "gamma/2", "L delta", "A_delta"
	theoremFact, directFact          = "promised by the theorem", "promised by the direct argument"
)

// delta is the one of the records, which all share it.
func (d *dataset) delta() float64 {
	delta := 0.0
	for _, s := range d.main {
		delta = max(delta, s.Delta)
	}
	return delta
}

// titleOf is the title of a mode with its warning, which no figure goes without.
func titleOf(m evaluate.Mode) string {
	if m.Warning == "" {
		return m.Title
	}
	return m.Title + " (" + m.Warning + ")"
}

// random is a figure of random rows, which all modes share that ask the same queries:
// that of the mode with the most of them.
func (d *dataset) random(m evaluate.Metric) (value float64, ok bool) {
	asked := 0
	for _, s := range d.all {
		if v, has := s.Figures[m]; has && s.Asked > asked {
			value, ok, asked = v.Mean, true, s.Asked
		}
	}
	return value, ok
}

// randomCell prints a figure of random rows.
func (d *dataset) randomCell(m evaluate.Metric) cell {
	if v, ok := d.random(m); ok {
		return cell{Text: share(v)}
	}
	return cell{Text: "–"}
}

// randomOverlap is what is expected of overlap@8 of random rows.
func (d *dataset) randomOverlap() cell {
	return cell{Text: share(min(1, evaluate.ListLength/float64(d.all[0].Gallery)))}
}

func (d *dataset) ceiling(epsilon float64) float64 {
	return evaluate.Ceiling(d.all[0].Classes, epsilon, d.delta())
}

func sorted(set map[float64]bool) (values []float64) {
	for v := range set {
		values = append(values, v)
	}
	slices.Sort(values)
	return values
}
