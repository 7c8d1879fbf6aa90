package kernel

import (
	"math"
	"slices"
)

// spread returns at most count numbers below n, ascending, each once: the golden ratio
// spreads any number of them evenly and avoids the periods that data in some order may
// have.
func spread(count, n int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = i
		if count < n {
			_, fraction := math.Modf(float64(i) * (math.Sqrt(5) - 1) / 2)
			out[i] = int(fraction * float64(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// quantile returns the value that a share of v, or of a sample of it, does not exceed.
func quantile(v []float64, share float64) float64 {
	var sorted []float64
	for _, i := range spread(min(len(v), surveyRows), len(v)) {
		sorted = append(sorted, v[i])
	}
	slices.Sort(sorted)
	return sorted[int(share*float64(len(sorted)-1))]
}
