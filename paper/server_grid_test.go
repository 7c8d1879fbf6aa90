package paper

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// plain looks at all points.
func plain(x blas64.General, query []float64, k int) []candidate {
	all := make([]candidate, x.Rows)
	for i := range all {
		sum := 0.0
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			t := query[j] - v
			sum += float64(t * t)
		}
		all[i] = candidate{sum, i}
	}
	slices.SortFunc(all, candidate.compare)
	return all[:min(k, len(all))]
}

func TestGridFindsWhatLookingAtAllFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		name  string
		n, k  int
		point func(i int, x []float64)
	}{
		{"one point", 1, 2, func(_ int, x []float64) { x[0], x[1] = 3, 4 }},
		{"line", 500, 1, func(_ int, x []float64) { x[0] = rng.Float64() }},
		{"plane", 3000, 2, func(_ int, x []float64) { x[0], x[1] = rng.Float64(), 1e-9*rng.Float64() }},
		{"space", 3000, 3, nil},
		{"five dimensions", 2000, 5, nil},
		{"clumps and outliers", 3000, 2, func(i int, x []float64) {
			scale := []float64{1e-6, 1, 1e6}[i%97%3]
			for j := range x {
				x[j] = float64(i%7) + scale*rng.NormFloat64()
			}
		}},
		{"few distinct points", 1000, 2, func(i int, x []float64) { x[0], x[1] = float64(i%5), float64(i%3) }},
		{"all equal", 300, 3, func(_ int, x []float64) { x[0], x[1], x[2] = 0.1, 0.2, 0.3 }},
		{"on a lattice, many ties", 2500, 2, func(i int, x []float64) { x[0], x[1] = float64(i%50), float64(i/50) }},
		{"collinear", 2000, 2, func(i int, x []float64) { x[0] = math.Cos(float64(i)); x[1] = 3 * x[0] }},
		{"huge", 500, 2, func(_ int, x []float64) { x[0], x[1] = 1e150*rng.NormFloat64(), 1e150*rng.NormFloat64() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := blas64.General{Rows: c.n, Cols: c.k, Stride: c.k + 1, Data: make([]float64, c.n*(c.k+1))}
			for i := range c.n {
				row := x.Data[i*x.Stride:][:c.k]
				if c.point != nil {
					c.point(i, row)
					continue
				}
				for j := range row {
					row[j] = rng.NormFloat64()
				}
			}
			g := newGrid(x)
			query := make([]float64, c.k)
			for q := range 60 {
				copy(query, x.Data[rng.IntN(c.n)*x.Stride:][:c.k])
				scale := []float64{0, 1e-3, 1, 1e3}[q%4]
				for j := range query {
					query[j] += scale * rng.NormFloat64()
				}
				for _, k := range []int{1, 8, c.n + 1} {
					if k > c.n && q >= 4 {
						continue
					}
					if got, want := g.nearest(query, k), plain(x, query, k); !slices.Equal(got, want) {
						t.Fatalf("query %d: %v, want %v", q, got[:min(8, len(got))], want[:min(8, len(want))])
					}
				}
			}
		})
	}
}

// A search in the plane looks at a small part of the points.
func TestGridLooksAtFewPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	x := blas64.General{Rows: 100_000, Cols: 2, Stride: 2, Data: make([]float64, 200_000)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	g := newGrid(x)
	largest := int32(0)
	for c := range len(g.first) - 1 {
		largest = max(largest, g.first[c+1]-g.first[c])
	}
	if largest > 200 {
		t.Errorf("%d points in a cell", largest)
	}
}

func BenchmarkGridNearest(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 9))
	x := blas64.General{Rows: 100_000, Cols: 2, Stride: 2, Data: make([]float64, 200_000)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	g := newGrid(x)
	query := make([]float64, 2)
	for b.Loop() {
		query[0], query[1] = rng.NormFloat64(), rng.NormFloat64()
		g.nearest(query, 8)
	}
}
