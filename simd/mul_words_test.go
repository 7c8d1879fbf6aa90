package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMulWords compares every level with the definition.
func TestMulWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kernels := range All() {
		for _, shape := range [][4]int{{16, 64, 1, 4}, {32, 128, 5, 3}, {80, 192, 24, 3}} {
			rows, depth, columns, width := shape[0], shape[1], shape[2], shape[3]
			a, words := make([]int8, rows*depth), make([]uint32, columns*depth)
			for i := range a {
				a[i] = int8(r.Uint32())
			}
			for i := range words {
				words[i] = r.Uint32() >> (8 * (4 - width)) << (8 * (4 - width))
			}
			sums := make([]uint32, columns*rows)
			for i := range sums {
				sums[i] = r.Uint32()
			}
			want := slices.Clone(sums)
			for c := range columns {
				for row := range rows {
					for p := range depth {
						want[c*rows+row] += uint32(int32(a[row*depth+p])) * words[c*depth+p]
					}
				}
			}
			panel := make([]int8, rows*depth)
			PackRows(panel, a, depth)
			var w Words
			kernels.PackWords(&w, words, depth, width)
			kernels.MulWords(sums, rows, panel, rows, &w)
			if !slices.Equal(sums, want) {
				t.Errorf("%v, %v: sums differ", kernels, shape)
			}
		}
	}
}
