package kernel

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// Points have the box that a plain loop finds, with gaps between rows and without, by any
// workers and at every level.
func TestPointsHaveTheirBox(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{1, 2, 3, maxDirect, maxDirect + 1, 40} {
			given := pointtest.Make(kind, 700, d, 9)
			apart := gapped(given.Rows, d, 3)
			for i := range given.Rows {
				copy(apart.Data[i*apart.Stride:], given.Data[i*d:][:d])
			}
			for _, p := range []blas32.General{given, apart} {
				want := pointtest.Open(p)
				for _, level := range simd.Levels() {
					got, err := points32(p, &Options{Kernels: simd.At(level), Workers: workers})
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
