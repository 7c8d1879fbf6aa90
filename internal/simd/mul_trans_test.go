package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Every level has the bits of the reference, and nothing beyond the slices is
// touched.
func TestMulTrans(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, level := range Levels() {
		for _, cols := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 130} {
			t.Run(fmt.Sprintf("level=%v/cols=%d", level, cols), func(t *testing.T) {
				for _, k := range []int{1, 2, 3, 4, 5, 8} {
					for _, rows := range []int{0, 1, 2, 5, 64} {
						ds, ws, as := cols+r.IntN(3), k+r.IntN(3), cols+r.IntN(3)
						dst := guarded[float32](t, (k-1)*ds+cols)
						var w, a []float32
						if rows > 0 {
							w, a = guarded[float32](t, (rows-1)*ws+k), guarded[float32](t, (rows-1)*as+cols)
						}
						for _, s := range [][]float32{dst, w, a} {
							for i := range s {
								s[i] = float32(r.NormFloat64())
							}
						}
						want := append([]float32(nil), dst...)
						mulTransGo(RowsOf(want, ds), RowsOf(w, ws), RowsOf(a, as), k, rows, cols)
						At(level).MulTrans(RowsOf(dst, ds), RowsOf(w, ws), RowsOf(a, as), k, rows, cols)
						for i, v := range want {
							if math.Float32bits(v) != math.Float32bits(dst[i]) {
								t.Fatalf("k = %d, %d rows: entry %d is %v, want %v", k, rows, i, dst[i], v)
							}
						}
					}
				}
			})
		}
	}
	mustPanic(t, "short destination", func() {
		At(Best()).MulTrans(RowsOf(make([]float32, 3), 4), RowsOf(make([]float32, 9), 1), RowsOf(make([]float32, 9), 4), 1, 1, 4)
	})
	mustPanic(t, "short slice", func() {
		At(Best()).MulTrans(RowsOf(make([]float32, 4), 4), RowsOf(make([]float32, 1), 1), RowsOf(make([]float32, 3), 4), 1, 1, 4)
	})
	mustPanic(t, "stride", func() {
		At(Best()).MulTrans(RowsOf(make([]float32, 4), 3), RowsOf(make([]float32, 1), 1), RowsOf(make([]float32, 4), 4), 1, 1, 4)
	})
	At(Best()).MulTrans(Rows[float32]{Stride: 4}, Rows[float32]{}, Rows[float32]{Stride: 4}, 0, 1, 4)
}
