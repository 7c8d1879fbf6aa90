package tree

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// An index finds what a look at all rows finds.
func TestIndex(t *testing.T) {
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{1, 3, 20} {
			p := pointtest.Open(pointtest.Make(kind, 120, d, uint64(d)))
			var list []uint32
			for i := range p.N {
				if i%3 != 0 {
					list = append(list, uint32(p.N-1-i))
				}
			}
			x, err := NewIndex(t.Context(), p, list, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range list {
				nearest := math.Inf(1)
				for j, other := range list {
					if j != i {
						nearest = min(nearest, p.Dist2(int(row), int(other)))
					}
				}
				if got := x.Nearest(i); got != nearest {
					t.Fatalf("%s: row %d has a neighbour at %g, want %g", kind, i, got, nearest)
				}
				if err := sameNearest(x, p, list, i); err != nil {
					t.Fatalf("%s: row %d: %v", kind, i, err)
				}
				most := p.Dist2(int(row), int(list[(i*7+1)%len(list)]))
				var want []uint32
				for j, other := range list {
					if j != i && p.Dist2(int(row), int(other)) <= most {
						want = append(want, uint32(j))
					}
				}
				got := x.Within(nil, i, most)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("%s: rows %v are near to row %d, want %v", kind, got, i, want)
				}
			}
		}
	}
	x, err := NewIndex(t.Context(), pointtest.Open(pointtest.Make("uniform", 2, 2, 1)), []uint32{1}, nil)
	if err != nil || x.NearestOf(0, make([]uint32, 3), make([]float64, 3)) != 0 || !math.IsInf(x.Nearest(0), 1) || len(x.Within(nil, 0, math.Inf(1))) > 0 {
		t.Errorf("a row alone has neighbours, %v", err)
	}
}

// sameNearest compares the nearest rows of row i with those of a sort.
func sameNearest(x *Index, p *rows.Points, list []uint32, i int) error {
	var want []uint32
	for j := range list {
		if j != i {
			want = append(want, uint32(j))
		}
	}
	slices.SortFunc(want, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(p.Dist2(int(list[i]), int(list[a])), p.Dist2(int(list[i]), int(list[b]))), cmp.Compare(list[a], list[b]))
	})
	place, d2 := make([]uint32, 5), make([]float64, 5)
	if count := x.NearestOf(i, place, d2); count != 5 || !slices.Equal(place, want[:5]) {
		return fmt.Errorf("%d are nearest: %v, want %v", count, place, want[:5])
	}
	for e, j := range place {
		if d2[e] != p.Dist2(int(list[i]), int(list[j])) {
			return fmt.Errorf("the distance of row %d is %g", j, d2[e])
		}
	}
	return nil
}
