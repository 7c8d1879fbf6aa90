package progress

import (
	"context"
)

// Await waits for work that knows nothing of contexts and gives up waiting when
// ctx ends. The work is then left to itself: the program is about to exit, and
// only work that leaves no traces is done this way.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
