package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRoundToBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for d := range 150 {
		x, centre, code := guarded[float32](t, d), guarded[float32](t, d), guarded[int8](t, d)
		for c := range x {
			switch r.IntN(4) {
			case 0: // halves
				x[c] = float32(r.IntN(301)-150) / 2
			case 1: // beyond bytes
				x[c] = float32(r.NormFloat64() * 1e20)
			default:
				x[c], centre[c] = float32(r.NormFloat64()*100), float32(r.NormFloat64())
			}
		}
		for _, inverse := range []float64{1, 0.25, 1 / 3.0, 1e-300, 1e300} {
			var first []int8
			var want [3]float64
			for _, level := range Levels() {
				missed, squares, sum := At(level).RoundToBytes(code, x, centre, inverse)
				got := [3]float64{missed, float64(squares), float64(sum)}
				if first == nil {
					first, want = slices.Clone(code), got
				}
				if !slices.Equal(code, first) || got != want {
					t.Fatalf("%v, d=%d, inverse %g: %v %v, want %v %v", level, d, inverse, code, got, first, want)
				}
			}
			var missed, squares, sum float64
			for c, q := range first {
				v := (float64(x[c]) - float64(centre[c])) * inverse
				if n := max(min(math.RoundToEven(v), 127), -127); float64(q) != n {
					t.Fatalf("%g becomes %d, want %g", v, q, n)
				}
				missed += (v - float64(q)) * (v - float64(q))
				squares += float64(q) * float64(q)
				sum += float64(q)
			}
			if want[0] != missed && math.Abs(want[0]-missed) > 1e-13*missed || want[1] != squares || want[2] != sum {
				t.Fatalf("d=%d, inverse %g: %v, want %v %v %v", d, inverse, want, missed, squares, sum)
			}
		}
	}
}

func TestRoundToBytesPanics(t *testing.T) {
	x, code := make([]float32, 10), make([]int8, 10)
	for _, level := range Levels() {
		for name, f := range map[string]func(){
			"code":   func() { At(level).RoundToBytes(code[:9], x, x, 1) },
			"centre": func() { At(level).RoundToBytes(code, x, x[:9], 1) },
			"long":   func() { At(level).RoundToBytes(make([]int8, 1<<17), make([]float32, 1<<17), make([]float32, 1<<17), 1) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v, %s: no panic", level, name)
					}
				}()
				f()
			}()
		}
	}
}
