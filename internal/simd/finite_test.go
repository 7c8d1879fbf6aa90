package simd

import (
	"math"
	"testing"
)

func TestFinite(t *testing.T) {
	for _, level := range Levels() {
		s := At(level)
		for n := range 140 {
			x := guarded[float32](t, n)
			for i := range x {
				x[i] = float32(math.Copysign(math.MaxFloat32, float64(i%2)-0.5))
			}
			if !s.Finite(x) {
				t.Fatalf("%v: %d finite numbers are reported as not finite", level, n)
			}
			for i, v := range x {
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -math.NaN()} {
					x[i] = float32(bad)
					if s.Finite(x) {
						t.Fatalf("%v: %v at %d of %d is not seen", level, bad, i, n)
					}
				}
				x[i] = v
			}
		}
	}
}
