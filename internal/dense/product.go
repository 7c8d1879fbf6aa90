package dense

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/split"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// Product returns a b in float64. Sums run over the columns of a, from the first to the
// last, and every product is rounded before it is added, so the bits are the same at
// every level of the kernels.
//
// Errors: points.ErrShape if a does not have as many columns as b has rows, and that of
// ctx.
func (c *Core) Product(ctx context.Context, a, b *mat.Dense) (*mat.Dense, error) {
	n, inner := a.Dims()
	rows, m := b.Dims()
	if inner != rows {
		return nil, fmt.Errorf("dense: product: %w: %d x %d and %d x %d", points.ErrShape, n, inner, rows, m)
	}
	k, raw := c.Loops(), b.RawMatrix()
	out := mat.NewDense(n, m, nil)
	// A worker adds some columns of b, which stay in its cache, to several rows.
	strips := split.Blocks(m, side)
	err := c.do(ctx, split.Blocks(n, solveRows)*strips, func(_, piece int) {
		from, to := split.Block(piece%strips, m, side)
		lo, hi := split.Block(piece/strips, n, solveRows)
		for i := lo; i < hi; i++ {
			k.AddRows(out.RawRowView(i)[from:to], a.RawRowView(i), simd.RowsOf(raw.Data[from:], raw.Stride))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("dense: product: %w", err)
	}
	return out, nil
}
