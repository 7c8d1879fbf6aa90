package pipeline

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// CheckInto refuses a buffer that does not fit points of the given size. The zero value
// means no buffer.
func CheckInto(into blas32.General, rows, cols int) error {
	if into.Data == nil && into.Rows == 0 && into.Cols == 0 {
		return nil
	}
	if into.Data == nil {
		return fmt.Errorf("into: %w: no memory for %d x %d", points.ErrShape, into.Rows, into.Cols)
	}
	if err := points.CheckSize(into, rows, cols); err != nil {
		return fmt.Errorf("into: %w", err)
	}
	return nil
}
