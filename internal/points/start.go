package points

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// LargestEntry is the largest entry an iterate may have: far below the float32 limit,
// and no sum of its squares overflows float64.
const LargestEntry = 1e30

// CheckStart refuses a start that no run can begin with, for any operator: ErrShape,
// *NonFiniteError, and ErrDiverged for an entry beyond LargestEntry. Calling it before the graph
// is built saves that work.
func CheckStart(start blas32.General) error {
	if _, _, err := Dims(start); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	for i := range start.Rows {
		for c, v := range start.Data[i*start.Stride:][:start.Cols] {
			switch {
			case math.Abs(float64(v)) <= LargestEntry:
			case v-v != 0:
				return &NonFiniteError{What: "start", Row: i, Col: c}
			default:
				return fmt.Errorf("start: %w: row %d, column %d is already beyond %g: scale the rows, or leave that one out", ErrDiverged, i+1, c+1, LargestEntry)
			}
		}
	}
	return nil
}
