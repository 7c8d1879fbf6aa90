package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level has the sums of the contract, and touches nothing beyond the slices. The
// sizes go beyond tiles, panels, and pieces of rows and columns.
func TestDots64(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, d := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 127, 128, 129, 133, 260} {
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) {
			for _, n := range [][2]int{{1, 1}, {1, 24}, {3, 5}, {4, 12}, {5, 13}, {7, 7}, {8, 8}, {8, 24}, {9, 17}, {16, 25}, {17, 31}, {40, 49}, {257, 3}, {3, 100}, {265, 26}} {
				checkDots64(t, r, n[0], n[1], d)
			}
		})
	}
}

func checkDots64(t *testing.T, r *rand.Rand, na, nb, d int) {
	t.Helper()
	as, bs, ds := d+r.IntN(3), d+r.IntN(3), nb+r.IntN(3)
	a, b := misaligned(r, t, (na-1)*as+d), misaligned(r, t, (nb-1)*bs+d)
	start := misaligned(r, t, (na-1)*ds+nb)
	want := slices.Clone(start)
	for i := range na {
		for j := range nb {
			sum := 0.0
			for c := range d {
				sum = math.FMA(a[i*as+c], b[j*bs+c], sum)
			}
			want[i*ds+j] = sum
		}
	}
	for _, level := range Levels() {
		dst := guarded[float64](t, len(start))
		copy(dst, start)
		At(level).Dots64(RowsOf(dst, ds), RowsOf(a, as), RowsOf(b, bs), na, nb, d)
		if !sameBits(dst, want) {
			t.Fatalf("%v: %d rows and %d rows differ from the sums of their products", level, na, nb)
		}
	}
}

func TestDots64Panics(t *testing.T) {
	few, many := make([]float64, 5), make([]float64, 6)
	for _, level := range Levels() {
		s := At(level)
		mustPanic(t, "a", func() { s.Dots64(RowsOf(many, 2), RowsOf(few, 3), RowsOf(many, 3), 2, 2, 3) })
		mustPanic(t, "b", func() { s.Dots64(RowsOf(many, 2), RowsOf(many, 3), RowsOf(few, 3), 2, 2, 3) })
		mustPanic(t, "dst", func() { s.Dots64(RowsOf(few[:3], 2), RowsOf(many, 3), RowsOf(many, 3), 2, 2, 3) })
		mustPanic(t, "stride", func() { s.Dots64(RowsOf(many, 2), RowsOf(many, 2), RowsOf(many, 3), 2, 2, 3) })
		mustPanic(t, "stride of dst", func() { s.Dots64(RowsOf(many, 1), RowsOf(many, 3), RowsOf(many, 3), 2, 2, 3) })
		mustPanic(t, "negative", func() { s.Dots64(RowsOf(many, 2), RowsOf(many, 3), RowsOf(many, 3), -1, 2, 3) })
		s.Dots64(Rows[float64]{Stride: 2}, Rows[float64]{Stride: 3}, RowsOf(many, 3), 0, 2, 3)
	}
}
