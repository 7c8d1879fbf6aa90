package lock

import (
	"context"
	"errors"
	"os"
	"time"
)

// The pauses of Wait between two tries.
const shortestPause, longestPause = 100 * time.Microsecond, 10 * time.Millisecond

// Wait is Open that waits while somebody else has the file. It tries again and again,
// which a context can end: the system's own wait cannot be given up. Those who wait get
// the file in any order.
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
