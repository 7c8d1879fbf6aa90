package step

import (
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// MulRow is the product, for any number of columns and both precisions. The numbers are whole, so
// that a processor that fuses products and sums gives the same.
func TestMulRow(t *testing.T) {
	rng := pointtest.Rand(1)
	const rows, stride = 40, 21
	x, wide := make([]float32, rows*stride), make([]float64, rows*stride)
	for i := range x {
		x[i] = float32(rng.IntN(2001) - 1000)
		wide[i] = float64(x[i])
	}
	for entries := range 12 {
		ind, val, val64 := make([]uint32, entries), make([]float32, entries), make([]float64, entries)
		for p := range ind {
			ind[p], val[p] = uint32(3*p+rng.IntN(3)), float32(rng.IntN(2001)-1000)
			val64[p] = float64(val[p])
		}
		for k := range stride + 1 {
			want := make([]float64, k)
			for p, j := range ind {
				for c := range want {
					want[c] += float64(val[p]) * wide[int(j)*stride+c]
				}
			}
			a, b, c := slices.Repeat([]float64{7}, k), slices.Repeat([]float64{7}, k), slices.Repeat([]float64{7}, k)
			MulRow(a, ind, val, x, stride)
			MulRow(b, ind, val, wide, stride)
			MulRow(c, ind, val64, x, stride)
			if !slices.Equal(a, want) || !slices.Equal(b, want) || !slices.Equal(c, want) {
				t.Fatalf("%d entries, %d columns: %v, %v, %v, want %v", entries, k, a, b, c, want)
			}
		}
	}
}
