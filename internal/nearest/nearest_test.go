package nearest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// ranking has the answers to queries, k for each.
type ranking struct {
	index   []int
	squared []float64
}

// reference is the definition: all distances in one plain loop, then a sort.
func reference(queries, gallery blas64.General, allowed func(q, g int) bool, k int) (r ranking) {
	for q := range queries.Rows {
		var all []candidate
		for g := range gallery.Rows {
			if !allowed(q, g) {
				continue
			}
			var s float64
			for j := range queries.Cols {
				t := queries.Data[q*queries.Stride+j] - gallery.Data[g*gallery.Stride+j]
				s += float64(t * t)
			}
			all = append(all, candidate{s, g})
		}
		slices.SortStableFunc(all, func(a, b candidate) int {
			switch {
			case a.squaredDistance < b.squaredDistance:
				return -1
			case a.squaredDistance > b.squaredDistance:
				return 1
			}
			return 0 // stable: the lower row first
		})
		for _, c := range all[:k] {
			r.index = append(r.index, c.row)
			r.squared = append(r.squared, c.squaredDistance)
		}
	}
	return r
}

func sameRanking(t interface{ Errorf(string, ...any) }, name string, got, want ranking) {
	if !slices.Equal(got.index, want.index) {
		t.Errorf("%s: neighbours %v, want %v", name, got.index, want.index)
	}
	if !slices.Equal(got.squared, want.squared) {
		t.Errorf("%s: distances differ", name)
	}
}

func anyRow(q, g int) bool { return true }

// kinds are ways to draw a coordinate of row i. Hard kinds have numbers so large or small
// that no filter is made.
var kinds = map[string]struct {
	draw func(rng *rand.Rand, i, j int) float64
	hard bool
}{
	"normal":     {func(rng *rand.Rand, i, j int) float64 { return rng.NormFloat64() }, false},
	"ties":       {func(rng *rand.Rand, i, j int) float64 { return float64(rng.IntN(3)) }, false},
	"duplicates": {func(rng *rand.Rand, i, j int) float64 { return float64((i % 4) * (j + 1)) }, false},
	"equal":      {func(rng *rand.Rand, i, j int) float64 { return 0.1 }, false},
	"zero":       {func(rng *rand.Rand, i, j int) float64 { return 0 }, false},
	"far off":    {func(rng *rand.Rand, i, j int) float64 { return 1e6 + rng.NormFloat64() }, false},
	"farther":    {func(rng *rand.Rand, i, j int) float64 { return 1e12*float64(j) + rng.NormFloat64() }, false},
	"near ties":  {func(rng *rand.Rand, i, j int) float64 { return float64(rng.IntN(2)) + 1e-9*rng.NormFloat64() }, false},
	"small":      {func(rng *rand.Rand, i, j int) float64 { return 1e-130 * rng.NormFloat64() }, false},
	"large":      {func(rng *rand.Rand, i, j int) float64 { return 1e130 * rng.NormFloat64() }, false},
	"outlier": {func(rng *rand.Rand, i, j int) float64 {
		if i == 3 {
			return 1e6 * rng.NormFloat64()
		}
		return rng.NormFloat64()
	}, false},
	"wild":      {func(rng *rand.Rand, i, j int) float64 { return math.Pow(10, float64(-i%60)) * rng.NormFloat64() }, false},
	"columns":   {func(rng *rand.Rand, i, j int) float64 { return math.Pow(10, float64(-j%60)) * rng.NormFloat64() }, false},
	"subnormal": {func(rng *rand.Rand, i, j int) float64 { return 0x1p-1070 * float64(rng.IntN(9)) }, true},
	"vanishing": {func(rng *rand.Rand, i, j int) float64 { return 1e-160 * rng.NormFloat64() }, true},
	"overflow":  {func(rng *rand.Rand, i, j int) float64 { return 1e170 * rng.NormFloat64() }, true},
	"extreme":   {func(rng *rand.Rand, i, j int) float64 { return 1.7e308 * (2*rng.Float64() - 1) }, true},
}

// drawn draws rows with padding after each.
func drawn(rng *rand.Rand, n, d int, kind string) blas64.General {
	x := blas64.General{Rows: n, Cols: d, Stride: d + 2, Data: make([]float64, n*(d+2))}
	for i := range x.Data {
		x.Data[i] = math.NaN()
	}
	for i := range n {
		for j := range d {
			x.Data[i*x.Stride+j] = kinds[kind].draw(rng, i, j)
		}
	}
	return x
}

