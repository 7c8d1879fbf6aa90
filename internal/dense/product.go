package dense

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// Product returns a b in float64. Sums run over the columns of a, from the first to the
// last, and every product is rounded before it is added: the bits are the same at every
// level of the kernels.
//
// Errors: points.ErrShape when the columns of a are not as many as the rows of b, and that
// of ctx.
func (c *Core) Product(ctx context.Context, a, b *mat.Dense) (*mat.Dense, error) {
	n, inner := a.Dims()
	rows, m := b.Dims()
	if inner != rows {
		return nil, fmt.Errorf("dense: product: %w: %d x %d and %d x %d", points.ErrShape, n, inner, rows, m)
	}
	k, raw := c.Loops(), b.RawMatrix()
	out := mat.NewDense(n, m, nil)
	// A worker adds the same columns of b, which stay in its cache, to some rows.
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
