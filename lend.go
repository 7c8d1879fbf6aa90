package privatemail

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/par"
)

// Lend returns the workers of the Engine for other work of the caller and for packages that
// take workers: a program with an Engine needs no second set of goroutines.
//
//	op, err := kernel.Build(ctx, features, kernel.Sigma(1), &kernel.Options{Workers: engine.Lend()})
//
// Work with them takes turns with the calls of the Engine. Their Close does nothing: the
// Engine stops them. After that they run everything in their caller, with the same bits. A
// progress function must not call their Do, nor a task of theirs methods of the Engine that do
// work: both would wait for themselves.
func (e *Engine) Lend() *par.Workers { return e.workers.Lend() }

// WithLent lets the Engine use existing workers, such as those of par.New or of another Engine
// with another level or memory limit. Close leaves them running. With nil each method works in its
// caller alone. It excludes WithWorkers.
func WithLent(workers *par.Workers) Option {
	return func(o *options) error {
		if workers == nil {
			workers = new(par.Workers) // also runs in the caller alone
		}
		o.lent = workers
		return nil
	}
}

// startWorkers returns the workers of a new Engine.
func (o *options) startWorkers() (*par.Workers, error) {
	switch {
	case o.lent == nil:
		return par.New(o.workers), nil
	case o.workers > 0:
		return nil, fmt.Errorf("privatemail: %w: %d workers together with lent workers: leave out WithWorkers", ErrSettings, o.workers)
	}
	return o.lent.Lend(), nil
}
