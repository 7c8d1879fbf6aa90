package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCentre(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, level := range Levels() {
		for _, d := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100} {
			for _, rows := range []int{1, 2, 5} {
				ds, stride := d+r.IntN(3), d+r.IntN(3)
				dst, x := guarded[float32](t, (rows-1)*ds+d), guarded[float32](t, (rows-1)*stride+d)
				centre := guarded[float32](t, d)
				for _, s := range [][]float32{dst, x, centre} {
					for i := range s {
						s[i] = float32(r.NormFloat64())
					}
				}
				want := append([]float32(nil), dst...)
				centreGo(RowsOf(want, ds), RowsOf(x, stride), rows, centre, 0.3)
				At(level).Centre(RowsOf(dst, ds), RowsOf(x, stride), rows, centre, 0.3)
				for i, v := range want {
					if math.Float32bits(v) != math.Float32bits(dst[i]) {
						t.Fatalf("%v, d = %d, %d rows: entry %d is %v, want %v", level, d, rows, i, dst[i], v)
					}
				}
			}
		}
	}
	mustPanic(t, "short destination", func() {
		At(Best()).Centre(RowsOf(make([]float32, 3), 4), RowsOf(make([]float32, 4), 4), 1, make([]float32, 4), 1)
	})
	mustPanic(t, "short x", func() {
		At(Best()).Centre(RowsOf(make([]float32, 4), 4), RowsOf(make([]float32, 3), 4), 1, make([]float32, 4), 1)
	})
	mustPanic(t, "stride", func() {
		At(Best()).Centre(RowsOf(make([]float32, 4), 3), RowsOf(make([]float32, 4), 4), 1, make([]float32, 4), 1)
	})
	At(Best()).Centre(Rows[float32]{Stride: 4}, Rows[float32]{Stride: 4}, 0, make([]float32, 4), 1)
}

// The fused forms have the results of Centre followed by the product.
func TestCentredProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for _, level := range Levels() {
		s := At(level)
		for _, d := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100} {
			for _, k := range []int{1, 2, 3, 5} {
				for _, rows := range []int{1, 2, 7} {
					stride, ws, ss, bs, ds := d+r.IntN(3), k+r.IntN(3), d+r.IntN(3), d+r.IntN(3), rows+r.IntN(3)
					x, centre := guarded[float32](t, (rows-1)*stride+d), guarded[float32](t, d)
					w, b := guarded[float32](t, (rows-1)*ws+k), guarded[float32](t, (k-1)*bs+d)
					sums, dots := guarded[float32](t, (k-1)*ss+d), guarded[float32](t, (k-1)*ds+rows)
					for _, v := range [][]float32{x, centre, w, b, sums, dots} {
						for i := range v {
							v[i] = float32(r.NormFloat64())
						}
					}
					y := make([]float32, rows*d)
					centreGo(RowsOf(y, d), RowsOf(x, stride), rows, centre, 0.7)
					want := append([]float32(nil), sums...)
					mulTransGo(RowsOf(want, ss), RowsOf(w, ws), RowsOf(y, d), k, rows, d)
					s.CentredMulTrans(RowsOf(sums, ss), RowsOf(w, ws), RowsOf(x, stride), k, rows, centre, 0.7)
					for i, v := range want {
						if math.Float32bits(v) != math.Float32bits(sums[i]) {
							t.Fatalf("%v, d = %d, k = %d, %d rows: sum %d is %v, want %v", level, d, k, rows, i, sums[i], v)
						}
					}
					s.CentredDots(RowsOf(dots, ds), RowsOf(b, bs), RowsOf(x, stride), k, rows, centre, 0.7)
					for c := range k {
						for i := range rows {
							exact, size := 0.0, 0.0
							for j := range d {
								v := float64(b[c*bs+j]) * float64(y[i*d+j])
								exact, size = exact+v, size+math.Abs(v)
							}
							if got := float64(dots[c*ds+i]); math.Abs(got-exact) > float64(d/4+6)*0x1p-24*size {
								t.Fatalf("%v, d = %d, k = %d: product of %d and %d is %v, want %v", level, d, k, c, i, got, exact)
							}
						}
					}
				}
			}
		}
	}
	s, few := At(Best()), make([]float32, 3)
	mustPanic(t, "sums, short destination", func() {
		s.CentredMulTrans(RowsOf(few, 4), RowsOf(few, 1), RowsOf(make([]float32, 4), 4), 1, 1, make([]float32, 4), 1)
	})
	mustPanic(t, "sums, short x", func() {
		s.CentredMulTrans(RowsOf(make([]float32, 4), 4), RowsOf(few, 1), RowsOf(few, 4), 1, 1, make([]float32, 4), 1)
	})
	mustPanic(t, "sums, stride", func() {
		s.CentredMulTrans(RowsOf(make([]float32, 4), 4), RowsOf(few, 1), RowsOf(few, 3), 1, 1, make([]float32, 4), 1)
	})
	mustPanic(t, "dots, short destination", func() {
		s.CentredDots(RowsOf(few, 4), RowsOf(make([]float32, 4), 4), RowsOf(make([]float32, 16), 4), 1, 4, make([]float32, 4), 1)
	})
	mustPanic(t, "dots, short b", func() {
		s.CentredDots(RowsOf(few, 3), RowsOf(few, 4), RowsOf(make([]float32, 16), 4), 1, 3, make([]float32, 4), 1)
	})
	mustPanic(t, "dots, stride", func() {
		s.CentredDots(RowsOf(few, 3), RowsOf(few, 3), RowsOf(make([]float32, 16), 4), 1, 3, make([]float32, 4), 1)
	})
	s.CentredMulTrans(RowsOf(few, 3), Rows[float32]{Stride: 1}, Rows[float32]{Stride: 3}, 1, 0, few, 1)
	s.CentredDots(RowsOf(few, 1), Rows[float32]{}, Rows[float32]{Stride: 0}, 3, 1, nil, 1)
}
