package dense

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// A Span is the space of n rows of d > n columns: they differ in fewer than n directions,
// so n coordinates describe them completely. It takes 4 n d + 8 n^2 bytes, and 24 n^2 while
// it is made.
type Span struct {
	core  *Core
	moved blas32.General // the rows, less the mean, times the scales and unit
	unit  float64        // the power of two that brings the largest entry of moved below 1
	lower []float64      // n x n: L with L L' = moved moved' + spanRidge tr / n
}

// spanRidge is added to the squared norm of every row, relative to their mean, and so adds the
// same to all squared distances. Without it the matrix of inner products is singular.
const spanRidge = 1e-5

// NewSpan returns the span of rows x, n x d, less the mean and times the scale of each column.
// A nil scale means ones.
//
// Errors: points.ErrShape, *points.NonFiniteError, ErrNotDefinite if all rows are equal,
// and that of ctx.
func (c *Core) NewSpan(ctx context.Context, x blas32.General, mean, scale []float64) (*Span, error) {
	s, err := c.newSpan(ctx, x, mean, scale)
	if err != nil {
		return nil, fmt.Errorf("dense: span: %w", err)
	}
	return s, nil
}

func (c *Core) newSpan(ctx context.Context, x blas32.General, mean, scale []float64) (*Span, error) {
	if err := checkRows(c.Loops(), x); err != nil {
		return nil, err
	}
	n, d := x.Rows, x.Cols
	if len(mean) != d || scale != nil && len(scale) != d {
		return nil, fmt.Errorf("%w: a mean of %d values and a scale of %d for %d columns", points.ErrShape, len(mean), len(scale), d)
	}
	for j, v := range slices.Concat(mean, scale) {
		if v-v != 0 {
			return nil, &points.NonFiniteError{What: "mean or scale", Col: j % d}
		}
	}
	if scale == nil {
		scale = slices.Repeat([]float64{1}, d)
	}
	s := &Span{core: c}
	if err := s.move(ctx, x, mean, scale); err != nil {
		return nil, err
	}
	products, err := s.products(ctx)
	if err != nil {
		return nil, err
	}
	more := spanRidge * mat.Trace(products) / float64(n)
	if !(more > 0) {
		return nil, ErrNotDefinite
	}
	for i := range n {
		products.SetSym(i, i, products.At(i, i)+more)
	}
	f, err := c.factor(ctx, products)
	if err != nil {
		return nil, err
	}
	s.lower, err = f.transposed(ctx)
	return s, err
}

// move fills moved, and finds its unit.
func (s *Span) move(ctx context.Context, x blas32.General, mean, scale []float64) error {
	n, d := x.Rows, x.Cols
	s.moved = blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	most := make([]float64, n)
	err := s.core.do(ctx, n, func(_, i int) {
		for j, v := range rowOf(x, i) {
			most[i] = max(most[i], math.Abs((float64(v)-mean[j])*scale[j]))
		}
	})
	if err != nil {
		return err
	}
	s.unit = downTo1(slices.Max(most))
	return s.core.do(ctx, n, func(_, i int) {
		to := rowOf(s.moved, i)
		for j, v := range rowOf(x, i) {
			to[j] = float32((float64(v) - mean[j]) * scale[j] * s.unit)
		}
	})
}

// products returns the inner products of the moved rows. Sums over sumColumns columns are
// float32, and they are added in float64.
func (s *Span) products(ctx context.Context) (*mat.SymDense, error) {
	n, d := s.moved.Rows, s.moved.Cols
	sum := mat.NewSymDense(n, nil)
	out := sum.RawSymmetric()
	tiles := tilesOf(split.Blocks(n, gramTile))
	parts := make([][]float32, s.core.Workers.Count())
	err := s.core.do(ctx, len(tiles), func(worker, piece int) {
		if parts[worker] == nil {
			parts[worker] = make([]float32, gramTile*gramTile)
		}
		part := parts[worker]
		top, bottom := split.Block(tiles[piece][0], n, gramTile)
		left, right := split.Block(tiles[piece][1], n, gramTile)
		for from := 0; from < d; from += sumColumns {
			s.core.Loops().Dots(simd.RowsOf(part, gramTile), simd.RowsOf(s.moved.Data[top*d+from:], d), simd.RowsOf(s.moved.Data[left*d+from:], d),
				bottom-top, right-left, min(sumColumns, d-from))
			for i := top; i < bottom; i++ {
				first := max(i, left) // the upper triangle is what counts
				to := out.Data[i*n+first:][:right-first]
				for j, v := range part[(i-top)*gramTile+first-left:][:len(to)] {
					to[j] += float64(v)
				}
			}
		}
	})
	return sum, err
}

// Coordinates returns the n coordinates of each row. Up to a common factor, the squared
// distances of different rows are those of the rows themselves, plus 2e-5 of the mean
// squared norm.
func (s *Span) Coordinates() blas32.General {
	n := s.moved.Rows
	out := blas32.General{Rows: n, Cols: n, Stride: n, Data: make([]float32, n*n)}
	for i, v := range s.lower {
		out.Data[i] = float32(v)
	}
	return out
}

// backColumns is how many columns of rows a worker multiplies at a time.
const backColumns = 256

// Back returns the d x k matrix that maps moved and scaled rows to the same points as a, n x k,
// maps their coordinates.
func (s *Span) Back(ctx context.Context, a *mat.Dense) (*mat.Dense, error) {
	n, k := a.Dims()
	if n != s.moved.Rows {
		return nil, fmt.Errorf("dense: span: %w: a matrix of %d rows for %d coordinates", points.ErrShape, n, s.moved.Rows)
	}
	// The coordinates of moved row m are m V with V = moved' L^-T, so the matrix is V a.
	f := &factor{Core: s.core, k: s.core.Loops(), d: n}
	solved := mat.DenseCopyOf(a.T())
	raw := solved.RawMatrix().Data
	err := s.core.do(ctx, split.Blocks(k, solveRows), func(_, piece int) {
		lo, hi := split.Block(piece, k, solveRows)
		f.fromRight(ctx, raw[lo*n:], s.lower, hi-lo)
	})
	if err != nil {
		return nil, fmt.Errorf("dense: span: %w", err)
	}
	weights := mat.DenseCopyOf(solved.T()).RawMatrix()
	d := s.moved.Cols
	out := mat.NewDense(d, k, nil)
	err = s.core.do(ctx, split.Blocks(d, backColumns), func(_, piece int) {
		lo, hi := split.Block(piece, d, backColumns)
		columns := make([]float64, (hi-lo)*n)
		for i := range n {
			for j, v := range rowOf(s.moved, i)[lo:hi] {
				columns[j*n+i] = float64(v) * s.unit
			}
		}
		for from := 0; from < k && ctx.Err() == nil; from += side {
			to := min(from+side, k)
			some := strip(weights.Data[from:], weights.Stride, n, to-from)
			for j := lo; j < hi; j++ {
				f.k.AddRows(out.RawRowView(j)[from:to], columns[(j-lo)*n:][:n], simd.RowsOf(some, to-from))
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("dense: span: %w", err)
	}
	return out, nil
}