// Sizes are around the tile of 64 queries, the pair of queries, the panel of 4 gallery rows
// and the rows between two checks of the context. Some are filtered, some are not.
func TestRowsAgainstReference(t *testing.T) {
	for _, c := range []struct{ nq, n, d, k int }{
		{1, 1, 1, 1}, {1, 4, 3, 4}, {2, 5, 1, 3}, {31, 7, 5, 2}, {64, 8, 2, 8},
		{65, 9, 17, 9}, {65, 255, 4, 10}, {3, 257, 64, 257}, {5, 513, 8, 3}, {4, 6, 0, 5}, {0, 3, 2, 1},
		{32, 64, 16, 8}, {65, 130, 33, 16}, {66, 700, 65, 1}, {33, 200, 1101, 5},
	} {
		for kind := range kinds {
			t.Run(fmt.Sprintf("nq=%d/n=%d/d=%d/k=%d/%s", c.nq, c.n, c.d, c.k, kind), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(c.n), 1))
				queries, gallery := drawn(rng, c.nq, c.d, kind), drawn(rng, c.n, c.d, kind)
				index, squared, err := Rows(t.Context(), queries, gallery, c.k, Settings{})
				if err != nil {
					t.Fatal(err)
				}
				sameRanking(t, "rows", ranking{index, squared}, reference(queries, gallery, anyRow, c.k))
			})
		}
	}
}

// Far from the origin the expanded form |a|^2 + |b|^2 - 2 a'b loses all digits of these
// distances, but the differences are exact. Exact rational arithmetic gives the true
// order.
func TestRowsFarFromOrigin(t *testing.T) {
	const n, d, nq, offset = 113, 20, 33, 1 << 30
	rng := rand.New(rand.NewPCG(3, 4))
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range x.Data {
		x.Data[i] = offset + rng.NormFloat64()/1024
	}
	queries := blas64.General{Rows: nq, Cols: d, Stride: d, Data: x.Data[:nq*d]}
	gallery := blas64.General{Rows: n - nq, Cols: d, Stride: d, Data: x.Data[nq*d:]}
	index, _, err := Rows(t.Context(), queries, gallery, 5, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for q := range nq {
		exact := make([]*big.Rat, gallery.Rows)
		for g := range exact {
			exact[g] = new(big.Rat)
			for j := range d {
				var a, b big.Rat
				a.SetFloat64(queries.Data[q*d+j])
				b.SetFloat64(gallery.Data[g*d+j])
				a.Sub(&a, &b)
				exact[g].Add(exact[g], a.Mul(&a, &a))
			}
		}
		order := upTo(gallery.Rows)
		slices.SortStableFunc(order, func(a, b int) int { return exact[a].Cmp(exact[b]) })
		if got := index[q*5:][:5]; !slices.Equal(got, order[:5]) {
			t.Errorf("query %d: neighbours %v, want %v", q, got, order[:5])
		}
	}
}

// For any lists of rows of a matrix, any number of workers and any level, with and
// without the filter, the result is that of the definition, bit for bit.
func TestWithinProperties(t *testing.T) {
	var names []string
	for kind := range kinds {
		names = append(names, kind)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 150).Draw(t, "n")
		d := rapid.IntRange(1, 40).Draw(t, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x := drawn(rng, n, d, rapid.SampledFrom(names).Draw(t, "kind"))
		gallery := rng.Perm(n)[:rapid.IntRange(2, n).Draw(t, "gallery")]
		queries := make([]int, rapid.IntRange(1, 70).Draw(t, "queries"))
		for i := range queries {
			queries[i] = rng.IntN(n)
		}
		k := rapid.IntRange(1, len(gallery)-1).Draw(t, "k")

		picked := blas64.General{Rows: len(queries), Cols: d, Stride: d}
		for _, row := range queries {
			picked.Data = append(picked.Data, x.Data[row*x.Stride:row*x.Stride+d]...)
		}
		want := reference(picked, x, func(q, g int) bool {
			return g != queries[q] && slices.Contains(gallery, g)
		}, k)
		workers := par.New(rapid.IntRange(1, 5).Draw(t, "workers"))
		defer workers.Close()
		settings := Settings{Workers: workers, Kernels: simd.At(rapid.SampledFrom(simd.Levels()).Draw(t, "level"))}
		index, squared, err := Within(context.Background(), x, queries, gallery, k, settings)
		if err != nil {
			t.Fatal(err)
		}
		sameRanking(t, "chosen", ranking{index, squared}, want)

		s := &search[blas64.General]{queries: x, queryRows: queries, gallery: x, galleryRows: gallery, d: d, k: k, leaveOut: true}
		s.index, s.squared = make([]int, len(want.index)), make([]float64, len(want.index))
		f, err := newFilter(context.Background(), s, settings)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			index, squared, err = s.tiles(context.Background(), settings, func() tiler { return newFiltered(f) })
			if err != nil {
				t.Fatal(err)
			}
			sameRanking(t, "filtered", ranking{index, squared}, want)
		}
	})
}

