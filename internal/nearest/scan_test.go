package nearest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// singles are ways to draw a coordinate of float32, some with squares beyond float32.
var singles = map[string]func(rng *rand.Rand, i, j int) float64{
	"normal":    func(rng *rand.Rand, i, j int) float64 { return rng.NormFloat64() },
	"ties":      func(rng *rand.Rand, i, j int) float64 { return float64(rng.IntN(2)) },
	"far off":   func(rng *rand.Rand, i, j int) float64 { return 1e6 + rng.NormFloat64() },
	"near ties": func(rng *rand.Rand, i, j int) float64 { return float64(rng.IntN(2)) + 1e-6*rng.NormFloat64() },
	"small":     func(rng *rand.Rand, i, j int) float64 { return 1e-22 * rng.NormFloat64() },
	"subnormal": func(rng *rand.Rand, i, j int) float64 { return 0x1p-149 * float64(rng.IntN(9)) },
	"large":     func(rng *rand.Rand, i, j int) float64 { return 1e25 * rng.NormFloat64() },
	"largest":   func(rng *rand.Rand, i, j int) float64 { return 3.4e38 * (2*rng.Float64() - 1) },
	"columns":   func(rng *rand.Rand, i, j int) float64 { return math.Pow(10, float64(-j%60)) * rng.NormFloat64() },
}

// drawnSingle draws rows of float32, and also returns them in float64.
func drawnSingle(rng *rand.Rand, n, d int, kind string) (blas32.General, blas64.General) {
	x := blas32.General{Rows: n, Cols: d, Stride: d + 1, Data: make([]float32, n*(d+1))}
	wide := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range n {
		for j := range d {
			v := float32(singles[kind](rng, i, j))
			x.Data[i*x.Stride+j], wide.Data[i*d+j] = v, float64(v)
		}
	}
	return x, wide
}

// Few queries have the results of the definition, bit for bit, and so have rows within a
// distance that some of them have exactly.
func TestFewQueries(t *testing.T) {
	crew := par.New(3)
	defer crew.Close()
	for kind := range singles {
		for _, d := range []int{1, 15, 16, 65} {
			t.Run(fmt.Sprintf("%s/d=%d", kind, d), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(d), 4))
				gallery, wide := drawnSingle(rng, 2*scanRows+77, d, kind)
				queries, wideQueries := drawnSingle(rng, 3+d/16, d, kind)
				copy(queries.Data[:d], gallery.Data[700*gallery.Stride:]) // one is a row of the gallery
				copy(wideQueries.Data[:d], wide.Data[700*d:])
				all := reference(wideQueries, wide, anyRow, wide.Rows)
				n := wide.Rows
				for _, settings := range []Settings{{}, {Workers: crew}, {Workers: crew, Kernels: simd.At(simd.Generic)}} {
					for _, k := range []int{1, 10, n} {
						index, squared, err := Rows(t.Context(), queries, gallery, k, settings)
						if err != nil {
							t.Fatal(err)
						}
						for q := range queries.Rows {
							sameRanking(t, fmt.Sprintf("k=%d", k), ranking{index[q*k:][:k], squared[q*k:][:k]}, ranking{all.index[q*n:][:k], all.squared[q*n:][:k]})
						}
					}
					for _, limit := range []float64{0, all.squared[40], all.squared[n/2], all.squared[n-1], math.Inf(1)} {
						limit = math.Sqrt(limit)
						found, err := Near(t.Context(), queries, gallery, limit, func(int) bool { return true }, settings)
						if err != nil {
							t.Fatal(err)
						}
						checkNear(t, found, all, n, limit)
					}
				}
			})
		}
	}
}

// checkNear compares neighbours with the rows of a ranking of all rows.
func checkNear(t *testing.T, found *Neighbours, all ranking, n int, limit float64) {
	t.Helper()
	for q := range len(all.index) / n {
		var want []candidate
		for at := q * n; at < (q+1)*n; at++ {
			if math.Sqrt(all.squared[at]) <= limit {
				want = append(want, candidate{all.squared[at], all.index[at]})
			}
		}
		slices.SortFunc(want, func(a, b candidate) int { return a.row - b.row })
		lo, hi := found.Ptr[q], found.Ptr[q+1]
		if int(hi-lo) != len(want) {
			t.Fatalf("query %d has %d rows within %g, want %d", q, hi-lo, limit, len(want))
		}
		for e, c := range want {
			if int(found.Rows[lo+uint64(e)]) != c.row || found.Squared[lo+uint64(e)] != c.squaredDistance {
				t.Fatalf("query %d: row %d at %g, want %v", q, found.Rows[lo+uint64(e)], found.Squared[lo+uint64(e)], c)
			}
		}
	}
}

// The gallery has several stretches, and reserve is called between them.
func TestNearAsksForMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	gallery, wide := drawnSingle(rng, nearRows+scanRows+5, 1, "normal")
	queries, wideQueries := drawnSingle(rng, 2, 1, "normal")
	var asked []int
	found, err := Near(t.Context(), queries, gallery, 1, func(n int) bool { asked = append(asked, n); return true }, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	checkNear(t, found, reference(wideQueries, wide, anyRow, wide.Rows), wide.Rows, 1)
	if len(asked) != 2 || asked[0] >= asked[1] || asked[1] != len(found.Rows) {
		t.Errorf("asked for %v, found %d", asked, len(found.Rows))
	}
	if _, err := Near(t.Context(), queries, gallery, 1, func(n int) bool { return n < asked[1] }, Settings{}); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
	gallery.Data[2] = float32(math.NaN())
	var bad *points.NonFiniteError
	if _, err := Near(t.Context(), queries, gallery, 1, nil, Settings{}); !errors.As(err, &bad) {
		t.Errorf("error %v", err)
	}
}
