package record

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
)

// Summary is what several measurements of a case come to.
type Summary struct {
	*Record           // the first, with medians in the fields that vary
	Rounds    int     // how many there were
	Low, High float64 // quartiles of seconds
}

// Summarise groups records by case, in order of appearance.
func Summarise(records []*Record) []Summary {
	var order []string
	groups := map[string][]*Record{}
	for _, r := range records {
		key := r.Suite + " " + r.Case + " " + SettingOf(r.Level, r.Machine)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	out := make([]Summary, 0, len(order))
	for _, key := range order {
		group := groups[key]
		collect := func(f func(*Record) *float64) []float64 {
			var v []float64
			for _, r := range group {
				if p := f(r); p != nil {
					v = append(v, *p)
				}
			}
			return v
		}
		one := *group[0]
		seconds := collect(func(r *Record) *float64 { return &r.Seconds })
		s := Summary{Record: &one, Rounds: len(group), Low: figures.Quantile(seconds, 0.25), High: figures.Quantile(seconds, 0.75)}
		scale := one.Seconds / figures.Median(seconds) // rates follow from the seconds
		one.Seconds = figures.Median(seconds)
		for _, p := range []**float64{&one.GnnzPerS, &one.PairsPerS, &one.MaddPerS} {
			if *p != nil {
				*p = figures.Finite(**p * scale)
			}
		}
		one.NsPerPoint /= scale
		if one.NsPerNNZ != nil {
			one.NsPerNNZ = figures.Finite(*one.NsPerNNZ / scale)
		}
		one.SecondsP99 = figures.Finite(figures.Median(collect(func(r *Record) *float64 { return r.SecondsP99 })))
		one.HeapBytes = figures.Finite(figures.Median(collect(func(r *Record) *float64 { return r.HeapBytes })))
		one.RoofFraction = figures.Finite(figures.Median(collect(func(r *Record) *float64 { return r.RoofFraction })))
		one.PeakBytes = int64(figures.Median(collect(func(r *Record) *float64 { return figures.Finite(float64(r.PeakBytes)) })))
		one.PeakPerNNZ = figures.Finite(figures.Median(collect(func(r *Record) *float64 { return r.PeakPerNNZ })))
		out = append(out, s)
	}
	return out
}

// RoundsWords is the number of rounds, with a mark where there should have been more.
func (s Summary) RoundsWords() string {
	text := fmt.Sprint(s.Rounds)
	if s.EndedEarly {
		text += " (ended early)"
	}
	return text
}

// RateWords is the rate of entries or pairs, "" where there is none.
func (r *Record) RateWords() string {
	switch {
	case r.GnnzPerS != nil:
		return fmt.Sprintf("%.3g Gnnz/s", *r.GnnzPerS)
	case r.PairsPerS != nil:
		return fmt.Sprintf("%.3g Mpairs/s", *r.PairsPerS/1e6)
	}
	return ""
}

// RoofWords is the fraction of the limit that was reached, "" without limits.
func (r *Record) RoofWords() string {
	if r.RoofFraction == nil {
		return ""
	}
	return fmt.Sprintf("%.2g %s", *r.RoofFraction, r.Roof)
}
