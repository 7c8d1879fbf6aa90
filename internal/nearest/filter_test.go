package nearest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/simd"
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

// The bounds hold for every pair: the upper one is not below the sum that decides, and a
// limit that the sum itself sets lets the row pass. So no random case has to be unlucky for
// a wrong bound to show.
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
	tile, products := newFiltered(f), make([]float32, 1)
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
			s := state{norm: norm, missed: missed, limit: f.limitOf(norm, missed, square), kept: []kept{{g, products[0]}}}
			if tile.drop(&s); len(s.kept) != 1 {
				t.Fatalf("%s: query %d, row %d: dropped by its own distance", name, q, g)
			}
		}
	}
}

// The filter does what it is for: of ordinary rows, also far from the origin, it leaves
// little more than the k nearest, and of rows that are all equal it computes all.
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
					continue // the far row: all others are alike to it
				}
				if tile.drop(&tile.state[i]); len(tile.state[i].kept) > most {
					t.Errorf("%s, d=%d: query %d keeps %d rows", kind, d, i, len(tile.state[i].kept))
				}
			}
		}
	}
}

// More rows at one distance than a query keeps.
func TestFilterMakesRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, kind := range []string{"equal", "duplicates", "ties"} {
		queries, gallery := drawn(rng, 9, 16, kind), drawn(rng, 6000, 16, kind)
		index, squared, err := Rows(t.Context(), queries, gallery, 300, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		sameRanking(t, kind, ranking{index, squared}, reference(queries, gallery, anyRow, 300))
	}
}
