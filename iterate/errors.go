package iterate

import (
	"errors"
	"fmt"
)

// ErrDiverged reports an iterate that grew beyond 1e30 or is not finite. The message
// says in which step.
var ErrDiverged = errors.New("the iterate diverges")

// A divergedError says in which step an iterate grew out of bounds.
type divergedError struct {
	// Step counts from 1.
	Step int
}

func (e *divergedError) Error() string {
	return fmt.Sprintf("iterate: %v: beyond %g at step %d: normalise after each step, take fewer steps or a smaller coefficient", ErrDiverged, maxAbs, e.Step)
}

func (e *divergedError) Unwrap() error { return ErrDiverged }

// maxAbs is the largest entry an iterate may have: far below the float32 limit,
// and no sum of its squares overflows float64.
const maxAbs = 1e30
