package mechanism

import (
	"math"

	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
)

// clampSteps is the largest distance of a coordinate from zero, in grid steps.
// With noise added the sum is still a whole number of steps that float64 can
// hold.
const clampSteps = 1 << 51

// onGrid returns a + b, clamped to the range of a release: noise reaches that far
// with a probability below exp(-1e6), and clamping is post-processing.
func onGrid(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		sum = math.MaxInt64
	case b < 0 && sum > a:
		sum = math.MinInt64
	}
	return max(-terms.GridLimit, min(terms.GridLimit, sum))
}
