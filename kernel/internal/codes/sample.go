package codes

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// quantile returns the value that a share of v, or of a sample of it, does not exceed.
func quantile(v []float64, share float64) float64 {
	var sorted []float64
	for _, i := range rows.Spread(min(len(v), surveyRows), len(v)) {
		sorted = append(sorted, v[i])
	}
	slices.Sort(sorted)
	return sorted[int(share*float64(len(sorted)-1))]
}