// float32 rows have the same answers as the same numbers in float64.
func TestRowsReadBothStorages(t *testing.T) {
	for _, d := range []int{3, 40} {
		wide := drawn(rand.New(rand.NewPCG(1, 2)), 100, d, "far off")
		x := blas32.General{Rows: 100, Cols: d, Stride: d + 2, Data: make([]float32, len(wide.Data))}
		for i, v := range wide.Data {
			x.Data[i] = float32(v)
			wide.Data[i] = float64(x.Data[i])
		}
		rows := upTo(100)
		for _, k := range []int{5, 99} {
			a, squaredA, errA := Within(t.Context(), x, rows, rows, k, Settings{})
			b, squaredB, errB := Within(t.Context(), wide, rows, rows, k, Settings{})
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			sameRanking(t, "float32", ranking{a, squaredA}, ranking{b, squaredB})
		}
	}
}

// Small figures by hand.
func TestByHand(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 3, 4, 0, 1, 0, -1})
	query := mat.NewDense(2, 2, []float64{0, 0, 3, 3})
	index, squared, err := Rows(t.Context(), query.RawMatrix(), x.RawMatrix(), 3, Settings{})
	if err != nil || !slices.Equal(index, []int{0, 2, 3, 1, 2, 0}) || !slices.Equal(squared, []float64{0, 1, 1, 1, 13, 18}) {
		t.Errorf("%v at %v, %v", index, squared, err)
	}
	index, squared, err = Within(t.Context(), x.RawMatrix(), []int{0, 1}, []int{3, 2, 0}, 2, Settings{})
	if err != nil || !slices.Equal(index, []int{2, 3, 2, 0}) || !slices.Equal(squared, []float64{1, 1, 18, 25}) {
		t.Errorf("within: %v at %v, %v", index, squared, err)
	}
}

func TestErrors(t *testing.T) {
	ok := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4, 5, 6}}
	nan := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, float32(math.NaN())}}
	thin := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 2, 3}}
	short := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1}}
	for _, c := range []struct {
		name             string
		queries, gallery blas32.General
		k                int
		want             error
	}{
		{"k zero", ok, ok, 0, points.ErrShape},
		{"k above gallery", ok, ok, 4, points.ErrShape},
		{"dimensions", ok, thin, 1, points.ErrShape},
		{"storage of queries", short, ok, 1, points.ErrShape},
		{"storage of gallery", ok, short, 1, points.ErrShape},
		{"nan query", nan, ok, 1, points.ErrNonFinite},
		{"nan gallery", ok, nan, 1, points.ErrNonFinite},
	} {
		if _, _, err := Rows(t.Context(), c.queries, c.gallery, c.k, Settings{}); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name             string
		queries, gallery []int
		k                int
		want             error
	}{
		{"query beyond", []int{3}, []int{0}, 1, ErrRow},
		{"query negative", []int{-1}, []int{0}, 1, ErrRow},
		{"gallery beyond", []int{0}, []int{1, 3}, 1, ErrRow},
		{"gallery twice", []int{0}, []int{1, 1}, 1, ErrRow},
		{"own row counts as answer", []int{0}, []int{0, 1}, 2, points.ErrShape},
		{"no gallery", []int{0}, nil, 1, points.ErrShape},
	} {
		if _, _, err := Within(t.Context(), ok, c.queries, c.gallery, c.k, Settings{}); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	if index, _, err := Within(t.Context(), ok, []int{0}, []int{1, 2}, 2, Settings{}); err != nil || !slices.Equal(index, []int{1, 2}) {
		t.Errorf("disjoint lists need no room: %v, %v", index, err)
	}
}

// expiring is a context that ends after a number of checks.
type expiring struct {
	context.Context
	looks atomic.Int64
}

func (e *expiring) Err() error {
	if e.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever the context ends, the search returns its error and no result, and stops soon:
// each worker may check a few times more.
func TestStops(t *testing.T) {
	for name, c := range map[string]struct{ d, k int }{"plain": {2, 1}, "filtered": {20, 1}} {
		x := drawn(rand.New(rand.NewPCG(1, 2)), 2000, c.d, "normal")
		for looks := int64(0); looks < 250; looks += 31 {
			ctx := &expiring{Context: t.Context()}
			ctx.looks.Store(looks)
			index, _, err := Rows(ctx, x, x, c.k, Settings{})
			if !errors.Is(err, context.Canceled) || index != nil {
				t.Fatalf("%s, %d looks: error %v", name, looks, err)
			}
			if more := -ctx.looks.Load(); more > 5 {
				t.Fatalf("%s, %d looks: %d more after the end", name, looks, more)
			}
		}
	}
}

func TestProgress(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	for _, d := range []int{2, 20} {
		x := drawn(rand.New(rand.NewPCG(1, 2)), 300, d, "normal")
		last := 0
		_, _, err := Rows(t.Context(), x, x, 2, Settings{Workers: workers, Progress: func(done, total int) {
			if done <= last || total != 300 {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		}})
		if err != nil || last != 300 {
			t.Errorf("error %v, progress ends at %d", err, last)
		}
	}
}
