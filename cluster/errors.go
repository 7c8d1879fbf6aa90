package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoMPI says that a launcher has started several processes of a program that was built
// without MPI. Each of them would do the whole work and write the same files.
var ErrNoMPI = errors.New("this program was built without MPI; build it with: CC=mpicc go build -tags mpi")

// ErrLauncher says that MPI knows other processes than the launcher has started: the program
// was built with another MPI than that of the launcher.
var ErrLauncher = errors.New("the launcher is not of the MPI that this program was built with")

// A LostError says that a rank has died or hangs.
type LostError struct {
	Rank   int
	Silent time.Duration // how long nothing was heard of it
}

// Error says which rank is lost.
func (e *LostError) Error() string {
	return fmt.Sprintf("rank %d is lost: nothing was heard of it for %v", e.Rank, e.Silent)
}

// An EndedError says that a run of several ranks has failed, and that rank 0 has printed why.
type EndedError struct {
	Code int // the exit code of all processes
}

// Error says that everything was said.
func (e *EndedError) Error() string {
	return fmt.Sprintf("the run has failed, and rank 0 has printed why (exit code %d)", e.Code)
}

// ExitCode returns Code.
func (e *EndedError) ExitCode() int { return e.Code }

// exitCode returns the exit code that an error asks for.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	switch {
	case errors.As(err, &coded):
		return max(coded.ExitCode(), 1)
	case errors.Is(err, context.Canceled):
		return 130 // as shells say that a program was interrupted
	}
	return 1
}
