package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Groups that are far apart are told apart, however few there are.
func TestLeadersOfFewGroups(t *testing.T) {
	const n, d = 4000, 96
	for _, groups := range []int{3, 5, 9, 12} {
		t.Run(fmt.Sprint(groups), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(groups)))
			centres := fill(groups*d, func(int) float64 { return 3 * rng.NormFloat64() })
			p := blas32.General{Rows: n, Cols: d, Stride: d, Data: fill(n*d, func(i int) float64 {
				return float64(centres[i/d%groups*d+i%d]) + 0.3*rng.NormFloat64()
			})}
			op, err := NewCSR(t.Context(), p, Sigma(2), &Options{CutoffRadius: 0.3 * math.Sqrt(2*d)})
			if err != nil {
				t.Fatal(err)
			}
			if s := op.Search(); !s.Balls {
				t.Errorf("no balls: %+v", s)
			}
		})
	}
}
