package iterate

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// ErrDiverged reports an iterate that grew beyond 1e30 or is not finite. The message
// says in which step.
var ErrDiverged = points.ErrDiverged

// A divergedError says in which step an iterate grew out of bounds.
type divergedError struct {
	// Step counts from 1.
	Step int
}

func (e *divergedError) Error() string {
	return fmt.Sprintf("iterate: %v: beyond %g at step %d: normalise after each step, take fewer steps or a smaller coefficient", ErrDiverged, points.LargestEntry, e.Step)
}

func (e *divergedError) Unwrap() error { return ErrDiverged }
