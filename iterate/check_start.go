package iterate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// CheckStart refuses a start that no run can begin with, for any operator: kernel.ErrShape,
// *privatemail.NonFiniteError, and ErrDiverged for an entry beyond 1e30. Calling it before the graph
// is built saves that work.
func CheckStart(start blas32.General) error {
	if err := refuseStart(start); err != nil {
		return fmt.Errorf("iterate: %w", err)
	}
	return nil
}

func refuseStart(start blas32.General) error {
	if _, _, err := points.Dims(start); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	for i := range start.Rows {
		for c, v := range row(start, i) {
			switch {
			case math.Abs(float64(v)) <= maxAbs:
			case v-v != 0:
				return &points.NonFiniteError{What: "start", Row: i, Col: c}
			default:
				return fmt.Errorf("start: %w: row %d, column %d is already beyond %g: scale the rows, or leave that one out", ErrDiverged, i+1, c+1, maxAbs)
			}
		}
	}
	return nil
}
