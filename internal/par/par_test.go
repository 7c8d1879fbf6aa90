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
	for _, workers := range []int{1, 2, 3, 8} {
		set := New(workers)
		for _, pieces := range []int{0, 1, 2, 7, 1000} {
			count := make([]atomic.Int32, pieces)
			err := set.Do(t.Context(), pieces, Func(func(worker, piece int) {
				if worker < 0 || worker >= workers {
					t.Errorf("worker %d of %d", worker, workers)
				}
				count[piece].Add(1)
			}))
			if err != nil {
				t.Fatal(err)
			}
			for i := range count {
				if c := count[i].Load(); c != 1 {
					t.Errorf("workers=%d pieces=%d: piece %d ran %d times", workers, pieces, i, c)
				}
			}
		}
		set.Close()
		set.Close()
	}
}

func TestNilAndClosedSetsRunInTheCaller(t *testing.T) {
	closed := New(4)
	closed.Close()
	for name, set := range map[string]*Set{"nil": nil, "zero": new(Set), "closed": closed} {
		sum := 0 // not atomic: the race detector would object to a second goroutine
		if err := set.Do(t.Context(), 100, Func(func(_, piece int) { sum += piece })); err != nil {
			t.Fatal(err)
		}
		if sum != 4950 {
			t.Errorf("%s: sum %d", name, sum)
		}
	}
	var nilSet *Set
	nilSet.Close()
	if nilSet.Workers() != 1 {
		t.Errorf("nil set has %d workers", nilSet.Workers())
	}
}

func TestDoStopsWhenCancelled(t *testing.T) {
	set := New(2)
	defer set.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var ran atomic.Int32
	err := set.Do(ctx, 1000, Func(func(_, piece int) {
		if ran.Add(1) == 10 {
			cancel()
		}
	}))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
	if n := ran.Load(); n > 12 {
		t.Errorf("%d pieces ran after the cancellation at 10", n)
	}
	if err := set.Do(ctx, 1, Func(func(_, _ int) { t.Error("ran under a cancelled context") })); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestCancellationAfterTheLastPieceIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var set *Set
	if err := set.Do(ctx, 3, Func(func(_, piece int) {
		if piece == 2 {
			cancel()
		}
	})); err != nil {
		t.Errorf("all pieces ran, yet err = %v", err)
	}
}

func TestDoReturnsPanics(t *testing.T) {
	set := New(3)
	defer set.Close()
	err := set.Do(t.Context(), 50, Func(func(_, piece int) {
		if piece == 20 {
			panic("boom")
		}
	}))
	var p *PanicError
	if !errors.As(err, &p) || p.Value != "boom" || len(p.Stack) == 0 {
		t.Fatalf("err = %v", err)
	}
	if err := set.Do(t.Context(), 5, Func(func(_, _ int) {})); err != nil {
		t.Errorf("the set is unusable after a panic: %v", err)
	}
}

// A task that ends its goroutine, as t.FailNow does, ends the call with an error
// and leaves the set whole.
func TestDoSurvivesGoexit(t *testing.T) {
	set := New(3)
	defer set.Close()
	for range 3 {
		done := make(chan error, 1)
		go func() {
			var err error
			defer func() { done <- err }()
			var once sync.Once
			err = set.Do(t.Context(), 200, Func(func(worker, _ int) {
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
	if err := set.Do(t.Context(), 100, Func(func(_, _ int) { ran.Add(1) })); err != nil || ran.Load() != 100 {
		t.Errorf("%d pieces ran, %v", ran.Load(), err)
	}
}

func TestWaitingForTheTurnEndsWithTheContext(t *testing.T) {
	set := New(1)
	defer set.Close()
	begun, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := set.Do(t.Context(), 1, Func(func(_, _ int) { close(begun); <-release })); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := set.Do(ctx, 1, Func(func(_, _ int) { t.Error("ran out of turn") })); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	close(release)
	wg.Wait()
}

func TestConcurrentCallersTakeTurns(t *testing.T) {
	set := New(2)
	defer set.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var sum atomic.Int64
			for range 50 {
				if err := set.Do(t.Context(), 10, Func(func(_, piece int) { sum.Add(int64(piece)) })); err != nil {
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
	set := New(2)
	defer set.Close()
	task := new(addTask)
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		if err := set.Do(ctx, len(task.sums), task); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per Do", n)
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct{ n, size, want int }{{0, 4, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}} {
		if got := Blocks(c.n, c.size); got != c.want {
			t.Errorf("Blocks(%d, %d) = %d, want %d", c.n, c.size, got, c.want)
		}
	}
	if lo, hi := Block(1, 5, 4); lo != 4 || hi != 5 {
		t.Errorf("Block(1, 5, 4) = %d, %d", lo, hi)
	}
}
