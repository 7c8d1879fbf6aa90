package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/simd"
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

// Points that are their own leaders, four on a line, with 0, 1 or 2, and all 3 of the
// others within reach.
func TestOverlapOfLeaders(t *testing.T) {
	const n, depth = 64, 64
	c := codes.newCodes(n, depth, 1)
	for i := range n {
		c.row(i)[0] = int8(i % 4 * 10)
		c.measure(i)
	}
	for _, test := range []struct{ reach, want float64 }{{5, 0}, {12, 0.5}, {40, 1}} {
		l := &codes.leaders{count: 4, reach: test.reach, codes: codes.newCodes(codes.mostLeaders, depth, 1)}
		for i := range l.count {
			copy(l.codes.row(i), c.row(i))
			l.codes.measure(i)
		}
		if got := l.overlap(c, simd.At(simd.Best())); got != test.want {
			t.Errorf("reach %g: overlap %g, want %g", test.reach, got, test.want)
		}
	}
}
