package dense

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// solveRows is how many rows a worker takes at a time.
const solveRows = 32

// mostSolved is the most rows that a worker solves at a time: each time it copies the
// factor.
const mostSolved = 512

// Solve returns b r^-1 for a positive definite r, in float64. For few rows of b it takes
// less than half the time of Whiten.
//
// Errors: points.ErrShape if rows of b do not have the dimension of r, ErrNotDefinite,
// *points.NonFiniteError, and that of ctx.
func (c *Core) Solve(ctx context.Context, b *mat.Dense, r *mat.SymDense) (*mat.Dense, error) {
	n, d := b.Dims()
	if d != r.SymmetricDim() {
		return nil, fmt.Errorf("dense: solve: %w: %d x %d rows for a matrix of %d", points.ErrShape, n, d, r.SymmetricDim())
	}
	if err := points.CheckFinite(b.RawMatrix()); err != nil {
		return nil, fmt.Errorf("dense: solve: %w", err)
	}
	f, err := c.factor(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("dense: solve: %w", err)
	}
	l, err := f.transposed(ctx)
	if err != nil {
		return nil, fmt.Errorf("dense: solve: %w", err)
	}
	out := mat.DenseCopyOf(b)
	raw := out.RawMatrix().Data
	rows := min(max(split.Blocks(n, c.Workers.Count()), solveRows), mostSolved)
	err = c.do(ctx, split.Blocks(n, rows), func(_, piece int) {
		lo, hi := split.Block(piece, n, rows)
		f.fromLeft(ctx, raw[lo*d:], hi-lo, 0)
		f.fromRight(ctx, raw[lo*d:], l, hi-lo)
	})
	if err != nil {
		return nil, fmt.Errorf("dense: solve: %w", err)
	}
	c.report(1, 1)
	return out, nil
}
