package dense

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// Means returns the means of the classes of rows, one row per class. class has a number
// for each row of x, from 0 on, or -1 for a row that does not count; nil puts all rows
// into class 0. The mean of a class without rows is zero. Sums run in float64 in the
// order of the rows.
//
// Errors: points.ErrShape for sizes that do not fit and class numbers below -1 or not below
// the number of rows, *points.NonFiniteError, and that of ctx.
func (c *Core) Means(ctx context.Context, x blas32.General, class []int32) (*mat.Dense, error) {
	if err := checkRows(c.Loops(), x); err != nil {
		return nil, fmt.Errorf("dense: means: %w", err)
	}
	count, err := classSizes(x.Rows, class)
	if err != nil {
		return nil, fmt.Errorf("dense: means: %w", err)
	}
	d := x.Cols
	means := mat.NewDense(len(count), d, nil)
	const columns = 128
	err = c.do(ctx, split.Blocks(d, columns), func(_, piece int) {
		lo, hi := split.Block(piece, d, columns)
		for i := range x.Rows {
			if at := classOf(class, i); at >= 0 {
				to := means.RawRowView(at)[lo:hi]
				for j, v := range rowOf(x, i)[lo:hi] {
					to[j] += float64(v)
				}
			}
		}
		for at, rows := range count {
			to := means.RawRowView(at)[lo:hi]
			for j := range to {
				to[j] /= float64(max(rows, 1))
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("dense: means: %w", err)
	}
	return means, nil
}

func classOf(class []int32, i int) int {
	if class == nil {
		return 0
	}
	return int(class[i])
}

// classSizes returns how many of n rows each class has.
func classSizes(n int, class []int32) ([]int, error) {
	if class == nil {
		return []int{n}, nil
	}
	if len(class) != n {
		return nil, fmt.Errorf("%w: %d class numbers for %d rows", points.ErrShape, len(class), n)
	}
	classes := 1
	for i, at := range class {
		if at < -1 || int64(at) >= int64(n) {
			return nil, fmt.Errorf("%w: the class number of row %d is not in -1..%d", points.ErrShape, i+1, n-1)
		}
		classes = max(classes, int(at)+1)
	}
	count := make([]int, classes)
	for _, at := range class {
		if at >= 0 {
			count[at]++
		}
	}
	return count, nil
}
