package dense_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// The coordinates of rows have the distances of the rows, and Back maps the rows to the same
// points as a matrix maps their coordinates, for numbers of any size.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		n, d int
		size float64
	}{{1, 5, 1}, {7, 40, 1}, {60, 300, 1e18}, {130, 131, 1e-15}, {90, 2000, 1e30}} {
		random := rand.New(rand.NewPCG(uint64(c.n), 1))
		x := blas32.General{Rows: c.n, Cols: c.d, Stride: c.d + 3, Data: make([]float32, c.n*(c.d+3))}
		mean, scale := make([]float64, c.d), make([]float64, c.d)
		for j := range c.d {
			mean[j], scale[j] = c.size*random.NormFloat64(), 0.5+random.Float64()
		}
		moved := mat.NewDense(c.n, c.d, nil)
		for i := range c.n {
			for j := range c.d {
				v := float32(c.size * (random.NormFloat64() + float64(i%3)))
				x.Data[i*x.Stride+j] = v
				moved.Set(i, j, (float64(v)-mean[j])*scale[j])
			}
		}
		var core dense.Core
		span, err := core.NewSpan(t.Context(), x, mean, scale)
		if err != nil {
			t.Fatal(err)
		}
		at := span.Coordinates()
		norms := 0.0
		for i := range c.n {
			row := mat.Row(nil, i, moved)
			norms += mat.Dot(mat.NewVecDense(c.d, row), mat.NewVecDense(c.d, row)) / float64(c.n)
		}
		factor := 0.0 // of the coordinates, a power of two
		for i := range c.n {
			for j := range i {
				var far, near float64
				for k := range c.d {
					far += math.Pow(moved.At(i, k)-moved.At(j, k), 2)
				}
				for k := range c.n {
					near += math.Pow(float64(at.Data[i*at.Stride+k]-at.Data[j*at.Stride+k]), 2)
				}
				if factor == 0 {
					factor = math.Exp2(math.Round(math.Log2(far / near)))
				}
				if math.Abs(near*factor-far) > 1e-4*norms {
					t.Fatalf("%d x %d: rows %d and %d are %g apart, their coordinates %g", c.n, c.d, i, j, far, near*factor)
				}
			}
		}
		a := mat.NewDense(c.n, 4, nil)
		for i := range c.n {
			for j := range 4 {
				a.Set(i, j, random.NormFloat64())
			}
		}
		back, err := span.Back(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		var got mat.Dense
		got.Mul(moved, back)
		for i := range c.n {
			for j := range 4 {
				want := 0.0
				for k := range c.n {
					want += float64(at.Data[i*at.Stride+k]) * a.At(k, j)
				}
				if math.Abs(got.At(i, j)-want) > 1e-2*math.Sqrt(float64(c.n)) {
					t.Fatalf("%d x %d: row %d is at %g, its coordinates at %g", c.n, c.d, i, got.At(i, j), want)
				}
			}
		}
	}
}

func TestSpanRefuses(t *testing.T) {
	var core dense.Core
	x := blas32.General{Rows: 3, Cols: 5, Stride: 5, Data: make([]float32, 15)}
	if _, err := core.NewSpan(t.Context(), x, make([]float64, 5), nil); !errors.Is(err, dense.ErrNotDefinite) {
		t.Errorf("equal rows: %v", err)
	}
	if _, err := core.NewSpan(t.Context(), x, make([]float64, 4), nil); !errors.Is(err, points.ErrShape) {
		t.Errorf("a mean of four: %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := core.NewSpan(t.Context(), x, make([]float64, 5), []float64{1, 1, bad, 1, 1}); !errors.Is(err, points.ErrNonFinite) {
			t.Errorf("a scale of %g: %v", bad, err)
		}
		if _, err := core.NewSpan(t.Context(), x, []float64{1, bad, 1, 1, 1}, nil); !errors.Is(err, points.ErrNonFinite) {
			t.Errorf("a mean of %g: %v", bad, err)
		}
	}
	x.Data[7] = float32(math.NaN())
	if _, err := core.NewSpan(t.Context(), x, make([]float64, 5), nil); !errors.Is(err, points.ErrNonFinite) {
		t.Errorf("not a number: %v", err)
	}
	x.Data[7] = 1
	span, err := core.NewSpan(t.Context(), x, make([]float64, 5), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := span.Back(t.Context(), mat.NewDense(2, 2, nil)); !errors.Is(err, points.ErrShape) {
		t.Errorf("a matrix of two rows: %v", err)
	}
}
