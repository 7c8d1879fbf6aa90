package codes

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// Each cluster has another one just beyond the radius, whose rows come many times. Bounds of
// what a point leaves out count them all, with balls around tiles.
func TestTailsCountEqualRows(t *testing.T) {
	const clusters, size, copies, d, radius, gamma = 20, 30, 20, 9, 1.0, 1.0
	rng := pointtest.Rand(5)
	x := blas32.General{Cols: d, Stride: d}
	for range clusters {
		centre := make([]float64, d)
		for c := range centre {
			centre[c] = 20 * rng.NormFloat64()
		}
		for i := range 2 * size {
			row := make([]float32, d)
			for c := range row {
				row[c] = float32(centre[c] + 0.01*rng.NormFloat64())
			}
			times := 1
			if i >= size {
				row[0] += 1.2
				times = copies
			}
			for range times {
				x.Data = append(x.Data, row...)
				x.Rows++
			}
		}
	}
	p := pointtest.Open(x)
	found, err := Search(t.Context(), &rows.Request{Points: p, Radius: radius, Gamma: gamma, Memory: 1 << 40, Kernels: simd.At(simd.Best())})
	if err != nil {
		t.Fatal(err)
	}
	if !found.Stats.Balls || found.Group == nil {
		t.Fatalf("no balls or no equal rows: %+v", found.Stats)
	}
	r2 := rows.RadiusSquared(radius)
	for i := 0; i < len(found.Tails); i += 17 {
		left := 0.0
		for j := range found.Tails {
			if d2 := found.Distance(i, j); d2 > r2 {
				left += found.Multiplicity(j) * math.Exp(-gamma*d2)
			}
		}
		if found.Tails[i] < left*(1-1e-12) {
			t.Fatalf("point %d leaves out %g, its bound is %g", i, left, found.Tails[i])
		}
	}
}

// A pair whose distance is the radius is found, and a pair beyond it by one rounding is not.
func TestPairsAtTheRadius(t *testing.T) {
	const n, d = 300, 9
	p := pointtest.Open(pointtest.Make("uniform", n, d, 3))
	rng := pointtest.Rand(4)
	for range 10 {
		root := math.Sqrt(p.Dist2(rng.IntN(n/2), n/2+rng.IntN(n/2)))
		for _, radius := range []float64{root, math.Nextafter(root, 0)} {
			want, r2 := 0, rows.RadiusSquared(radius)
			for i := range n {
				for j := range n {
					if i != j && p.Dist2(i, j) <= r2 {
						want++
					}
				}
			}
			found, err := Search(t.Context(), &rows.Request{Points: p, Radius: radius, Gamma: 1, Memory: 1 << 40, Kernels: simd.At(simd.Best())})
			if err != nil {
				t.Fatal(err)
			}
			if got := found.Weights.NNZ(); got != want {
				t.Errorf("radius %g: %d weights, want %d", radius, got, want)
			}
		}
	}
}
