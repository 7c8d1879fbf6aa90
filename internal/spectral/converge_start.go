package spectral

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// mostHops limits how far the known rows of a start spread along the graph.
const mostHops = 64

// begin fills the columns of the block that the start has. An unknown row gets the mean
// of its known neighbours, weighted by the walk, hop by hop. The remaining columns are
// random.
func (c *convergence) begin(ctx context.Context) error {
	start, k := c.settings.Start, c.settings.Start.Cols
	order := c.walk.op.Order()
	unknown := 0
	for i := range c.y.Rows {
		given := i
		if order != nil {
			given = int(order[i])
		}
		dst := row(c.y, i)
		clear(dst)
		copy(dst, row(start, given))
		known := false
		for _, v := range dst[:k] {
			known = known || v != 0
		}
		if known {
			dst[k] = 1
		} else {
			unknown++
		}
	}
	for hop := 0; unknown > 0 && hop < mostHops; hop++ {
		if err := c.walk.mulAdd(ctx, c.py, c.y, 1, 0, 0); err != nil {
			return err
		}
		before := unknown
		for i := range c.y.Rows {
			dst, mean := row(c.y, i), row(c.py, i)
			if dst[k] > 0 || mean[k] <= 0 {
				continue
			}
			for j, v := range mean[:k] {
				dst[j] = v / mean[k]
			}
			dst[k] = 1
			unknown--
		}
		if unknown == before {
			break // parts without a known row
		}
	}
	for j := k; j < c.blocks.m; j++ {
		c.refill(j)
	}
	return nil
}

// checkStart refuses a start that does not fit n points and a block of m columns.
func checkStart(start blas32.General, n, m int) error {
	if start.Data == nil {
		return nil
	}
	if start.Rows != n || start.Cols < 1 || start.Cols >= m {
		return fmt.Errorf("%w: a start of %d x %d for %d rows and a block of %d columns", kernel.ErrShape, start.Rows, start.Cols, n, m)
	}
	return points.CheckStart(start)
}
