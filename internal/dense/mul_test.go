package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// The stated bound holds at every level, for shapes around the blocks and for rows and
// matrices whose scales differ a lot, with any number of workers. Numbers between rows
// stay.
func TestMul(t *testing.T) {
	const bound, u = (sumColumns/4 + 9) * 0x1p-24, 0x1p-24
	for _, c := range []struct{ n, d, m int }{{1, 1, 1}, {3, 5, 2}, {64, 64, 64}, {65, 513, 65}, {130, 40, 7}, {7, 1100, 3}} {
		for _, wild := range []float64{0, 1, 4} {
			rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.d)))
			x := rough(rng, c.n, c.d, wild)
			mean := plainMeans(x, nil).RawRowView(0)
			a := mat.NewDense(c.d, c.m, nil)
			a.Apply(func(i, j int, _ float64) float64 {
				return rng.NormFloat64() * math.Pow(10, wild*float64(3-i%7)) * math.Pow(10, float64(j%9-4))
			}, a)
			if wild == 0 {
				mean = nil
			}
			want, size := plainMul(x, mean, a)
			for _, level := range simd.Levels() {
				name := fmt.Sprintf("n=%d d=%d m=%d wild=%g %v", c.n, c.d, c.m, wild, level)
				out := mulOn(t, 1, level, x, mean, a)
				if other := mulOn(t, 3, level, x, mean, a); !slices.EqualFunc(out.Data, other.Data, sameBits) {
					t.Errorf("%s: 3 workers give other bits", name)
				}
				for i := range c.n {
					for k := range c.m {
						off := math.Abs(float64(out.Data[i*out.Stride+k]) - want[i*c.m+k])
						if !(off <= bound*size[i*c.m+k]+u*math.Abs(want[i*c.m+k])) {
							t.Fatalf("%s: (%d, %d) is off by %g of %g", name, i, k, off, size[i*c.m+k])
						}
					}
					if !math.IsNaN(float64(out.Data[i*out.Stride+c.m])) {
						t.Fatalf("%s: the place after row %d was written", name, i)
					}
				}
			}
		}
	}
}

// plainMul is the definition, with the sums of the magnitudes of products.
func plainMul(x blas32.General, mean []float64, a *mat.Dense) (want, size []float64) {
	d, m := a.Dims()
	want, size = make([]float64, x.Rows*m), make([]float64, x.Rows*m)
	for i := range x.Rows {
		for j := range d {
			v := float64(x.Data[i*x.Stride+j])
			if mean != nil {
				v -= mean[j]
			}
			for k, w := range a.RawRowView(j) {
				want[i*m+k] += v * w
				size[i*m+k] += math.Abs(v * w)
			}
		}
	}
	return want, size
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func mulOn(t *testing.T, count int, level simd.Level, x blas32.General, mean []float64, a mat.Matrix) blas32.General {
	t.Helper()
	workers := par.New(count)
	defer workers.Close()
	_, m := a.Dims()
	out := blas32.General{Rows: x.Rows, Cols: m, Stride: m + 1, Data: make([]float32, x.Rows*(m+1))}
	for i := range out.Data {
		out.Data[i] = float32(math.NaN())
	}
	calls := 0
	core := &Core{Workers: workers, Kernels: simd.At(level), Progress: func(done, total int) { calls++ }}
	if err := core.Mul(t.Context(), out, x, mean, a); err != nil {
		t.Fatal(err)
	}
	if calls == 0 {
		t.Error("no progress")
	}
	return out
}

func TestMulErrors(t *testing.T) {
	core := &Core{}
	x := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	one := mat.NewDense(2, 1, []float64{1, 1})
	out := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float32, 2)}
	nan := math.NaN()
	for _, c := range []struct {
		name string
		out  blas32.General
		x    blas32.General
		mean []float64
		a    *mat.Dense
		want error
	}{
		{"short result", blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float32, 1)}, x, nil, one, points.ErrShape},
		{"wide result", blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: make([]float32, 2)}, x, nil, one, points.ErrShape},
		{"matrix", out, x, nil, mat.NewDense(3, 1, nil), points.ErrShape},
		{"mean", out, x, []float64{1}, one, points.ErrShape},
		{"NaN rows", out, blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, float32(nan)}}, nil, one, points.ErrNonFinite},
		{"NaN mean", out, x, []float64{0, nan}, one, points.ErrNonFinite},
		{"NaN matrix", out, x, nil, mat.NewDense(2, 1, []float64{0, nan}), points.ErrNonFinite},
		{"overflow", out, x, nil, mat.NewDense(2, 1, []float64{0, 1e38}), points.ErrNonFinite},
	} {
		if err := core.Mul(t.Context(), c.out, c.x, c.mean, c.a); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := core.Mul(ctx, out, x, nil, one); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
