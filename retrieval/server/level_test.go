package server

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// Rows are dealt out to the shortest lists: what one row after the other, each to the
// shortest list there is, comes to.
func TestLevelFillsTheShortest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		cells, count := 1+random.IntN(6), random.IntN(30)
		j := &joining[blas64.General]{n: 200, lists: make([][]uint32, cells)}
		want := make([]int, cells)
		for c := range j.lists {
			want[c] = random.IntN(12)
			j.lists[c] = slices.Repeat([]uint32{199}, want[c])
		}
		before := slices.Clone(want)
		var rows []uint32
		for _, row := range random.Perm(100)[:count] {
			rows = append(rows, uint32(row))
			want[slices.Index(want, slices.Min(want))]++
		}
		j.level(slices.Clone(rows))
		var got, dealt []uint32
		for c, list := range j.lists {
			got = append(got, uint32(len(list)))
			dealt = append(dealt, list[before[c]:]...)
			if len(list) != want[c] {
				t.Fatalf("%d rows to lists of %v: now %v, want %v", count, before, got, want)
			}
		}
		slices.Sort(rows)
		if slices.Sort(dealt); !slices.Equal(dealt, rows) {
			t.Fatalf("%v were dealt out of %v", dealt, rows)
		}
	}
}
