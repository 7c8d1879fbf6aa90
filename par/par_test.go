package par

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDoRunsEveryPieceOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		workers := New(size)
		for _, pieces := range []int{0, 1, 2, 7, 1000} {
			count := make([]atomic.Int32, pieces)
			err := workers.Do(t.Context(), pieces, Func(func(worker, piece int) {
				if worker < 0 || worker >= size {
					t.Errorf("worker %d of %d", worker, size)
				}
				count[piece].Add(1)
			}))
			if err != nil {
				t.Fatal(err)
			}
			for i := range count {
				if c := count[i].Load(); c != 1 {
					t.Errorf("workers=%d pieces=%d: piece %d ran %d times", size, pieces, i, c)
				}
			}
		}
		workers.Close()
		workers.Close()
	}
}

func TestNilAndClosedSetsRunInTheCaller(t *testing.T) {
	closed := New(4)
	closed.Close()
	for name, workers := range map[string]*Workers{"nil": nil, "zero": new(Workers), "closed": closed} {
		sum := 0 // not atomic: the race detector would object to a second goroutine
		if err := workers.Do(t.Context(), 100, Func(func(_, piece int) { sum += piece })); err != nil {
			t.Fatal(err)
		}
		if sum != 4950 {
			t.Errorf("%s: sum %d", name, sum)
		}
	}
	var none *Workers
	none.Close()
	if none.Count() != 1 {
		t.Errorf("nil Workers has %d workers", none.Count())
	}
}

func TestDoStopsWhenCancelled(t *testing.T) {
	workers := New(2)
	defer workers.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var ran atomic.Int32
	err := workers.Do(ctx, 1000, Func(func(_, piece int) {
		switch n := ran.Add(1); {
		case n == 10:
			cancel()
		case n > 10:
			<-ctx.Done() // begun by the other worker before the cancellation
		}
	}))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
	if n := ran.Load(); n > 11 {
		t.Errorf("%d pieces ran after the cancellation at 10", n)
	}
	if err := workers.Do(ctx, 1, Func(func(_, _ int) { t.Error("ran under a cancelled context") })); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestCancellationAfterTheLastPieceIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var workers *Workers
	if err := workers.Do(ctx, 3, Func(func(_, piece int) {
		if piece == 2 {
			cancel()
		}
	})); err != nil {
		t.Errorf("all pieces ran, yet err = %v", err)
	}
}

func TestDoReturnsPanics(t *testing.T) {
	workers := New(3)
	defer workers.Close()
	err := workers.Do(t.Context(), 50, Func(func(_, piece int) {
		if piece == 20 {
			panic("boom")
		}
	}))
	var p *PanicError
	if !errors.As(err, &p) || p.Value != "boom" || len(p.Stack) == 0 {
		t.Fatalf("err = %v", err)
	}
	if err := workers.Do(t.Context(), 5, Func(func(_, _ int) {})); err != nil {
		t.Errorf("the set is unusable after a panic: %v", err)
	}
}

// A task that ends its goroutine, as t.FailNow does, ends the call with an
// error, and no worker is lost.
func TestDoSurvivesGoexit(t *testing.T) {
	workers := New(3)
	defer workers.Close()
	for range 3 {
		done := make(chan error, 1)
		go func() {
			var err error
			defer func() { done <- err }()
			var once sync.Once
			err = workers.Do(t.Context(), 200, Func(func(worker, _ int) {
				time.Sleep(50 * time.Microsecond)
				if worker > 0 {
					once.Do(runtime.Goexit)
				}
			}))
		}()
		select {
		case err := <-done:
			var p *PanicError
			if err != nil && !errors.As(err, &p) {
				t.Fatalf("err = %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Do hangs")
		}
	}
	var ran atomic.Int32
	if err := workers.Do(t.Context(), 100, Func(func(_, _ int) { ran.Add(1) })); err != nil || ran.Load() != 100 {
		t.Errorf("%d pieces ran, %v", ran.Load(), err)
	}
}

func TestWaitingForTheTurnEndsWithTheContext(t *testing.T) {
	workers := New(1)
	defer workers.Close()
	begun, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := workers.Do(t.Context(), 1, Func(func(_, _ int) { close(begun); <-release })); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := workers.Do(ctx, 1, Func(func(_, _ int) { t.Error("ran out of turn") })); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	close(release)
	wg.Wait()
}

func TestConcurrentCallersTakeTurns(t *testing.T) {
	workers := New(2)
	defer workers.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var sum atomic.Int64
			for range 50 {
				if err := workers.Do(t.Context(), 10, Func(func(_, piece int) { sum.Add(int64(piece)) })); err != nil {
					t.Error(err)
				}
			}
			if sum.Load() != 50*45 {
				t.Errorf("sum %d", sum.Load())
			}
		})
	}
	wg.Wait()
}

type addTask struct{ sums [64]int64 }

func (a *addTask) Run(_, piece int) { a.sums[piece]++ }

func TestDoAllocatesNothing(t *testing.T) {
	workers := New(2)
	defer workers.Close()
	task := new(addTask)
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		if err := workers.Do(ctx, len(task.sums), task); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per Do", n)
	}
}
