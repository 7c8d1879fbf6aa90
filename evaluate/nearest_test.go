package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// reference is the definition: all distances by one plain loop, then a sort.
func reference(queries, gallery blas64.General, allowed func(q, g int) bool, k int) *Ranking {
	r := &Ranking{K: k}
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
			r.Index = append(r.Index, c.row)
			r.SquaredDistance = append(r.SquaredDistance, c.squaredDistance)
		}
	}
	return r
}

func equalRankings(t interface{ Errorf(string, ...any) }, name string, got, want *Ranking) {
	if got.K != want.K || !slices.Equal(got.Index, want.Index) {
		t.Errorf("%s: neighbours %v, want %v", name, got.Index, want.Index)
	}
	if !slices.Equal(got.SquaredDistance, want.SquaredDistance) {
		t.Errorf("%s: distances differ", name)
	}
}

func anyRow(q, g int) bool { return true }

// random draws rows with padding behind them. Coordinates are small integers
// when ties are wanted.
func drawn(rng *rand.Rand, n, d int, ties bool) blas64.General {
	x := blas64.General{Rows: n, Cols: d, Stride: d + 2, Data: make([]float64, n*(d+2))}
	for i := range x.Data {
		x.Data[i] = math.NaN()
	}
	for i := range n {
		for j := range d {
			v := rng.NormFloat64()
			if ties {
				v = float64(rng.IntN(3))
			}
			x.Data[i*x.Stride+j] = v
		}
	}
	return x
}

func TestNearestAgainstReference(t *testing.T) {
	// Sizes around the tile of 32 queries, the pair of queries, the panel of 4
	// gallery rows, and the 256 rows between two looks at the context.
	for _, c := range []struct{ nq, n, d, k int }{
		{1, 1, 1, 1}, {1, 4, 3, 4}, {2, 5, 1, 3}, {31, 7, 5, 2}, {32, 8, 2, 8},
		{33, 9, 17, 9}, {65, 255, 4, 10}, {3, 257, 64, 257}, {5, 513, 8, 3}, {4, 6, 0, 5}, {0, 3, 2, 1},
	} {
		for _, ties := range []bool{false, true} {
			t.Run(fmt.Sprintf("nq=%d/n=%d/d=%d/k=%d/ties=%v", c.nq, c.n, c.d, c.k, ties), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(c.n), 1))
				queries, gallery := drawn(rng, c.nq, c.d, ties), drawn(rng, c.n, c.d, ties)
				got, err := Nearest(t.Context(), queries, gallery, c.k, nil)
				if err != nil {
					t.Fatal(err)
				}
				equalRankings(t, "nearest", got, reference(queries, gallery, anyRow, c.k))
				if got.Queries() != c.nq {
					t.Errorf("%d queries", got.Queries())
				}
			})
		}
	}
}

// Far from the origin the expanded form |a|^2 + |b|^2 - 2 a'b keeps no digit of
// these distances; the differences are exact. The true order is that of exact
// rational arithmetic.
func TestNearestFarFromOrigin(t *testing.T) {
	const n, d, offset = 40, 6, 1 << 30
	rng := rand.New(rand.NewPCG(3, 4))
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range x.Data {
		x.Data[i] = offset + rng.NormFloat64()/1024
	}
	query := blas64.General{Rows: 1, Cols: d, Stride: d, Data: x.Data[:d]}
	gallery := blas64.General{Rows: n - 1, Cols: d, Stride: d, Data: x.Data[d:]}
	got, err := Nearest(t.Context(), query, gallery, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	exact := make([]*big.Rat, n-1)
	order := make([]int, n-1)
	for g := range exact {
		order[g] = g
		exact[g] = new(big.Rat)
		for j := range d {
			var a, b big.Rat
			a.SetFloat64(query.Data[j])
			b.SetFloat64(gallery.Data[g*d+j])
			a.Sub(&a, &b)
			exact[g].Add(exact[g], a.Mul(&a, &a))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return exact[a].Cmp(exact[b]) })
	if !slices.Equal(got.Row(0), order[:5]) {
		t.Errorf("neighbours %v, want %v", got.Row(0), order[:5])
	}
}

// Rows of one matrix, any lists, any number of workers, either storage: always
// what the definition says, bit for bit.
func TestNearestWithinProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 80).Draw(t, "n")
		d := rapid.IntRange(1, 9).Draw(t, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x := drawn(rng, n, d, rapid.Bool().Draw(t, "ties"))
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
		for _, workers := range []int{0, 1, 2, 7} {
			got, err := NearestWithin(context.Background(), x, queries, gallery, k, &SearchSettings{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			equalRankings(t, fmt.Sprintf("workers=%d", workers), got, want)
		}
	})
}

