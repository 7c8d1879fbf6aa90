package dense

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
)

// The result of Solve times r is b. The bits are the same for any number of workers.
func TestSolve(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, d int }{{1, 1}, {1, 7}, {5, 64}, {33, 65}, {70, 130}, {200, 3}} {
		r, b := definite(random, c.d), mat.NewDense(c.n, c.d, nil)
		b.Apply(func(int, int, float64) float64 { return random.NormFloat64() }, b)
		x, err := new(Core).Solve(t.Context(), b, r)
		if err != nil {
			t.Fatal(err)
		}
		var back mat.Dense
		back.Mul(x, r)
		if !mat.EqualApprox(&back, b, 1e-7) {
			t.Errorf("%d x %d: the product is another matrix", c.n, c.d)
		}
		workers := par.New(3)
		again, err := (&Core{Workers: workers}).Solve(t.Context(), b, r)
		workers.Close()
		if err != nil || !mat.Equal(x, again) {
			t.Errorf("%d x %d: three workers make other bits: %v", c.n, c.d, err)
		}
	}
}

func TestSolveErrors(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	bad := mat.NewDense(1, 3, []float64{1, math.NaN(), 0})
	for _, c := range []struct {
		name string
		ctx  context.Context
		b    *mat.Dense
		r    *mat.SymDense
		want error
	}{
		{"sizes", t.Context(), mat.NewDense(2, 4, nil), definite(random, 3), points.ErrShape},
		{"no number", t.Context(), bad, definite(random, 3), points.ErrNonFinite},
		{"not definite", t.Context(), mat.NewDense(1, 3, nil), mat.NewSymDense(3, nil), ErrNotDefinite},
		{"cancelled", ended, mat.NewDense(1, 3, nil), definite(random, 3), context.Canceled},
	} {
		if _, err := new(Core).Solve(c.ctx, c.b, c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
