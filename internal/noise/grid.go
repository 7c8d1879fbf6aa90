package noise

import "math"

// GridLimit is the largest size of a grid number: float64 holds every integer
// up to it, so the displacement of a release is exact. Noise exceeds it with a
// probability below exp(-1e6), and is then clamped to it.
const GridLimit int64 = 1 << 53

// ClampSteps is the largest distance of a coordinate from zero, in grid steps.
// With noise added the sum is still a whole number of steps that float64 can
// hold.
const ClampSteps = 1 << 51

// OnGrid returns a + b, clamped to GridLimit. Clamping is post-processing.
func OnGrid(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		sum = math.MaxInt64
	case b < 0 && sum > a:
		sum = math.MinInt64
	}
	return max(-GridLimit, min(GridLimit, sum))
}

// Nearest returns the grid point nearest to x, clamped to 2^51 steps. Dividing
// by a power of two is exact. Any rounding by at most half a step would do.
func Nearest(x, step float64) int64 {
	x = max(-ClampSteps*step, min(ClampSteps*step, x))
	if math.IsNaN(x) {
		return 0
	}
	return int64(math.RoundToEven(x / step))
}
