package privatemail

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/par"
)

// Lend returns the workers of the Engine for work of the caller's own, and for packages that
// take workers: a program that has an Engine needs no second set of goroutines.
//
//	op, err := kernel.Build(ctx, features, kernel.Sigma(1), &kernel.Options{Workers: engine.Lend()})
//
// Work with them takes turns with the calls of the Engine. Their Close does nothing: the
// Engine stops them. After its Close they go on in their caller alone, with the same bits. A
// progress function that the workers call gets par.ErrNested of them, and a task of theirs
// ErrReentrant of the methods of the Engine: both would wait for themselves.
func (e *Engine) Lend() *par.Workers { return e.workers.Lend() }

// WithLent lets the Engine work with workers of somebody else, such as those of par.New, or of
// another Engine with another level or budget, in place of its own. Close leaves them
// running. nil stands for the caller of each method alone. It excludes WithWorkers.
func WithLent(workers *par.Workers) Option {
	return func(o *options) error {
		if workers == nil {
			workers = new(par.Workers) // runs in the caller alone, too
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
		return nil, fmt.Errorf("privatemail: %w: %d workers beside workers that are lent", ErrSettings, o.workers)
	}
	return o.lent.Lend(), nil
}
