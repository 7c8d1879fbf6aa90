package codes

import (
	"math"
	"slices"
)

// ranked returns the numbers at some ranks of a list, counted from 0 at the smallest. It knows
// bounds of the numbers, and asks for those that the bounds leave open.
func ranked(ranks []int, low, high []float64, exact func(j int) float64) []float64 {
	lows, highs := slices.Sorted(slices.Values(low)), slices.Sorted(slices.Values(high))
	known := make([]float64, len(low))
	for j := range known {
		known[j] = math.NaN()
	}
	out := make([]float64, len(ranks))
	for e, rank := range ranks {
		// The number is no smaller than the lower bound of its rank, and no larger than the
		// upper one.
		least, most := lows[rank], highs[rank]
		var open []float64
		for j := range low {
			switch {
			case high[j] < least:
				rank--
			case low[j] <= most:
				if math.IsNaN(known[j]) {
					known[j] = exact(j)
				}
				open = append(open, known[j])
			}
		}
		slices.Sort(open)
		out[e] = open[rank]
	}
	return out
}
