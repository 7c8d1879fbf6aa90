package codes

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// A survey finds directions where there are some. It is not taken in by the directions
// that a sample of points without any has by chance.
func TestSurveyFindsDirections(t *testing.T) {
	const n, d, hidden = 1_000_000, 384, 40
	workers := par.New(1)
	defer workers.Close()
	for _, test := range []struct {
		name  string
		noise float64 // of every coordinate
		size  float64 // along the hidden directions
		most  int     // depth
	}{
		{"directions", 0.01, 1, 128},
		{"none", 1, 0, d},
	} {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(61, 62))
			basis := make([]float64, hidden*d)
			for i := range basis {
				basis[i] = rng.NormFloat64() / math.Sqrt(d)
			}
			// Points are made when they are asked for, as if there were n of them.
			points := map[int][]float32{}
			row := func(i int) []float32 {
				if points[i] == nil {
					rng, x := rand.New(rand.NewPCG(63, uint64(i))), make([]float64, d)
					for h := range hidden {
						v := rng.NormFloat64() * test.size
						for c := range x {
							x[c] += v * basis[h*d+c]
						}
					}
					points[i] = make([]float32, d)
					for c, v := range x {
						points[i][c] = float32(v + rng.NormFloat64()*test.noise)
					}
				}
				return points[i]
			}
			radius := 0.6 * math.Sqrt(2*(d*test.noise*test.noise+hidden*test.size*test.size))
			req := &rows.Request{Kernels: simd.At(simd.Best()), Workers: workers}
			s, err := takeSurvey(context.Background(), n, d, row, radius, req)
			if err != nil {
				t.Fatal(err)
			}
			p := s.projection
			if (p.depth == d) != (test.most == d) || p.depth > test.most {
				t.Errorf("depth %d, want at most %d", p.depth, test.most)
			}
			// What the survey expects holds for points it has not seen.
			others := func(i int) []float32 { return row(n + i) }
			near, _, err := p.sample(context.Background(), others, 512, radius, false, req)
			if err != nil {
				t.Fatal(err)
			}
			if near > 0.01 {
				t.Errorf("codes of depth %d leave %g of the pairs", p.depth, near)
			}
		})
	}
}
