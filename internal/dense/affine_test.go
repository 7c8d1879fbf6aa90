package dense

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Rows that come in any parts have the bits of Mul, with one sum per number and with several.
func TestAffineIsMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	core := new(Core)
	for _, size := range []struct{ n, d, m int }{{1, 1, 1}, {67, 5, 3}, {130, 64, 64}, {70, 513, 66}} {
		x := blas32.General{Rows: size.n, Cols: size.d, Stride: size.d + 1, Data: make([]float32, size.n*(size.d+1))}
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64() * math.Exp(5*rng.NormFloat64()))
		}
		clear(x.Data[:size.d]) // a row of zeros
		mean, a := make([]float64, size.d), mat.NewDense(size.d, size.m, nil)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
		for _, mean := range [][]float64{nil, mean} {
			want := blas32.General{Rows: size.n, Cols: size.m, Stride: size.m, Data: make([]float32, size.n*size.m)}
			if err := core.Mul(t.Context(), want, x, mean, a); err != nil {
				t.Fatal(err)
			}
			affine, err := core.Affine(mean, a)
			if err != nil {
				t.Fatal(err)
			}
			memory := affine.NewMemory()
			for _, part := range []int{1, 13, size.n} {
				got := blas32.General{Rows: size.n, Cols: size.m, Stride: size.m, Data: make([]float32, size.n*size.m)}
				for lo := 0; lo < size.n; lo += part {
					rows := min(part, size.n-lo)
					out := blas32.General{Rows: rows, Cols: size.m, Stride: size.m, Data: got.Data[lo*size.m:]}
					in := blas32.General{Rows: rows, Cols: size.d, Stride: x.Stride, Data: x.Data[lo*x.Stride:]}
					if bad := affine.Rows(memory, out, in); bad >= 0 {
						t.Fatalf("row %d", bad)
					}
				}
				if !slices.EqualFunc(got.Data, want.Data, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
					t.Errorf("%v in parts of %d rows: other bits", size, part)
				}
			}
		}
	}
}

func TestAffineRefuses(t *testing.T) {
	core, one := new(Core), mat.NewDense(1, 1, []float64{1e38})
	if _, err := core.Affine([]float64{1, 2}, one); !errors.Is(err, points.ErrShape) {
		t.Error(err)
	}
	if _, err := core.Affine([]float64{math.NaN()}, one); !errors.Is(err, points.ErrNonFinite) {
		t.Error(err)
	}
	if _, err := core.Affine(nil, mat.NewDense(1, 1, []float64{math.Inf(1)})); !errors.Is(err, points.ErrNonFinite) {
		t.Error(err)
	}
	affine, err := core.Affine(nil, one)
	if err != nil {
		t.Fatal(err)
	}
	x := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 1e10}}
	out := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float32, 2)}
	if bad := affine.Rows(affine.NewMemory(), out, x); bad != 1 {
		t.Errorf("row %d is not finite", bad)
	}
}
