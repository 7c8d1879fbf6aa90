package distance

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// The matrix product behind the distances, whichever BLAS this build has,
// against plain sums: within rounding, and within its own part of dst only.
func TestDots(t *testing.T) {
	rng := pointtest.Rand(1)
	for _, c := range []struct{ na, nb, d int }{{1, 1, 1}, {64, 128, 9}, {65, 129, 33}, {256, 256, 17}, {200, 3, 500}} {
		t.Run(fmt.Sprintf("na=%d/nb=%d/d=%d", c.na, c.nb, c.d), func(t *testing.T) {
			a, b := make([]float64, c.na*c.d), make([]float64, c.nb*c.d)
			for i := range a {
				a[i] = rng.NormFloat64()
			}
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			ld := c.nb + 3
			dst := make([]float64, c.na*ld)
			for i := range dst {
				dst[i] = math.NaN()
			}
			Dots(simd.At(simd.Best()), dst, ld, a, c.na, b, c.nb, c.d)
			for i := range c.na {
				for j := range ld {
					got := dst[i*ld+j]
					if j >= c.nb {
						if !math.IsNaN(got) {
							t.Fatalf("row %d: place %d beyond the row was written", i, j)
						}
						continue
					}
					want, size := 0.0, 0.0
					for k := range c.d {
						want += a[i*c.d+k] * b[j*c.d+k]
						size += math.Abs(a[i*c.d+k] * b[j*c.d+k])
					}
					if math.Abs(got-want) > 2*float64(c.d)*0x1p-53*size {
						t.Fatalf("(%d, %d) = %v, want %v", i, j, got, want)
					}
				}
			}
		})
	}
}
