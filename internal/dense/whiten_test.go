package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
)

// definite returns a random positive definite matrix whose rows differ in scale.
func definite(rng *rand.Rand, d int) *mat.SymDense {
	a := mat.NewDense(d, d+2, nil)
	a.Apply(func(i, _ int, _ float64) float64 { return rng.NormFloat64() * math.Pow(10, float64(i%5-2)) }, a)
	var s mat.SymDense
	s.SymOuterK(1, a)
	for i := range d {
		s.SetSym(i, i, s.At(i, i)*1.1)
	}
	return &s
}

// L' A is the identity with gonum's factor L, for sizes around the side of a block, and
// the bits are the same for any number of workers.
func TestWhiten(t *testing.T) {
	for _, d := range []int{1, 2, 7, 63, 64, 65, 128, 150, 200} {
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) {
			s := definite(rand.New(rand.NewPCG(uint64(d), 1)), d)
			var want *mat.TriDense
			for _, count := range []int{1, 2, 3} {
				workers := par.New(count)
				defer workers.Close()
				calls := 0
				core := Core{Workers: workers, Progress: func(done, total int) { calls++ }}
				a, err := core.Whiten(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if calls == 0 {
					t.Error("no progress")
				}
				if want == nil {
					want = a
				} else if !mat.Equal(a, want) {
					t.Errorf("%d workers give other bits", count)
				}
			}
			var chol mat.Cholesky
			if !chol.Factorize(s) {
				t.Fatal("reference failed")
			}
			var l mat.TriDense
			chol.LTo(&l)
			var product mat.Dense
			product.Mul(l.T(), want)
			for i := range d {
				for j := range d {
					expect := 0.0
					if i == j {
						expect = 1
					}
					if math.Abs(product.At(i, j)-expect) > 1e-9 {
						t.Fatalf("L'A (%d, %d) is %v", i, j, product.At(i, j))
					}
				}
			}
		})
	}
}

func TestWhitenErrors(t *testing.T) {
	core := &Core{}
	for _, d := range []int{1, 3, 130} {
		s := mat.NewSymDense(d, nil)
		for i := range d {
			s.SetSym(i, i, 1)
		}
		s.SetSym(d-1, d-1, -1)
		if _, err := core.Whiten(t.Context(), s); !errors.Is(err, ErrNotDefinite) {
			t.Errorf("d=%d, indefinite: %v", d, err)
		}
		s.SetSym(d-1, d-1, 0)
		if _, err := core.Whiten(t.Context(), s); !errors.Is(err, ErrNotDefinite) {
			t.Errorf("d=%d, singular: %v", d, err)
		}
		s.SetSym(0, d-1, math.NaN())
		if _, err := core.Whiten(t.Context(), s); !errors.Is(err, points.ErrNonFinite) {
			t.Errorf("d=%d, NaN: %v", d, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := core.Whiten(ctx, definite(rand.New(rand.NewPCG(1, 1)), 70)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := core.Whiten(t.Context(), &mat.SymDense{}); !errors.Is(err, points.ErrShape) {
		t.Errorf("empty: %v", err)
	}
}
