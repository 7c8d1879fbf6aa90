package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func (c *sparseCase) compareSums(t *testing.T, level Level, piece int) {
	t.Helper()
	got := guarded[float64](t, c.rows())
	for lo := 0; lo < c.rows(); lo += piece {
		hi := min(lo+piece, c.rows())
		At(level).SumSparse(got[lo:hi], c.ptr[lo:hi+1], c.val)
	}
	for r, v := range got {
		var chain [4]float64
		for e, w := range c.val[c.ptr[r]:c.ptr[r+1]] {
			chain[e%4] += float64(w)
		}
		want := (chain[0] + chain[2]) + (chain[1] + chain[3])
		if math.Float64bits(v) != math.Float64bits(want) && !(v != v && want != want) {
			t.Fatalf("%v: row %d is %v, want %v", level, r, v, want)
		}
	}
}

func TestSumSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var lengths []int
	for m := range 70 {
		lengths = append(lengths, m, r.IntN(9))
	}
	for _, level := range Levels() {
		for _, lengths := range [][]int{lengths, nil, {0}, {0, 0}, {1}, {5, 0, 0}, {70_001}} {
			c := newSparseCase(r, t, lengths, 5, 1)
			c.compareSums(t, level, 1000)
			c.compareSums(t, level, 3)
		}
	}
}

func TestSumSparsePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"short dst": func() { At(Best()).SumSparse(make([]float64, 1), []uint64{0, 1, 2}, make([]float32, 2)) },
		"short val": func() { At(Best()).SumSparse(make([]float64, 2), []uint64{0, 1, 3}, make([]float32, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
