package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// rough returns rows whose columns differ a lot: scales from 1e-3 to 1e3, raised to the
// power wild, and means up to a thousand times the scale. Each row is followed by a
// NaN.
func rough(rng *rand.Rand, n, d int, wild float64) blas32.General {
	x := blas32.General{Rows: n, Cols: d, Stride: d + 3, Data: make([]float32, n*(d+3))}
	for i := range x.Data {
		x.Data[i] = float32(math.NaN())
	}
	for j := range d {
		scale := math.Pow(10, wild*float64(j%7-3))
		mean := scale * []float64{0, 1, -30, 1000}[j%4]
		for i := range n {
			x.Data[i*x.Stride+j] = float32(mean + scale*rng.NormFloat64())
		}
	}
	return x
}

// classes puts n rows into 5 classes, some into none.
func classes(rng *rand.Rand, n int) []int32 {
	class := make([]int32, n)
	for i := range class {
		class[i] = int32(rng.IntN(min(6, n+1))) - 1
	}
	return class
}

// plainMeans and plainGram are the definitions.
func plainMeans(x blas32.General, class []int32) *mat.Dense {
	means, count := mat.NewDense(max(x.Rows, 1), x.Cols, nil), make([]float64, max(x.Rows, 1))
	for i := range x.Rows {
		at := 0
		if class != nil {
			at = int(class[i])
		}
		if at < 0 {
			continue
		}
		count[at]++
		for j := range x.Cols {
			means.Set(at, j, means.At(at, j)+float64(x.Data[i*x.Stride+j]))
		}
	}
	for at, n := range count {
		for j := range x.Cols {
			if n > 0 {
				means.Set(at, j, means.At(at, j)/n)
			}
		}
	}
	return means
}

func plainGram(x blas32.General, class []int32, centres *mat.Dense) *mat.SymDense {
	s := mat.NewSymDense(x.Cols, nil)
	row := mat.NewVecDense(x.Cols, nil)
	for i := range x.Rows {
		at := 0
		if class != nil {
			at = int(class[i])
		}
		if at < 0 {
			continue
		}
		for j := range x.Cols {
			row.SetVec(j, float64(x.Data[i*x.Stride+j])-centres.At(at, j))
		}
		s.SymRankOne(s, 1, row)
	}
	return s
}

// The stated bound holds at every level, for shapes around the blocks, for columns that
// differ a lot, with and without classes. The bits are the same for any number of
// workers.
func TestGram(t *testing.T) {
	const bound = (sumRows/4 + 9) * 0x1p-24
	for _, c := range []struct{ n, d int }{{1, 1}, {1, 9}, {5, 1}, {255, 3}, {256, 64}, {257, 65}, {700, 37}, {2050, 130}} {
		for _, wild := range []float64{0, 1, 10} {
			for _, classed := range []bool{false, true} {
				rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.d)))
				x := rough(rng, c.n, c.d, wild)
				var class []int32
				if classed {
					class = classes(rng, c.n)
				}
				want := plainGram(x, class, plainMeans(x, class))
				for _, level := range simd.Levels() {
					name := fmt.Sprintf("n=%d d=%d wild=%g classes=%v %v", c.n, c.d, wild, classed, level)
					var first *mat.SymDense
					for _, count := range []int{1, 3} {
						got := gramOn(t, count, level, x, class)
						if first == nil {
							first = got
						} else if !mat.Equal(first, got) {
							t.Errorf("%s: %d workers give other bits", name, count)
						}
					}
					for i := range c.d {
						for j := range c.d {
							off := math.Abs(first.At(i, j) - want.At(i, j))
							if most := math.Sqrt(want.At(i, i) * want.At(j, j)); !(off <= bound*most) {
								t.Fatalf("%s: (%d, %d) is off by %g of %g", name, i, j, off, most)
							}
						}
					}
				}
			}
		}
	}
}

func gramOn(t *testing.T, count int, level simd.Level, x blas32.General, class []int32) *mat.SymDense {
	t.Helper()
	workers := par.New(count)
	defer workers.Close()
	last, all := 0, -1
	core := Core{Workers: workers, Kernels: simd.At(level)}
	means, err := core.Means(t.Context(), x, class)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := means.Dims()
	if want := plainMeans(x, class).Slice(0, rows, 0, x.Cols); !mat.EqualApprox(means, want, 1e-14) {
		t.Error("means differ from their definition")
	}
	core.Progress = func(done, total int) {
		if done <= last || done > total {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last, all = done, total
	}
	got, err := core.Gram(t.Context(), x, class, means)
	if err != nil {
		t.Fatal(err)
	}
	if last != all {
		t.Errorf("progress ends at %d of %d", last, all)
	}
	return got
}

func TestGramErrors(t *testing.T) {
	core := &Core{}
	x := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	nan := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, float32(math.NaN())}}
	zero := mat.NewDense(1, 2, nil)
	for _, c := range []struct {
		name    string
		x       blas32.General
		class   []int32
		centres *mat.Dense
		want    error
	}{
		{"empty", blas32.General{Cols: 2, Stride: 2}, nil, zero, points.ErrShape},
		{"short", blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 3)}, nil, zero, points.ErrShape},
		{"NaN", nan, nil, zero, points.ErrNonFinite},
		{"class numbers", x, []int32{0}, zero, points.ErrShape},
		{"class below", x, []int32{0, -2}, zero, points.ErrShape},
		{"class beyond the rows", x, []int32{0, math.MaxInt32}, zero, points.ErrShape},
		{"class without centre", x, []int32{0, 1}, zero, points.ErrShape},
		{"no centres", x, nil, nil, points.ErrShape},
		{"wrong centres", x, nil, mat.NewDense(1, 3, nil), points.ErrShape},
		{"NaN centre", x, nil, mat.NewDense(1, 2, []float64{0, math.NaN()}), points.ErrNonFinite},
		{"overflow", x, nil, mat.NewDense(1, 2, []float64{0, 1e200}), points.ErrNonFinite},
	} {
		if _, err := core.Gram(t.Context(), c.x, c.class, c.centres); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := core.Means(t.Context(), nan, nil); !errors.Is(err, points.ErrNonFinite) {
		t.Errorf("means of NaN: %v", err)
	}
	if _, err := core.Means(t.Context(), x, []int32{5, 0}); !errors.Is(err, points.ErrShape) {
		t.Errorf("means of a class beyond the rows: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := core.Means(ctx, x, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("means, cancelled: %v", err)
	}
	if _, err := core.Gram(ctx, x, nil, zero); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A cancelled call stops and returns the error of its context.
func TestGramStops(t *testing.T) {
	x := rough(rand.New(rand.NewPCG(1, 1)), 3*roundBlocks*sumRows, 2, 0)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	core := &Core{Progress: func(done, total int) { calls++; cancel() }}
	if _, err := core.Gram(ctx, x, nil, mat.NewDense(1, 2, nil)); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("error %v after %d rounds", err, calls)
	}
}
