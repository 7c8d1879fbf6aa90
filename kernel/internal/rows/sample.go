package rows

import (
	"math"
	"slices"
)

// Spread returns at most count numbers below n, ascending, each once. Multiples of the
// golden ratio spread any count of numbers evenly, and avoid the periods that data in some
// order may have.
func Spread(count, n int) []int {
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
