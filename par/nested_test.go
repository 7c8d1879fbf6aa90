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

// A task that calls Do of its own workers, or of workers that share their goroutines, gets
// ErrNested on every worker. Do of other workers succeeds.
func TestNestedDoIsRefused(t *testing.T) {
	for _, count := range []int{1, 4} {
		owner, other := New(count), New(2)
		lent := owner.Lend()
		within(t, func() {
			var refused, served atomic.Int32
			var met sync.WaitGroup
			met.Add(count) // every worker gets a piece
			err := owner.Do(t.Context(), count, Func(func(_, _ int) {
				met.Done()
				met.Wait()
				for _, w := range []*Workers{owner, lent, lent.Lend()} {
					if err := w.Do(t.Context(), 3, Func(func(_, _ int) { t.Error("a piece was run") })); errors.Is(err, ErrNested) && w.InTask() {
						refused.Add(1)
					}
				}
				for _, w := range []*Workers{other, nil, new(Workers)} {
					if err := w.Do(t.Context(), 3, Func(func(_, _ int) { served.Add(1) })); err != nil || w.InTask() {
						t.Errorf("other workers: %v", err)
					}
				}
			}))
			if err != nil || int(refused.Load()) != 3*count || int(served.Load()) != 9*count {
				t.Errorf("%d workers: %v, %d were refused, %d pieces served", count, err, refused.Load(), served.Load())
			}
		})
		owner.Close()
		other.Close()
	}
}

// A goroutine that has finished a task is not refused: neither after a return, nor
// after a panic, nor where it replaces one that a task has ended.
func TestFormerTasksAreNotRefused(t *testing.T) {
	w := New(2)
	defer w.Close()
	within(t, func() {
		for _, end := range []func(){func() {}, func() { panic("task") }} {
			_ = w.Do(t.Context(), 2, Func(func(_, _ int) { end() }))
			if w.InTask() {
				t.Error("after Do")
			}
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

// A task can close its workers: they stop when its Do ends. A borrower cannot.
func TestTaskClosesItsWorkers(t *testing.T) {
	for _, count := range []int{1, 3} {
		w := New(count)
		within(t, func() {
			err := w.Do(t.Context(), 8, Func(func(_, _ int) { w.Lend().Close(); w.Close() }))
			if err != nil || !w.crew.closed {
				t.Errorf("%d workers: closed %v, %v", count, w.crew.closed, err)
			}
			w.Close()
			sum := 0 // not atomic: the race detector would object to a second goroutine
			if err := w.Do(t.Context(), 10, Func(func(_, piece int) { sum += piece })); err != nil || sum != 45 {
				t.Errorf("%d workers, afterwards: %d, %v", count, sum, err)
			}
		})
	}
}
