package par

import (
	"context"
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/goroutine"
)

// ErrNested reports that a task has called Do of the workers that run it. Do did nothing:
// it would have waited for the task.
var ErrNested = errors.New("par: called by a task of the same workers")

// InTask reports whether its caller runs in a task of these workers, or of workers that
// share their goroutines by Lend. Do would then return ErrNested.
func (w *Workers) InTask() bool { return w != nil && w.crew != nil && w.crew.inTask() }

// inTask reports whether this goroutine runs a task of the crew.
func (c *crew) inTask() bool {
	id := goroutine.ID()
	for worker := range c.doing {
		if c.doing[worker].Load() == id {
			return true
		}
	}
	return false
}

// takeTurn waits for the turn of a Do. A task finds the turn taken, by the Do that runs it,
// so only then takeTurn checks whether its caller is a task.
func (c *crew) takeTurn(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	default:
	}
	if c.inTask() {
		return ErrNested
	}
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
