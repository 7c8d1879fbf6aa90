package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLauncher reports that a launcher has started several processes that cannot work together:
// the program was built without MPI, or with another MPI than the launcher's. Each process would
// do all of the work and write the same files.
var ErrLauncher = errors.New("the launcher is not of the MPI that this program was built with")

// A lostError reports that a rank has died or hangs.
type lostError struct {
	Rank   int
	Silent time.Duration // how long nothing was heard from it
}

// Error says which rank is lost.
func (e *lostError) Error() string {
	return fmt.Sprintf("rank %d is lost: nothing was heard from it for %v", e.Rank, e.Silent)
}

// An endedError reports that a run of several ranks has failed and that rank 0 has printed why.
type endedError struct {
	Code int // the exit code of all processes
}

// Error refers to the text that rank 0 has printed.
func (e *endedError) Error() string {
	return fmt.Sprintf("the run has failed, and rank 0 has printed why (exit code %d)", e.Code)
}

// ExitCode returns Code.
func (e *endedError) ExitCode() int { return e.Code }

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	switch {
	case errors.As(err, &coded):
		return max(coded.ExitCode(), 1)
	case errors.Is(err, context.Canceled):
		return 130 // as shells report an interrupted program
	}
	return 1
}
