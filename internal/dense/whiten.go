package dense

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
)

// ErrNotDefinite reports a matrix that is not positive definite to working precision.
var ErrNotDefinite = errors.New("matrix is not positive definite; add a ridge to its diagonal")

// side is the side of the squares that matrices are factored in. It is the block of
// gonum's matrix product, which computes three of them at most in the caller's goroutine.
const side = 64

// Whiten returns the upper triangular A = L^-T of a positive definite r = L L', in float64.
// So A' r A = 1, and A A' is the inverse of r: distances between rows of x A are those of
// x r^(-1/2).
//
// Errors: ErrNotDefinite, *points.NonFiniteError, and that of ctx.
func (c *Core) Whiten(ctx context.Context, r *mat.SymDense) (*mat.TriDense, error) {
	f := &factor{Core: c, d: r.SymmetricDim()}
	if err := f.load(r); err != nil {
		return nil, fmt.Errorf("dense: whiten: %w", err)
	}
	blocks := par.Blocks(f.d, side)
	for b := range blocks {
		if err := f.column(ctx, b); err != nil {
			return nil, fmt.Errorf("dense: whiten: %w", err)
		}
		c.report(b+1, 2*blocks)
	}
	out := make([]float64, f.d*f.d)
	// Rows above have more to do: they begin first.
	if err := c.do(ctx, blocks, func(_, b int) { f.inverse(ctx, out, b) }); err != nil {
		return nil, fmt.Errorf("dense: whiten: %w", err)
	}
	c.report(2*blocks, 2*blocks)
	return mat.NewTriDense(f.d, mat.Upper, out), nil
}

// factor is a lower triangle L that is being made, row-major.
type factor struct {
	*Core
	d int
	l []float64
}

func (f *factor) load(r *mat.SymDense) error {
	if f.d == 0 {
		return fmt.Errorf("%w: an empty matrix", points.ErrShape)
	}
	f.l = make([]float64, f.d*f.d)
	for i := range f.d {
		for j := range i + 1 {
			v := r.At(i, j)
			if v-v != 0 {
				return &points.NonFiniteError{What: "matrix", Row: j, Col: i}
			}
			f.l[i*f.d+j] = v
		}
	}
	return nil
}

// at returns what begins at entry (i, j).
func (f *factor) at(i, j int) []float64 { return f.l[i*f.d+j:] }

// column makes block column b of L from the columns before it.
func (f *factor) column(ctx context.Context, b int) error {
	lo, hi := par.Block(b, f.d, side)
	below := par.Blocks(f.d, side) - b
	multiply := func(piece int) {
		top, bottom := par.Block(b+piece, f.d, side)
		if lo > 0 {
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, bottom-top, hi-lo, lo,
				-1, f.at(top, 0), f.d, f.at(lo, 0), f.d, 1, f.at(top, lo), f.d)
		}
	}
	if err := f.do(ctx, below, func(_, piece int) { multiply(piece) }); err != nil {
		return err
	}
	if !cholesky(f.at(lo, lo), hi-lo, f.d) {
		return ErrNotDefinite
	}
	return f.do(ctx, below-1, func(_, piece int) {
		top, bottom := par.Block(b+1+piece, f.d, side)
		gonum.Implementation{}.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, bottom-top, hi-lo,
			1, f.at(lo, lo), f.d, f.at(top, lo), f.d)
	})
}

// cholesky replaces the lower triangle of an n x n matrix by its factor.
func cholesky(a []float64, n, stride int) bool {
	for i := range n {
		row := a[i*stride:]
		for j := range i + 1 {
			other, sum := a[j*stride:], row[j]
			for t := range j {
				sum -= row[t] * other[t]
			}
			if i != j {
				row[j] = sum / other[j]
				continue
			}
			if !(sum > 0) || math.IsInf(sum, 0) {
				return false
			}
			row[i] = math.Sqrt(sum)
		}
	}
	return true
}

// inverse makes block row b of A = L^-T, from its diagonal to the right:
//
//	A_bb = L_bb^-T,  A_bi = -(sum of A_bt L_it' over b <= t < i) L_ii^-T.
func (f *factor) inverse(ctx context.Context, out []float64, b int) {
	lo, hi := par.Block(b, f.d, side)
	for i := lo; i < hi; i++ {
		out[i*f.d+i] = 1
	}
	for from := lo; from < f.d && ctx.Err() == nil; from += side {
		to := min(from+side, f.d)
		if from > lo {
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, hi-lo, to-from, from-lo,
				-1, out[lo*f.d+lo:], f.d, f.at(from, lo), f.d, 0, out[lo*f.d+from:], f.d)
		}
		gonum.Implementation{}.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, hi-lo, to-from,
			1, f.at(from, from), f.d, out[lo*f.d+from:], f.d)
	}
}
