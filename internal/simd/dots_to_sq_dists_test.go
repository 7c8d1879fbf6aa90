package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level has the results of the contract for any length, and touches nothing beyond
// the slices.
func TestDotsToSqDists64(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 78))
	for _, level := range Levels() {
		for n := range 70 {
			dots, norms2 := misaligned(r, t, n), misaligned(r, t, n)
			norm2 := r.Float64()
			want := slices.Clone(dots)
			for j := range want {
				norms2[j] = math.Abs(norms2[j])
				want[j] = max(math.FMA(-2, dots[j], norm2+norms2[j]), 0)
			}
			At(level).DotsToSqDists64(dots, norm2, norms2)
			if !sameBits(dots, want) {
				t.Fatalf("%v: %d numbers: %v, want %v", level, n, dots, want)
			}
		}
		// Equal rows, and NaN.
		dots := []float64{1, math.NaN(), 1, 1, 1, 1, 1, 1, math.NaN()}
		At(level).DotsToSqDists64(dots, 1, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
		if math.Float64bits(dots[0]) != 0 || !math.IsNaN(dots[1]) || !math.IsNaN(dots[8]) {
			t.Errorf("%v: %v", level, dots)
		}
		mustPanic(t, "lengths", func() { At(level).DotsToSqDists64(make([]float64, 2), 1, make([]float64, 3)) })
		At(level).DotsToSqDists64(nil, 1, nil)
	}
}
