package dense

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/split"
)

// Whiten returns the upper triangular A = U^-1 of a positive definite r = U'U, in float64.
// So A' r A = 1, and A A' is the inverse of r: distances between rows of x A are those of
// x r^(-1/2).
//
// Errors: ErrNotDefinite, *points.NonFiniteError, and that of ctx.
func (c *Core) Whiten(ctx context.Context, r *mat.SymDense) (*mat.TriDense, error) {
	f, err := c.factor(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("dense: whiten: %w", err)
	}
	out := make([]float64, f.d*f.d)
	for i := range f.d {
		out[i*f.d+i] = 1
	}
	// Upper rows have more to do, so they begin first.
	blocks := split.Blocks(f.d, side)
	err = c.do(ctx, blocks, func(_, b int) {
		lo, hi := split.Block(b, f.d, side)
		f.fromLeft(ctx, out[lo*f.d:], hi-lo, lo)
	})
	if err != nil {
		return nil, fmt.Errorf("dense: whiten: %w", err)
	}
	c.report(2*blocks, 2*blocks)
	return mat.NewTriDense(f.d, mat.Upper, out), nil
}
