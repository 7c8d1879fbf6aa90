package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/points"
)

// float is the type of a point or an iterate.
type float interface{ float32 | float64 }

// block is a row-major n x k block of either precision.
type block[T float] struct {
	rows, cols, stride int
	data               []T
}

func block32(m blas32.General) block[float32] {
	return block[float32]{m.Rows, m.Cols, m.Stride, m.Data}
}

func block64(m blas64.General) block[float64] {
	return block[float64]{m.Rows, m.Cols, m.Stride, m.Data}
}

// ones is a column of n ones: the same row everywhere.
func ones(n int) block[float64] { return block[float64]{n, 1, 0, []float64{1}} }

func (b block[T]) row(i int) []T { return b.data[i*b.stride:][:b.cols] }

// check refuses a block whose numbers do not fit its storage.
func (b block[T]) check(what string) error {
	if b.rows <= 0 || b.cols <= 0 {
		return fmt.Errorf("kernel: %s: %w (%d x %d)", what, ErrEmpty, b.rows, b.cols)
	}
	if b.stride < b.cols || b.rows-1 > (len(b.data)-b.cols)/b.stride || len(b.data) < b.cols {
		return fmt.Errorf("kernel: %s: %w: %d x %d with stride %d in %d values", what, ErrShape, b.rows, b.cols, b.stride, len(b.data))
	}
	return nil
}

// checkPair refuses a destination that does not fit x and the operator.
func checkPair[T float](n int, dst, x block[T]) error {
	if err := x.check("x"); err != nil {
		return err
	}
	if err := dst.check("dst"); err != nil {
		return err
	}
	if x.rows != n || dst.rows != n || dst.cols != x.cols {
		return fmt.Errorf("kernel: %w: dst %d x %d, x %d x %d, %d points", ErrShape, dst.rows, dst.cols, x.rows, x.cols, n)
	}
	if mem.Overlap(dst.data, x.data) {
		return fmt.Errorf("kernel: %w", ErrAlias)
	}
	return nil
}

// checkFinite returns a points.NonFiniteError for the first NaN or infinity in b.
func checkFinite[T float](what string, b block[T]) error {
	for i := range b.rows {
		for c, v := range b.row(i) {
			if v-v != 0 {
				return fmt.Errorf("kernel: %w", &points.NonFiniteError{What: what, Row: i, Col: c})
			}
		}
	}
	return nil
}
