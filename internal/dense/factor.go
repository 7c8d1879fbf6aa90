package dense

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// ErrNotDefinite reports a matrix that is not positive definite to working precision.
var ErrNotDefinite = errors.New("matrix is not positive definite; add a ridge to its diagonal")

// side is the number of columns that stay in registers, or in the cache of a core, while
// rows are added to them.
const side = 64

// factor is the upper triangle U of a positive definite r = U'U, row-major. The part
// below its diagonal is not used.
type factor struct {
	*Core
	k *simd.Kernels
	d int
	u []float64
}

// factor returns U. Its progress is the first half.
func (c *Core) factor(ctx context.Context, r *mat.SymDense) (*factor, error) {
	f := &factor{Core: c, k: c.Loops(), d: r.SymmetricDim()}
	if err := f.load(r); err != nil {
		return nil, err
	}
	blocks := split.Blocks(f.d, side)
	for b := range blocks {
		if err := f.rows(ctx, b); err != nil {
			return nil, err
		}
		c.report(b+1, 2*blocks)
	}
	return f, nil
}

func (f *factor) load(r *mat.SymDense) error {
	if f.d == 0 {
		return fmt.Errorf("%w: an empty matrix", points.ErrShape)
	}
	f.u = make([]float64, f.d*f.d)
	raw := r.RawSymmetric()
	for i := range f.d {
		for j, v := range raw.Data[i*raw.Stride:][i:f.d] {
			if v-v != 0 {
				return &points.NonFiniteError{What: "matrix", Row: i, Col: i + j}
			}
		}
		copy(f.at(i, i), raw.Data[i*raw.Stride:][i:f.d])
	}
	return nil
}

// at returns the numbers of U from entry (i, j) on.
func (f *factor) at(i, j int) []float64 { return f.u[i*f.d+j:] }

// rows computes block row b of U from the rows above it.
func (f *factor) rows(ctx context.Context, b int) error {
	lo, hi := split.Block(b, f.d, side)
	above := strip(f.at(0, lo), f.d, lo, hi-lo)
	minus := make([][]float64, hi-lo) // of each row, the negative entries of U above its diagonal
	for i := range minus {
		minus[i] = make([]float64, lo+i)
	}
	for t := range lo {
		for i, v := range f.at(t, lo)[:hi-lo] {
			minus[i][t] = -v
		}
	}
	for i := lo; i < hi; i++ {
		for t := lo; t < i; t++ {
			minus[i-lo][t] = -f.u[t*f.d+i]
		}
		row := f.at(i, i)[:hi-i]
		if lo > 0 {
			f.k.AddRows(row, minus[i-lo][:lo], simd.RowsOf(above[i-lo:], hi-lo))
		}
		f.k.AddRows(row, minus[i-lo][lo:], simd.RowsOf(f.at(lo, i), f.d))
		if !(row[0] > 0) || math.IsInf(row[0], 0) {
			return ErrNotDefinite
		}
		scale(row, 1/math.Sqrt(row[0]))
	}
	return f.do(ctx, split.Blocks(f.d-hi, side), func(_, piece int) {
		from, to := split.Block(piece, f.d-hi, side)
		above := strip(f.at(0, hi+from), f.d, lo, to-from)
		for i := lo; i < hi; i++ {
			row := f.at(i, hi+from)[:to-from]
			f.k.AddRows(row, minus[i-lo][:lo], simd.RowsOf(above, to-from))
			f.k.AddRows(row, minus[i-lo][lo:], simd.RowsOf(f.at(lo, hi+from), f.d))
			scale(row, 1/f.u[i*f.d+i])
		}
	})
}

// strip returns the beginnings of some rows, one after the other in memory. They are read
// often, and rows that are far apart would not stay in the cache.
func strip(x []float64, stride, rows, width int) []float64 {
	out := make([]float64, rows*width)
	for i := range rows {
		copy(out[i*width:][:width], x[i*stride:])
	}
	return out
}

func scale(row []float64, by float64) {
	for j := range row {
		row[j] *= by
	}
}

// fromLeft replaces rows x, n of d numbers, by x U^-1. Those before column first are zero.
func (f *factor) fromLeft(ctx context.Context, x []float64, n, first int) {
	minus := make([]float64, f.d)
	for from := first; from < f.d && ctx.Err() == nil; from += side {
		to := min(from+side, f.d)
		above := strip(f.at(first, from), f.d, from-first, to-from)
		for i := range n {
			row := x[i*f.d:][:f.d]
			for t := first; t < from; t++ {
				minus[t] = -row[t]
			}
			f.k.AddRows(row[from:to], minus[first:from], simd.RowsOf(above, to-from))
			for j := from; j < to; j++ {
				u := f.at(j, j)[:to-j]
				row[j] /= u[0]
				for t, v := range u[1:] {
					row[j+1+t] -= row[j] * v
				}
			}
		}
	}
}

// fromRight replaces rows x, n of d numbers, by x U'^-1. l is the transpose of U.
func (f *factor) fromRight(ctx context.Context, x, l []float64, n int) {
	minus := make([]float64, f.d)
	for b := split.Blocks(f.d, side) - 1; b >= 0 && ctx.Err() == nil; b-- {
		from, to := split.Block(b, f.d, side)
		var below []float64
		if to < f.d {
			below = strip(l[to*f.d+from:], f.d, f.d-to, to-from)
		}
		for i := range n {
			row := x[i*f.d:][:f.d]
			for t := to; t < f.d; t++ {
				minus[t] = -row[t]
			}
			f.k.AddRows(row[from:to], minus[to:], simd.RowsOf(below, to-from))
			for j := to - 1; j >= from; j-- {
				row[j] /= l[j*f.d+j]
				for t, v := range l[j*f.d+from : j*f.d+j] {
					row[from+t] -= row[j] * v
				}
			}
		}
	}
}

// transposed returns the transpose of U.
func (f *factor) transposed(ctx context.Context) ([]float64, error) {
	l := make([]float64, f.d*f.d)
	err := f.do(ctx, split.Blocks(f.d, side), func(_, piece int) {
		lo, hi := split.Block(piece, f.d, side)
		for from := 0; from < hi; from += side {
			for i := lo; i < hi; i++ {
				for j := from; j < min(from+side, i+1); j++ {
					l[i*f.d+j] = f.u[j*f.d+i]
				}
			}
		}
	})
	return l, err
}
