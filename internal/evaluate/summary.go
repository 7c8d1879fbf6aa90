package evaluate

import (
	"fmt"
	"slices"
)

// A Summary is what the seeds of one configuration say together.
type Summary struct {
	Cell        // of the first seed
	Asked   int // queries of one seed
	Seeds   int
	Classes int
	Gallery int
	Figures map[Metric]Interval
	// Unavailable says why there are no figures; empty when there are.
	Unavailable string
	Facts       map[string]float64 // means of those that all seeds have
	Note        string             // of the first seed, which it names where there are several
	Download    float64            // mean share of the gallery that travels for a query
	Base        float64            // and once
	Volume      Volume             // means, in bytes
	Seconds     float64            // in all
}

// Summarize groups records that differ in nothing but the seed, in the order in which
// they come first. Seeds without figures are a group of their own. Intervals are
// Student's over the seeds. For a single seed recalls have Wilson's interval over its
// queries, and the intervals of other figures have no width.
func Summarize(records []Record) []Summary {
	type group struct {
		Cell
		unavailable string
	}
	place := make(map[group]int)
	var groups [][]Record
	for _, r := range records {
		g := group{r.Cell, r.Unavailable}
		g.Seed = 0
		i, ok := place[g]
		if !ok {
			i = len(groups)
			place[g] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	out := make([]Summary, len(groups))
	for i, g := range groups {
		out[i] = summarize(g)
	}
	return out
}

func summarize(group []Record) Summary {
	first := group[0]
	s := Summary{
		Cell: first.Cell, Asked: first.Asked, Seeds: len(group), Classes: first.Classes, Gallery: first.Gallery,
		Unavailable: first.Unavailable, Figures: make(map[Metric]Interval), Facts: make(map[string]float64),
	}
	if s.Note = first.Note; s.Note != "" && len(group) > 1 {
		s.Note = fmt.Sprintf("Seed %d: %s", first.Seed, s.Note)
	}
	for metric := range first.Figures {
		values := make([]float64, 0, len(group))
		for _, r := range group {
			values = append(values, r.Figures[metric])
		}
		s.Figures[metric] = interval(metric, values, first.Asked)
	}
	n := float64(len(group))
	for _, r := range group {
		s.Download += r.Download / float64(r.Gallery)
		s.Base += r.Base / float64(r.Gallery)
		s.Volume = s.Volume.plus(r.Volume)
		s.Seconds += r.Seconds
		for name, v := range r.Facts {
			s.Facts[name] += v / n
		}
	}
	for name := range s.Facts {
		if slices.ContainsFunc(group, func(r Record) bool { _, ok := r.Facts[name]; return !ok }) {
			delete(s.Facts, name)
		}
	}
	// Sums first: the mean of seeds that all take the whole gallery is 1, not a little less.
	s.Download, s.Base, s.Volume = s.Download/n, s.Base/n, s.Volume.over(n)
	return s
}

func interval(m Metric, values []float64, asked int) Interval {
	if len(values) > 1 {
		return meanInterval(values)
	}
	switch m {
	case RecallAt1, RecallAt8, NoQueryRecall1, NoQueryRecall8, CompactRecall1, CompactRecall8:
		return shareInterval(values[0], asked)
	}
	return Interval{Mean: values[0], Low: values[0], High: values[0], Values: 1}
}
