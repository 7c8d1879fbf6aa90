package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level adds row after row, and touches nothing beyond the slices.
func TestAddRows(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 66))
	for _, level := range Levels() {
		for n := range 150 {
			t.Run(fmt.Sprintf("level=%v/n=%d", level, n), func(t *testing.T) {
				for _, rows := range []int{0, 1, 2, 3, 4, 5, 9, 24} {
					stride := n + r.IntN(5)
					size := 0
					if rows > 0 {
						size = (rows-1)*stride + n
					}
					dst, v, x := misaligned(r, t, n), misaligned(r, t, rows), misaligned(r, t, size)
					want := slices.Clone(dst)
					for j, factor := range v {
						for i := range want {
							want[i] += float64(factor * x[j*stride+i])
						}
					}
					At(level).AddRows(dst, v, RowsOf(x, stride))
					if !sameBits(dst, want) {
						t.Fatalf("%d rows: %v, want %v", rows, dst, want)
					}
				}
			})
		}
	}
	mustPanic(t, "stride", func() { At(Best()).AddRows(make([]float64, 3), make([]float64, 2), RowsOf(make([]float64, 9), 2)) })
	mustPanic(t, "short slice", func() { At(Best()).AddRows(make([]float64, 3), make([]float64, 2), RowsOf(make([]float64, 5), 3)) })
}
