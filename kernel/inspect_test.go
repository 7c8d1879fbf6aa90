package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// Points have the box that a plain loop finds, with gaps between rows and without, by any
// workers and at every level.
func TestPointsHaveTheirBox(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{1, 2, 3, base.MaxDirect, base.MaxDirect + 1, 40} {
			given := pointtest.Make(kind, 700, d, 9)
			apart := gapped(given.Rows, d, 3)
			for i := range given.Rows {
				copy(apart.Data[i*apart.Stride:], given.Data[i*d:][:d])
			}
			for _, p := range []blas32.General{given, apart} {
				want := pointtest.Open(p)
				for _, level := range simd.Levels() {
					got, err := base.Points32(t.Context(), p, &base.Options{Kernels: simd.At(level), Workers: workers})
					if err != nil {
						t.Fatal(err)
					}
					near := got.Radius == want.Radius || math.Abs(got.Radius-want.Radius) <= 1e-12*want.Radius
					if !slices.Equal(got.Lo, want.Lo) || !slices.Equal(got.Hi, want.Hi) || !near || got.N != want.N || got.D != want.D {
						t.Errorf("%s, d=%d, %v: %v to %v, radius %g; want %v to %v, radius %g",
							kind, d, level, got.Lo, got.Hi, got.Radius, want.Lo, want.Hi, want.Radius)
					}
				}
			}
		}
	}
}

// Ranks find the box that one process finds, and all of them refuse what it refuses: the
// first number that is not finite, whichever rank has it.
func TestRanksHaveTheBoxOfOneProcess(t *testing.T) {
	for _, size := range []int{2, 3, 70} { // there are fewer pieces than 70
		for _, d := range []int{1, 3, base.MaxDirect + 1} {
			p := pointtest.Make("clustered", 2000, d, 4)
			want, err := base.Points32(t.Context(), p, &base.Options{Kernels: simd.At(simd.Best())})
			if err != nil {
				t.Fatal(err)
			}
			if err := cluster.Local(size, func(ranks *par.Ranks) error {
				got, err := base.Points32(t.Context(), p, &base.Options{Kernels: simd.At(simd.Best()), Ranks: ranks})
				if err != nil {
					return err
				}
				if !slices.Equal(got.Lo, want.Lo) || !slices.Equal(got.Hi, want.Hi) || got.Radius != want.Radius {
					return fmt.Errorf("%v to %v, radius %g; want %v to %v, radius %g", got.Lo, got.Hi, got.Radius, want.Lo, want.Hi, want.Radius)
				}
				return nil
			}); err != nil {
				t.Errorf("%d ranks, d=%d: %v", size, d, err)
			}
			p.Data[1900*d], p.Data[1234*d+d-1] = float32(math.NaN()), float32(math.Inf(-1))
			if err := cluster.Local(size, func(ranks *par.Ranks) error {
				_, err := base.Points32(t.Context(), p, &base.Options{Kernels: simd.At(simd.Best()), Ranks: ranks})
				if e, ok := errors.AsType[*points.NonFiniteError](err); !ok || e.Row != 1234 || e.Col != d-1 {
					return fmt.Errorf("rank %d: %v", ranks.Rank(), err)
				}
				return nil
			}); err != nil {
				t.Errorf("%d ranks, d=%d, not finite: %v", size, d, err)
			}
		}
	}
}
