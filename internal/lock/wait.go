package lock

import (
	"context"
	"errors"
	"os"
	"time"
)

// The pauses of Wait between two tries.
const shortestPause, longestPause = 100 * time.Microsecond, 10 * time.Millisecond

// Wait is Open, but waits while the file is in use. It tries again until the context
// ends, since the system's own wait cannot be cancelled. Waiting callers get the file
// in any order.
func Wait(ctx context.Context, path string, flag int) (*os.File, error) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		f, err := Open(path, flag)
		if !errors.Is(err, ErrHeld) {
			return f, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, &os.PathError{Op: "lock", Path: path, Err: ctx.Err()}
		}
	}
}
