package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestGrowBox(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, 0x1p-149}
	number := func() float32 {
		if r.IntN(3) == 0 {
			return special[r.IntN(len(special))]
		}
		return float32(r.NormFloat64())
	}
	for _, level := range Levels() {
		s := At(level)
		for n := range 140 {
			lo, hi, x := guarded[float32](t, n), guarded[float32](t, n), guarded[float32](t, n)
			wantLo, wantHi := make([]float32, n), make([]float32, n)
			for c := range x {
				lo[c], hi[c] = number(), number()
			}
			copy(wantLo, lo)
			copy(wantHi, hi)
			for range 3 {
				for c := range x {
					x[c] = number()
				}
				s.GrowBox(lo, hi, x)
				growBoxGo(wantLo, wantHi, x)
			}
			for c := range x {
				if math.Float32bits(lo[c]) != math.Float32bits(wantLo[c]) || math.Float32bits(hi[c]) != math.Float32bits(wantHi[c]) {
					t.Fatalf("%v: column %d of %d is from %v to %v, want %v to %v", level, c, n, lo[c], hi[c], wantLo[c], wantHi[c])
				}
			}
		}
	}
}

func TestGrowBoxRefuses(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a box with fewer columns than the row")
		}
	}()
	At(Generic).GrowBox(make([]float32, 4, 8), make([]float32, 8), make([]float32, 6))
}
