package codes

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// mostSampled is how many points or numbers are sampled at most.
const mostSampled = 1536

// quantile returns the value that the given share of v does not exceed, by a sample where
// v has more than mostSampled values.
func quantile(v []float64, share float64) float64 {
	var sorted []float64
	for _, i := range rows.Spread(min(len(v), mostSampled), len(v)) {
		sorted = append(sorted, v[i])
	}
	slices.Sort(sorted)
	return sorted[int(share*float64(len(sorted)-1))]
}

// positive returns a if a is positive, else b if b is, else 1. The result is never so
// small that its inverse is infinite.
func positive(a, b float64) float64 {
	switch {
	case a > 1e-200:
		return a
	case b > 1e-200:
		return b
	}
	return 1
}
