package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level adds in the order of the contracts, and touches nothing beyond the slices.
func TestWeightedSums64(t *testing.T) {
	r := rand.New(rand.NewPCG(79, 80))
	for _, k := range []int{1, 2, 3, 4, 5, 6, 9} {
		t.Run(fmt.Sprintf("k=%d", k), func(t *testing.T) {
			for _, m := range []int{8, 16, 40} {
				for _, n := range []int{8, 16, 24, 64, 72, 200} {
					checkWeightedSums64(t, r, k, m, n)
				}
			}
		})
	}
}

func checkWeightedSums64(t *testing.T, r *rand.Rand, k, m, n int) {
	t.Helper()
	ws, short, long := n+r.IntN(3), m+r.IntN(3), n+r.IntN(3)
	w, byM, byN := misaligned(r, t, (m-1)*ws+n), misaligned(r, t, (k-1)*short+m), misaligned(r, t, (k-1)*long+n)
	rows, columns := slices.Clone(byM), slices.Clone(byN)
	for c := range k {
		for i := range m {
			var lanes [8]float64
			for j := range n {
				lanes[j%8] = math.FMA(w[i*ws+j], byN[c*long+j], lanes[j%8])
			}
			for width := 4; width > 0; width /= 2 {
				for l := range width {
					lanes[l] += lanes[l+width]
				}
			}
			rows[c*short+i] += lanes[0]
			for j := range n {
				columns[c*long+j] = math.FMA(w[i*ws+j], byM[c*short+i], columns[c*long+j])
			}
		}
	}
	for _, level := range Levels() {
		gotRows, gotColumns := guarded[float64](t, len(byM)), guarded[float64](t, len(byN))
		copy(gotRows, byM)
		copy(gotColumns, byN)
		At(level).WeightedSums64(RowsOf(gotRows, short), RowsOf(w, ws), RowsOf(byN, long), k, m, n)
		At(level).WeightedSumsTrans64(RowsOf(gotColumns, long), RowsOf(w, ws), RowsOf(byM, short), k, m, n)
		if !sameBits(gotRows, rows) {
			t.Fatalf("%v: sums of %d rows of %d weights differ", level, m, n)
		}
		if !sameBits(gotColumns, columns) {
			t.Fatalf("%v: sums of %d columns of %d weights differ", level, n, m)
		}
	}
}

func TestWeightedSums64Panics(t *testing.T) {
	s := At(Best())
	many, few := make([]float64, 64), make([]float64, 63)
	for name, sums := range map[string]func(dst, w, x Rows[float64], k, m, n int){"rows": s.WeightedSums64, "columns": s.WeightedSumsTrans64} {
		mustPanic(t, name+": shape", func() { sums(RowsOf(many, 8), RowsOf(many, 8), RowsOf(many, 8), 1, 8, 7) })
		mustPanic(t, name+": stride", func() { sums(RowsOf(many, 8), RowsOf(many, 7), RowsOf(many, 8), 1, 8, 8) })
		mustPanic(t, name+": negative", func() { sums(RowsOf(many, 8), RowsOf(many, 8), RowsOf(many, 8), -1, 8, 8) })
		mustPanic(t, name+": weights", func() { sums(RowsOf(many, 8), RowsOf(few, 8), RowsOf(many, 8), 1, 8, 8) })
		mustPanic(t, name+": x", func() { sums(RowsOf(many, 8), RowsOf(many, 8), RowsOf(few, 8), 8, 8, 8) })
		mustPanic(t, name+": dst", func() { sums(RowsOf(few, 8), RowsOf(many, 8), RowsOf(many, 8), 8, 8, 8) })
		sums(Rows[float64]{Stride: 8}, Rows[float64]{Stride: 8}, Rows[float64]{Stride: 8}, 0, 8, 8)
	}
}
