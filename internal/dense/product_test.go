package dense

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// The product agrees with gonum's, with the same bits for any number of workers at every level.
func TestProduct(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ n, inner, m int }{{1, 1, 1}, {3, 70, 2}, {33, 5, 65}, {40, 130, 129}} {
		a, b := mat.NewDense(c.n, c.inner, nil), mat.NewDense(c.inner, c.m, nil)
		for _, x := range []*mat.Dense{a, b} {
			x.Apply(func(int, int, float64) float64 { return random.NormFloat64() }, x)
		}
		var want mat.Dense
		want.Mul(a, b)
		first, err := new(Core).Product(t.Context(), a, b)
		if err != nil || !mat.EqualApprox(first, &want, 1e-12) {
			t.Errorf("%v: %v\n%v", c, err, first)
		}
		for _, level := range simd.Levels() {
			workers := par.New(3)
			again, err := (&Core{Workers: workers, Kernels: simd.At(level)}).Product(t.Context(), a, b)
			workers.Close()
			if err != nil || !mat.Equal(first, again) {
				t.Errorf("%v: other bits with three workers at %v: %v", c, level, err)
			}
		}
	}
	if _, err := new(Core).Product(t.Context(), mat.NewDense(2, 3, nil), mat.NewDense(2, 3, nil)); !errors.Is(err, points.ErrShape) {
		t.Errorf("sizes: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(Core).Product(ended, mat.NewDense(2, 2, nil), mat.NewDense(2, 2, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
