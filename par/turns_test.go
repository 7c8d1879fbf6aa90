package par

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// within runs f and fails if it hangs.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		panic("it hangs") // with the stacks of all
	}
}

// A task may call Do of other workers, and of none.
func TestTaskCallsOtherWorkers(t *testing.T) {
	for _, count := range []int{1, 4} {
		owner, other := New(count), New(2)
		within(t, func() {
			var served atomic.Int32
			err := owner.Do(t.Context(), count, Func(func(_, _ int) {
				for _, w := range []*Workers{other, nil, new(Workers)} {
					if err := w.Do(t.Context(), 3, Func(func(_, _ int) { served.Add(1) })); err != nil {
						t.Errorf("other workers: %v", err)
					}
				}
			}))
			if err != nil || int(served.Load()) != 9*count {
				t.Errorf("%d workers: %v, %d pieces served", count, err, served.Load())
			}
		})
		owner.Close()
		other.Close()
	}
}

// Do works after a task that has returned, after one that has panicked, and after tasks that
// have ended their goroutines.
func TestDoAfterTasksThatEnd(t *testing.T) {
	w := New(2)
	defer w.Close()
	within(t, func() {
		for _, end := range []func(){func() {}, func() { panic("task") }} {
			_ = w.Do(t.Context(), 2, Func(func(_, _ int) { end() }))
			if err := w.Do(t.Context(), 2, Func(func(_, _ int) {})); err != nil {
				t.Error(err)
			}
		}
		var all sync.WaitGroup
		for range 100 { // goroutines whose memory is reused
			all.Go(func() { _ = w.Do(t.Context(), 2, Func(func(_, _ int) { runtime.Goexit() })) })
		}
		all.Wait()
		for range 100 {
			all.Go(func() {
				if err := w.Do(t.Context(), 4, Func(func(_, _ int) {})); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// A Do in another goroutine waits for its turn while a task runs, and its context ends that.
func TestOtherGoroutinesWait(t *testing.T) {
	w := New(2)
	defer w.Close()
	within(t, func() {
		ctx, cancel := context.WithCancel(t.Context())
		err := w.Do(t.Context(), 1, Func(func(_, _ int) {
			waited := make(chan error)
			go func() { waited <- w.Do(ctx, 1, Func(func(_, _ int) {})) }()
			cancel()
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Errorf("another goroutine: %v", err)
			}
		}))
		if err != nil {
			t.Error(err)
		}
	})
}
