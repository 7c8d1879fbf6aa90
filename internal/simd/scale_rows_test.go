package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// scaledRow returns numbers of all sizes and both signs, with zeros of both.
func scaledRow(t *testing.T, r *rand.Rand, d int) []float32 {
	x := guarded[float32](t, d)
	for c := range x {
		switch r.IntN(5) {
		case 0:
			x[c] = float32(math.Copysign(0, r.NormFloat64()))
		case 1: // down to the smallest there are
			x[c] = float32(math.Copysign(math.SmallestNonzeroFloat32*float64(r.IntN(9)), r.NormFloat64()))
		case 2:
			x[c] = float32(math.Copysign(math.MaxFloat32, r.NormFloat64()))
		default:
			x[c] = float32(r.NormFloat64() * math.Exp(10*r.NormFloat64()))
		}
	}
	return x
}

func TestScaleRows(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for d := range 150 {
		x, dst, mean := scaledRow(t, r, d), guarded[float32](t, d), guarded[float64](t, d)
		for c := range mean {
			mean[c] = r.NormFloat64() * math.Exp(10*r.NormFloat64())
			if r.IntN(4) == 0 {
				mean[c] = float64(x[c])
			}
		}
		var far float64
		for c, v := range x {
			far = max(far, math.Abs(float64(v)-mean[c]))
		}
		for _, scale := range []float64{1, -0.25, 1 / 3.0, 0x1p-200, 0x1p900} {
			for _, level := range Levels() {
				s := At(level)
				if got := s.LargestDifference(x, mean); got != far {
					t.Fatalf("%v, d=%d: largest difference %g, want %g", level, d, got, far)
				}
				for name, f := range map[string]struct {
					run  func()
					want func(v float32, c int) float32
				}{
					"ScaleDifferences": {func() { s.ScaleDifferences(dst, x, mean, scale) }, func(v float32, c int) float32 {
						difference := float64(v) - mean[c]
						return float32(difference * scale)
					}},
					"ScaleProducts": {func() { s.ScaleProducts(dst, x, scale, mean) }, func(v float32, c int) float32 {
						if v == 0 {
							v = 0 // without a sign
						}
						product := float64(v) * scale
						return float32(product * mean[c])
					}},
					"ScaleRow":        {func() { s.ScaleRow(dst, x, scale) }, func(v float32, c int) float32 { return float32(float64(v) * scale) }},
					"ScaleRow of dst": {func() { copy(dst, x); s.ScaleRow(dst, dst, scale) }, func(v float32, c int) float32 { return float32(float64(v) * scale) }},
				} {
					f.run()
					for c, v := range x {
						if got, want := dst[c], f.want(v, c); math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("%v, %s, d=%d, scale %g, column %d: %g, want %g", level, name, d, scale, c, got, want)
						}
					}
				}
			}
		}
	}
}

// LargestDifference sees a number larger than those before it in every column.
func TestLargestDifferenceSeesEveryColumn(t *testing.T) {
	for _, level := range Levels() {
		for d := 1; d < 70; d++ {
			x, mean := guarded[float32](t, d), guarded[float64](t, d)
			for c := range x {
				x[c], mean[c] = -float32(c)-1, float64(c)
				if got := At(level).LargestDifference(x, mean); got != 2*float64(c)+1 {
					t.Fatalf("%v, %d of %d columns: %g", level, c+1, d, got)
				}
			}
		}
	}
}

func TestScaleRowsPanics(t *testing.T) {
	x, short, mean := make([]float32, 10), make([]float32, 9), make([]float64, 10)
	for _, level := range Levels() {
		s := At(level)
		for name, f := range map[string]func(){
			"largest, mean":     func() { s.LargestDifference(x, mean[:9]) },
			"differences, dst":  func() { s.ScaleDifferences(short, x, mean, 1) },
			"differences, mean": func() { s.ScaleDifferences(x, x, mean[:9], 1) },
			"products, dst":     func() { s.ScaleProducts(short, x, 1, mean) },
			"products, columns": func() { s.ScaleProducts(x, x, 1, mean[:9]) },
			"row":               func() { s.ScaleRow(short, x, 1) },
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
