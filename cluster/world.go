package cluster

import (
	"time"

	"github.com/seed-64e14a55/privatemail/par"
)

// A World is the processes that a launcher has started together, or this process alone. The
// nil World is this process alone.
type World struct {
	ranks      *par.Ranks
	neighbours int
	end        func(error) error // nil for a process alone
}

// Ranks returns the processes of the world as those that share a run, nil for a process
// alone.
func (w *World) Ranks() *par.Ranks {
	if w == nil {
		return nil
	}
	return w.ranks
}

// Neighbours returns how many ranks run on this machine, this one among them: they share its
// memory and its processors.
func (w *World) Neighbours() int {
	if w == nil {
		return 1
	}
	return max(w.neighbours, 1)
}

// End ends what this process shares with the other ranks. Each rank calls it once, with its
// error or nil, as the last thing before it exits: when it has closed and removed its files.
//
// A process alone gets back err. On several ranks End waits for all of them. Where one has
// failed, rank 0 prints the text of its error on standard error, and all ranks get an
// *EndedError: they print nothing more and exit with its code. Ranks with the same text have
// one line, and an empty text has none: it was printed before. The code is what a method
// ExitCode() int of the error says. Without one it is 130 where a context was cancelled, and 1
// elsewhere.
//
// A rank without an error waits for the others as long as they live. A rank with an error
// waits a few seconds: the others may wait in a call that it will not make. End prints the
// error, ends the processes of all ranks (MPI_Abort) and does not return. It does so, too,
// where a call was given up because its context ended.
func (w *World) End(err error) error {
	if w == nil || w.end == nil {
		return err
	}
	return w.end(err)
}

// An Option sets something of Open.
type Option func(*options)

type options struct {
	silence time.Duration
}

// WithSilence sets how long a rank may say nothing until it counts as lost. Default: 20
// seconds; the least is 1 second.
func WithSilence(silence time.Duration) Option {
	return func(o *options) { o.silence = max(silence, time.Second) }
}

// newOptions returns the options that opts set.
func newOptions(opts []Option) options {
	o := options{silence: 20 * time.Second}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
