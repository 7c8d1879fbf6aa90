package codes

import (
	"cmp"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Among rows of which many are equal the neighbours are those of a full sort: in crowds, in
// groups that are just too small to be one, and next to them.
func TestNearestAmongCrowds(t *testing.T) {
	const n, d, k = 150, 9, 4
	for _, sizes := range [][]int{{k}, {k + 1}, {k + 2}, {60, k + 2, k + 1, 2}, {n}, {n - 1}, {n / 2, n / 2}} {
		x := pointtest.Make("uniform", n, d, 1)
		rng := pointtest.Rand(7)
		order := rng.Perm(n)
		for _, size := range sizes {
			for _, i := range order[:size] {
				copy(x.Data[i*d:][:d], x.Data[order[0]*d:][:d])
			}
			order = order[size:]
		}
		p := pointtest.Open(x)
		got, err := Nearest(t.Context(), k, &rows.Request{Points: p, Kernels: simd.At(simd.Best())})
		if err != nil {
			t.Fatal(err)
		}
		checkPlaces(t, p, got)
		checkGiven(t, p, got)
		if got.Stats.Pairs != n*(n-1) || got.Stats.Found != n*k {
			t.Errorf("crowds of %d: %+v", sizes, got.Stats)
		}
	}
}

// checkGiven compares what NearestByRow gives for every row with what Nearest has found.
func checkGiven(t *testing.T, p *rows.Points, want *rows.Neighbours) {
	t.Helper()
	workers := par.New(2)
	defer workers.Close()
	k, given := want.K, func(place uint32) uint32 {
		if want.Order == nil {
			return place
		}
		return want.Order[place]
	}
	var mu sync.Mutex
	near, d2 := make([][]uint32, p.N), make([][]float64, p.N)
	err := NearestByRow(t.Context(), k, &rows.Request{Points: p, Workers: workers, Kernels: simd.At(simd.Best())}, func(row int, ids []uint32, squared []float64) {
		mu.Lock()
		defer mu.Unlock()
		if near[row] != nil {
			t.Errorf("row %d comes twice", row)
		}
		near[row], d2[row] = slices.Clone(ids), slices.Clone(squared)
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range p.N {
		row, ids := given(uint32(place)), slices.Clone(want.Place[place*k:][:k])
		for e, j := range ids {
			ids[e] = given(j)
		}
		if !slices.Equal(near[row], ids) || !slices.Equal(d2[row], want.Dist2[place*k:][:k]) {
			t.Fatalf("row %d is given %d at %g, want %d at %g", row, near[row], d2[row], ids, want.Dist2[place*k:][:k])
		}
	}
}

// checkPlaces compares the neighbours of every place with a sort of all other rows.
func checkPlaces(t *testing.T, p *rows.Points, got *rows.Neighbours) {
	t.Helper()
	given := func(place int) int {
		if got.Order == nil {
			return place
		}
		return int(got.Order[place])
	}
	seen := make([]bool, p.N)
	for place := range p.N {
		i := given(place)
		seen[i] = true
		others := make([]int, 0, p.N)
		for j := range p.N {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortFunc(others, func(a, b int) int { return cmp.Or(cmp.Compare(p.Dist2(i, a), p.Dist2(i, b)), a-b) })
		for e, want := range others[:got.K] {
			j, d2 := int(got.Place[place*got.K+e]), got.Dist2[place*got.K+e]
			if given(j) != want || d2 != p.Dist2(i, want) || got.Distance(place, j) != d2 {
				t.Fatalf("neighbour %d of row %d is row %d at %g, want %d at %g", e, i, given(j), d2, want, p.Dist2(i, want))
			}
		}
	}
	if slices.Contains(seen, false) {
		t.Error("a row has no place")
	}
}

// Many equal rows and one apart do not have all their pairs compared.
func TestNearestOfEqualPointsIsNotQuadratic(t *testing.T) {
	const n, d, k = 100_000, 9, 5 // all pairs would take minutes
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	x.Data[n/2*d] = 1
	p := pointtest.Open(x)
	got, err := Nearest(t.Context(), k, &rows.Request{Points: p, Kernels: simd.At(simd.Best())})
	if err != nil {
		t.Fatal(err)
	}
	for place, i := range got.Order {
		d2 := 0.0
		if i == n/2 {
			d2 = 1
		}
		for e, j := range got.Place[place*k:][:k] {
			want := e
			if int(i) <= e {
				want++
			}
			if int(got.Order[j]) != want || got.Dist2[place*k+e] != d2 {
				t.Fatalf("neighbour %d of row %d is row %d, want %d", e, i, got.Order[j], want)
			}
		}
	}
	if most := int64(10 * n); got.Stats.Compared > most {
		t.Errorf("%d pairs of codes were compared, %d at most should be", got.Stats.Compared, most)
	}
}
