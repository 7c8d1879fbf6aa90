package base

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Ones is a column of n ones: the same row everywhere.
func Ones(n int) rows.View[float64] { return rows.NewView(n, 1, 0, []float64{1}) }

// CheckShape refuses a matrix whose numbers of rows and columns do not fit its storage.
func CheckShape[T rows.Float](what string, b rows.View[T]) error {
	if b.Rows <= 0 || b.Cols <= 0 {
		return fmt.Errorf("kernel: %s: %w (%d x %d)", what, ErrEmpty, b.Rows, b.Cols)
	}
	if b.Stride < b.Cols || b.Rows-1 > (len(b.Data)-b.Cols)/b.Stride || len(b.Data) < b.Cols {
		return fmt.Errorf("kernel: %s: %w: %d x %d with stride %d in %d values", what, ErrShape, b.Rows, b.Cols, b.Stride, len(b.Data))
	}
	return nil
}

// CheckPair refuses a destination that does not fit x, and matrices that do not have n rows.
func CheckPair[T rows.Float](n int, dst, x rows.View[T]) error {
	if err := CheckShape("x", x); err != nil {
		return err
	}
	if err := CheckShape("dst", dst); err != nil {
		return err
	}
	if x.Rows != n || dst.Rows != n || dst.Cols != x.Cols {
		return fmt.Errorf("kernel: %w: dst %d x %d, x %d x %d, %d points", ErrShape, dst.Rows, dst.Cols, x.Rows, x.Cols, n)
	}
	if mem.Overlap(dst.Data, x.Data) {
		return fmt.Errorf("kernel: %w", sparse.ErrAlias)
	}
	return nil
}

// CheckFinite returns a points.NonFiniteError for the first NaN or infinity in b.
func CheckFinite[T rows.Float](what string, b rows.View[T]) error {
	for i := range b.Rows {
		for c, v := range b.Row(i) {
			if v-v != 0 {
				return fmt.Errorf("kernel: %w", &points.NonFiniteError{What: what, Row: i, Col: c})
			}
		}
	}
	return nil
}

// MaxDirect is the largest dimension in which all distances are differences. Above it a
// matrix product does most of the work of a distancer. It is also the largest dimension in
// which nearest neighbours are found by a tree and in which there is the operator pairs.
// Which search finds the pairs within a radius is chosen by its cost (package graph).
const MaxDirect = 8
