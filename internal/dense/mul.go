package dense

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

const (
	// mulRows is how many rows of x a worker multiplies at a time, mulTile how many columns
	// of a: both stay in the second-level cache.
	mulRows, mulTile = 64, 64
	// sumColumns is how many columns of x are summed in float32.
	sumColumns = 512
)

// Mul sets out, n x m, to (x - mean) a, where a is d x m. If mean is nil nothing is
// subtracted.
//
// Rows of x - mean and columns of a are scaled by powers of two and rounded to float32,
// float32 sums run over 512 columns, and those are added in float64. With u = 2^-24 the
// error of an entry is at most
//
//	(512/4 + 9) u sum_j |x_ij - mean_j| |a_jk| + u |out_ik|.
//
// out must not overlap x. After an error its contents are undefined.
//
// Errors: points.ErrShape for sizes that do not fit, *points.NonFiniteError for an entry
// of x, mean or a that is not finite and for one of out that float32 cannot hold, and that
// of ctx.
func (c *Core) Mul(ctx context.Context, out, x blas32.General, mean []float64, a mat.Matrix) error {
	k := c.Loops()
	if err := checkMul(k, out, x, mean, a); err != nil {
		return fmt.Errorf("dense: mul: %w", err)
	}
	m, err := newAffine(k, mean, a)
	if err != nil {
		return fmt.Errorf("dense: mul: %w", err)
	}
	blocks := split.Blocks(x.Rows, mulRows)
	memory := make([]*AffineMemory, c.Workers.Count())
	bad := make([]int, blocks) // 1 more than the first bad row
	round := 8 * c.Workers.Count()
	for first := 0; first < blocks; first += round {
		now := min(round, blocks-first)
		err := c.do(ctx, now, func(worker, piece int) {
			if memory[worker] == nil {
				memory[worker] = m.NewMemory()
			}
			lo, hi := split.Block(first+piece, x.Rows, mulRows)
			bad[first+piece] = m.block(memory[worker], out, x, lo, hi)
		})
		if err != nil {
			return fmt.Errorf("dense: mul: %w", err)
		}
		c.report(first+now, blocks)
	}
	for _, row := range bad {
		if row > 0 {
			return fmt.Errorf("dense: mul: %w", firstNonFinite(out, row-1))
		}
	}
	return nil
}

func checkMul(k *simd.Kernels, out, x blas32.General, mean []float64, a mat.Matrix) error {
	if err := checkRows(k, x); err != nil {
		return err
	}
	on, om, err := points.Dims(out)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	d, m := a.Dims()
	if d != x.Cols || on != x.Rows || om != m || mean != nil && len(mean) != d {
		return fmt.Errorf("%w: rows %d x %d, mean %d, matrix %d x %d, result %d x %d", points.ErrShape, x.Rows, x.Cols, len(mean), d, m, on, om)
	}
	return checkMean(mean, a)
}

// checkMean refuses a mean that does not fit or is not finite.
func checkMean(mean []float64, a mat.Matrix) error {
	if d, m := a.Dims(); mean != nil && len(mean) != d {
		return fmt.Errorf("%w: mean %d, matrix %d x %d", points.ErrShape, len(mean), d, m)
	}
	for j, v := range mean {
		if v-v != 0 {
			return &points.NonFiniteError{What: "mean", Col: j}
		}
	}
	return nil
}

// firstNonFinite returns the error of the first entry of a row that is not finite.
func firstNonFinite(out blas32.General, row int) error {
	for j, v := range rowOf(out, row) {
		if v-v != 0 {
			return &points.NonFiniteError{What: "result", Row: row, Col: j}
		}
	}
	return nil
}
