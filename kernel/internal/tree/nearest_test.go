package tree

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// plainNearest sorts all other points of each point.
func plainNearest(p *rows.Points, k int) [][]uint32 {
	out := make([][]uint32, p.N)
	for i := range out {
		for j := range p.N {
			if j != i {
				out[i] = append(out[i], uint32(j))
			}
		}
		slices.SortStableFunc(out[i], func(a, b uint32) int {
			x, y := p.Dist2(i, int(a)), p.Dist2(i, int(b))
			if x != y {
				return map[bool]int{true: -1, false: 1}[x < y]
			}
			return int(a) - int(b)
		})
		out[i] = out[i][:k]
	}
	return out
}

// The neighbours are those of a sort of all points: among random points, on a lattice with
// many ties, among equal points and for points far apart in size.
func TestNearest(t *testing.T) {
	lattice := blas32.General{Rows: 150, Cols: 2, Stride: 3, Data: make([]float32, 450)}
	for i := range 150 {
		lattice.Data[3*i], lattice.Data[3*i+1], lattice.Data[3*i+2] = float32(i*7%20), float32(i%20), float32(math.NaN())
	}
	equal := blas32.General{Rows: 100, Cols: 3, Stride: 3, Data: make([]float32, 300)}
	sets := map[string]blas32.General{"lattice": lattice, "equal": equal}
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{1, 2, 8} {
			sets[kind+string(rune('0'+d))] = pointtest.Make(kind, 101, d, uint64(d))
		}
	}
	for name, set := range sets {
		p := pointtest.Open(set)
		for _, k := range []int{1, 9, p.N - 1} {
			want := plainNearest(p, k)
			for _, count := range []int{1, 3} {
				workers := par.New(count)
				got, err := Nearest(t.Context(), k, &rows.Request{Points: p, Workers: workers})
				workers.Close()
				if err != nil {
					t.Fatal(err)
				}
				compare(t, name, p, got, want)
			}
		}
	}
}

func compare(t *testing.T, name string, p *rows.Points, got *rows.Neighbours, want [][]uint32) {
	t.Helper()
	seen := make([]bool, p.N)
	for place, given := range got.Order {
		seen[given] = true
		for e := range got.K {
			j := got.Place[place*got.K+e]
			if neighbour := got.Order[j]; neighbour != want[given][e] || got.Dist2[place*got.K+e] != p.Dist2(int(given), int(neighbour)) || got.Distance(place, int(j)) != p.Dist2(int(given), int(neighbour)) {
				t.Fatalf("%s: neighbour %d of row %d is row %d, want %d", name, e, given, neighbour, want[given][e])
			}
		}
	}
	if slices.Contains(seen, false) {
		t.Errorf("%s: a row has no place", name)
	}
}

func TestNearestStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Nearest(ctx, 3, &rows.Request{Points: pointtest.Open(pointtest.Make("uniform", 100, 2, 1))}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
