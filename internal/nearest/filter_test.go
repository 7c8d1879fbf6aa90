package nearest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

func filterOf(t *testing.T, queries, gallery blas64.General, k int, level simd.Level) *filter[blas64.General] {
	t.Helper()
	s := &search[blas64.General]{
		queries: queries, queryRows: upTo(queries.Rows), gallery: gallery, galleryRows: upTo(gallery.Rows), d: gallery.Cols, k: k,
		index: make([]int, k*queries.Rows), squared: make([]float64, k*queries.Rows),
	}
	f, err := newFilter(t.Context(), s, Settings{Kernels: simd.At(level)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The bounds hold for every pair: the upper one is not below the deciding sum, and a limit
// set to that sum lets the row pass. So a wrong bound shows without rare random cases.
func TestBounds(t *testing.T) {
	for kind, k := range kinds {
		for _, d := range []int{1, 2, 17, 64, 700} {
			rng := rand.New(rand.NewPCG(uint64(d), 9))
			queries, gallery := drawn(rng, 70, d, kind), drawn(rng, 130, d, kind)
			copy(gallery.Data, queries.Data[:30*queries.Stride]) // some are at distance 0
			sums := reference(queries, gallery, anyRow, gallery.Rows)
			for _, level := range simd.Levels() {
				f := filterOf(t, queries, gallery, 1, level)
				if f == nil {
					if !k.hard {
						t.Fatalf("%s: no filter", kind)
					}
					continue
				}
				if k.hard {
					t.Fatalf("%s: a filter", kind)
				}
				checkBounds(t, fmt.Sprintf("%s, d=%d, %v", kind, d, level), f, sums)
			}
		}
	}
}

func checkBounds(t *testing.T, name string, f *filter[blas64.General], sums ranking) {
	t.Helper()
	products := make([]float32, 1)
	y, row := make([]float32, f.d), make([]float64, f.d)
	n := len(f.galleryRows)
	for q := range f.queryRows {
		copy(row, f.queries.Data[q*f.queries.Stride:][:f.d])
		norm, missed := f.round(y, row)
		for at := range n {
			g := sums.index[q*n+at]
			square := sums.squared[q*n+at] * f.scale * f.scale
			f.kernels.Dots(simd.RowsOf(products, 1), simd.RowsOf(y, f.d), simd.RowsOf(f.image[g*f.d:], f.d), 1, 1, f.d)
			if upper := f.upper(norm, missed, g, products[0]); !(upper >= square) {
				t.Fatalf("%s: query %d, row %d: upper bound %g, squared distance %g", name, q, g, upper, square)
			}
			if !f.stays(f.limitOf(norm, missed, square), g, products[0]) {
				t.Fatalf("%s: query %d, row %d: dropped by its own distance", name, q, g)
			}
		}
	}
}

// The bound of round is not below the rounding error of a row, by exact arithmetic.
func TestRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for kind, k := range kinds {
		if k.hard {
			continue
		}
		x := drawn(rng, 40, 30, kind)
		f := filterOf(t, x, x, 1, simd.Generic)
		y := make([]float32, f.d)
		for i := range x.Rows {
			row := x.Data[i*x.Stride:][:f.d]
			_, missed := f.round(y, row)
			off, scale := new(big.Rat), new(big.Rat).SetFloat64(f.scale)
			for j, v := range row {
				e, c := new(big.Rat).SetFloat64(v), new(big.Rat).SetFloat64(f.centre[j])
				e.Mul(e.Sub(e, c), scale)
				e.Sub(e, new(big.Rat).SetFloat64(float64(y[j])))
				off.Add(off, e.Mul(e, e))
			}
			bound := new(big.Rat).SetFloat64(missed)
			if off.Cmp(bound.Mul(bound, bound)) > 0 {
				t.Fatalf("%s: row %d lost more than %g", kind, i, missed)
			}
		}
	}
}

// Limits and upper bounds are as in the comment of filter, for errors of any size: with real
// rows the errors hide each other.
func TestLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	part := func() float64 { return rng.Float64() * float64(rng.IntN(2)) }
	kept, dropped := 0, 0
	for range 20000 {
		f := &filter[blas64.General]{b: part() / 4, tiny: part() / 4, u: part() / 4, norm: []float64{rng.Float64()}, missed: []float64{part()}}
		norm, missed, upper, p := rng.Float64(), part(), part(), rng.Float32()-0.5
		both := norm + f.norm[0] - 2*float64(p)
		loss := f.b*(norm+f.norm[0]) + f.tiny
		errors := missed + f.missed[0]
		want := math.Pow(math.Sqrt(max(both+loss, 0))+errors, 2) + f.u
		if got := f.upper(norm, missed, 0, p); math.Abs(got-want) > 1e-9 {
			t.Fatalf("upper bound %g, want %g", got, want)
		}
		near := math.Sqrt(max(both-loss, 0))
		reach := math.Sqrt(upper+f.u) + errors
		if math.Abs(near-reach) < 1e-9 {
			continue
		}
		stays := f.stays(f.limitOf(norm, missed, upper), 0, p)
		if stays != (near < reach) {
			t.Fatalf("a row at %g or more stays within %g: %v", near, reach, stays)
		}
		if stays {
			kept++
		} else {
			dropped++
		}
	}
	if min(kept, dropped) < 1000 {
		t.Errorf("%d kept, %d dropped: the cases are no test", kept, dropped)
	}
}

// The filter serves its purpose: of ordinary rows, also far from the origin, it leaves
// little more than the k nearest; of rows that are all equal it computes all.
func TestFilterLeavesFew(t *testing.T) {
	const n, nq, k = 3000, 5, 8
	for kind, most := range map[string]int{"normal": 2 * k, "far off": 2 * k, "outlier": 2 * k, "large": 2 * k} {
		for _, d := range []int{64, 300} {
			rng := rand.New(rand.NewPCG(uint64(d), 9))
			f := filterOf(t, drawn(rng, nq, d, kind), drawn(rng, n, d, kind), k, simd.Best())
			tile := newFiltered(f)
			for i := range nq {
				tile.begin(i, i)
			}
			for lo := 0; lo < n; lo += f.galleryTile {
				hi := min(lo+f.galleryTile, n)
				tile.multiply(nq, lo, hi)
				for i := range nq {
					tile.look(i, lo, hi)
				}
			}
			for i := range nq {
				if i == 3 && kind == "outlier" {
					continue // the far row: all others are equally far from it
				}
				if tile.drop(&tile.state[i]); len(tile.state[i].kept) > most {
					t.Errorf("%s, d=%d: query %d keeps %d rows", kind, d, i, len(tile.state[i].kept))
				}
			}
		}
	}
}

// There are more rows at one distance than a query keeps.
func TestFilterMakesRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, kind := range []string{"equal", "duplicates", "ties"} {
		queries, gallery := drawn(rng, 33, 16, kind), drawn(rng, 6000, 16, kind)
		index, squared, err := Rows(t.Context(), queries, gallery, 300, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		sameRanking(t, kind, ranking{index, squared}, reference(queries, gallery, anyRow, 300))
	}
}
