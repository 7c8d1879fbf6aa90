package cluster

import (
	"github.com/seed-64e14a55/privatemail/par"
)

// A World stands for the processes that a launcher has started together, or for this
// process alone. The nil World is this process alone.
type World struct {
	ranks      *par.Ranks
	neighbours int
	end        func(error) error // nil for a process alone
}

// Ranks returns the processes of the world as ranks that share a run, nil for a process
// alone.
func (w *World) Ranks() *par.Ranks {
	if w == nil {
		return nil
	}
	return w.ranks
}

// Neighbours returns how many ranks run on this machine, including this one: they share its
// memory and its processors.
func (w *World) Neighbours() int {
	if w == nil {
		return 1
	}
	return max(w.neighbours, 1)
}

// End ends what this process shares with the other ranks. Each rank calls it once, with its
// error or nil, as its last action before it exits, after it has closed and removed its
// files.
//
// A process alone gets err back. With several ranks End waits for all of them. If one has
// failed, rank 0 prints the text of its error on standard error, and all ranks get an error
// with a method ExitCode() int: they print nothing more and exit with that code. Ranks with the same
// text share one line. An empty text has no line: it was printed before. The code is that of the
// failed rank's error, if it has such a method too. Without one it is 130 if a context was cancelled,
// and otherwise 1.
//
// A rank without an error waits for the others as long as they live. A rank with an error
// waits a few seconds, since the others may wait in a call that it will not make. Then End
// prints the error, ends the processes of all ranks (MPI_Abort) and does not return. It
// does the same where a call was abandoned because its context ended.
func (w *World) End(err error) error {
	if w == nil || w.end == nil {
		return err
	}
	return w.end(err)
}
