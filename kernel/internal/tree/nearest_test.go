package tree

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
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
		for _, d := range []int{1, 2, 3, 8} {
			sets[kind+string(rune('0'+d))] = pointtest.Make(kind, 101, d, uint64(d))
		}
	}
	for name, set := range sets {
		p := pointtest.Open(set)
		for _, k := range []int{1, 9, p.N - 1} {
			want := plainNearest(p, k)
			for _, count := range []int{1, 3} {
				workers := par.New(count)
				got, err := Nearest(t.Context(), k, &rows.Request{Points: p, Workers: workers, Kernels: simd.At(simd.Best())})
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

// Where there are many points, neighbours come from several rounds of candidates, some are
// sorted and not ranked, and equal points are in many leaves. Some points are compared with
// a sort of all others, by place and by row.
func TestNearestOfManyPoints(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for which, kind := range pointtest.Kinds() {
		d := 1 + which%4
		set := pointtest.Make(kind, 1000, d, uint64(d))
		for i := range set.Data { // sizes that float32 cannot square
			set.Data[i] *= []float32{1e-30, 1, 1e30}[which%3]
		}
		p := pointtest.Open(set)
		for _, k := range []int{10, 300} {
			for _, level := range []simd.Level{simd.Generic, simd.Best()}[k/300:] {
				req := &rows.Request{Points: p, Workers: workers, Kernels: simd.At(level)}
				got, err := Nearest(t.Context(), k, req)
				if err != nil {
					t.Fatal(err)
				}
				byRow, err := NearestByRow(t.Context(), k, req)
				if err != nil {
					t.Fatal(err)
				}
				checkSome(t, kind, p, got)
				checkSome(t, kind, p, byRow)
			}
		}
	}
}

// checkSome compares the neighbours of some places with a sort of all others.
func checkSome(t *testing.T, name string, p *rows.Points, got *rows.Neighbours) {
	t.Helper()
	given := func(place int) int {
		if got.Order == nil {
			return place
		}
		return int(got.Order[place])
	}
	for place := 0; place < p.N; place += 311 {
		i := given(place)
		others := make([]int, 0, p.N)
		for j := range p.N {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortFunc(others, func(a, b int) int { return cmp.Or(cmp.Compare(p.Dist2(i, a), p.Dist2(i, b)), a-b) })
		for e, want := range others[:got.K] {
			j, d2 := given(int(got.Place[place*got.K+e])), got.Dist2[place*got.K+e]
			if j != want || d2 != p.Dist2(i, want) {
				t.Fatalf("%s in %d dimensions: neighbour %d of row %d is row %d at %g, want %d at %g", name, p.D, e, i, j, d2, want, p.Dist2(i, want))
			}
		}
	}
}

// A point alone in a crowd of equal ones has to look at few of them.
func TestNearestOfEqualPointsIsNotQuadratic(t *testing.T) {
	const n, k = 100_000, 5 // all pairs would take minutes
	p := pointtest.Open(blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)})
	got, err := NearestByRow(t.Context(), k, &rows.Request{Points: p, Kernels: simd.At(simd.Best())})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for e, j := range got.Place[i*k:][:k] {
			want := e
			if i <= e {
				want++
			}
			if int(j) != want {
				t.Fatalf("neighbour %d of row %d is row %d, want %d", e, i, j, want)
			}
		}
	}
}

// The smallest keys come first, wherever the border is, whatever the order.
func TestChoose(t *testing.T) {
	rng := pointtest.Rand(3)
	for _, n := range []int{1, 2, 13, 60, 500, 3000} {
		for kind := range 4 {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = uint64(i)
				switch kind {
				case 1:
					keys[i] = uint64(n - i)
				case 2:
					keys[i] |= uint64(rng.IntN(3)) << 32
				case 3:
					keys[i] |= uint64(rng.Uint32()) << 32
				}
			}
			sorted := slices.Sorted(slices.Values(keys))
			for _, count := range []int{0, 1, n / 3, n / 2, n - 1, n} {
				got := slices.Clone(keys)
				choose(got, count)
				slices.Sort(got[:count])
				slices.Sort(got[count:])
				if !slices.Equal(got, sorted) {
					t.Fatalf("kind %d: the smallest %d of %d keys are not in front", kind, count, n)
				}
			}
		}
	}
}

func TestNearestStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Nearest(ctx, 3, &rows.Request{Points: pointtest.Open(pointtest.Make("uniform", 100, 2, 1)), Kernels: simd.At(simd.Best())}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A group takes no more memory than groupBytes says, whatever it has searched.
func TestGroupBytes(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{500, 1, 1}, {2000, 2, 10}, {1000, 6, 300}, {400, 3, 399}} {
		for _, kind := range []string{"uniform", "lattice", "equal"} {
			x := blas32.General{Rows: c.n, Cols: c.d, Stride: c.d, Data: make([]float32, c.n*c.d)}
			if kind != "equal" {
				x = pointtest.Make(kind, c.n, c.d, 1)
			}
			p := pointtest.Open(x)
			order := make([]uint32, p.N)
			for i := range order {
				order[i] = uint32(i)
			}
			tr, err := build(t.Context(), p, order, simd.BlockPoints, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := newBlocks(t.Context(), tr, nil)
			if err != nil {
				t.Fatal(err)
			}
			out := &rows.Neighbours{K: c.k, Place: make([]uint32, p.N*c.k), Dist2: make([]float64, p.N*c.k)}
			g := newGroup(b, out, true, simd.At(simd.Best()))
			for i := range g.first {
				g.search(g.first + i)
			}
			l := &g.list
			boxes := 2*c.d*2*blocksAtOnce*8 + 2*2*blocksAtOnce*4
			held := cap(g.points)*8 + cap(g.bounds)*16 + cap(g.count)*8 + cap(g.slot)*4 + cap(g.d2)*8 + cap(g.nodes)*16 + cap(g.spans)*4 + boxes +
				cap(l.slot)*4 + cap(l.d2)*8 + cap(l.rank)*4 + len(l.sorted)*16 + cap(l.entries)*16
			if most := groupBytes(c.d, c.k); int64(held) > most || int64(held) < most/4 {
				t.Errorf("%s, %+v: a group holds %d bytes, %d were counted", kind, c, held, most)
			}
		}
	}
}