func TestNearestReadsBothStorages(t *testing.T) {
	x, err := synth.Uniform(50, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	wide := blas64.General{Rows: 50, Cols: 3, Stride: 3, Data: make([]float64, 150)}
	for i, v := range x.Data {
		wide.Data[i] = float64(v)
	}
	rows := upTo(50)
	a, errA := NearestWithin(t.Context(), x, rows, rows, 49, nil)
	b, errB := NearestWithin(t.Context(), wide, rows, rows, 49, nil)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	equalRankings(t, "float32", a, b)
}

func TestNearestErrors(t *testing.T) {
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
		{"k zero", ok, ok, 0, ErrShape},
		{"k above gallery", ok, ok, 4, ErrShape},
		{"dimensions", ok, thin, 1, ErrShape},
		{"storage of queries", short, ok, 1, ErrShape},
		{"storage of gallery", ok, short, 1, ErrShape},
		{"nan query", nan, ok, 1, ErrNonFinite},
		{"nan gallery", ok, nan, 1, ErrNonFinite},
	} {
		if _, err := Nearest(t.Context(), c.queries, c.gallery, c.k, nil); !errors.Is(err, c.want) {
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
		{"own row counts as answer", []int{0}, []int{0, 1}, 2, ErrShape},
		{"no gallery", []int{0}, nil, 1, ErrShape},
	} {
		if _, err := NearestWithin(t.Context(), ok, c.queries, c.gallery, c.k, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	if r, err := NearestWithin(t.Context(), ok, []int{0}, []int{1, 2}, 2, nil); err != nil || !slices.Equal(r.Index, []int{1, 2}) {
		t.Errorf("disjoint lists need no room: %v, %v", r, err)
	}
}

func TestNearestStops(t *testing.T) {
	x, err := synth.Uniform(20000, 64, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	// All pairs would take more than ten seconds.
	if _, err := Nearest(ctx, x, x, 1, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("stopped after %v", took)
	}
}

func TestSquaredDistances(t *testing.T) {
	a, b := []float64{1, 2}, []float64{-1, 0}
	panel := []float64{
		0, 1, 2, 3, // first coordinates of the four rows
		5, 2, 0, -1,
	}
	want := [8]float64{1 + 9, 0, 1 + 4, 4 + 9, 1 + 25, 4 + 4, 9, 16 + 1}
	if got := squaredDistances(a, b, panel); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, c := range []struct{ nq, n, d int }{{397, 1000, 64}, {64, 8000, 1280}} {
		queries, errQ := synth.Uniform(c.nq, c.d, 1)
		gallery, errG := synth.Uniform(c.n, c.d, 2)
		if errQ != nil || errG != nil {
			b.Fatal(errQ, errG)
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("q=%d/n=%d/d=%d/k=8/workers=%d", c.nq, c.n, c.d, workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Nearest(b.Context(), queries, gallery, 8, &SearchSettings{Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(c.nq)*float64(c.n)*float64(c.d)/b.Elapsed().Seconds()/1e9, "Gdiff/s")
			})
		}
	}
}
