package par

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLentWorkersAreTheSameGoroutines(t *testing.T) {
	owner := New(3)
	defer owner.Close()
	lent := owner.Lend()
	if lent.Count() != 3 {
		t.Fatalf("%d workers of 3 are lent", lent.Count())
	}
	// Both callers use one counter without a lock: the race detector would object if
	// they did not take turns.
	sum := 0
	var wg sync.WaitGroup
	for _, w := range []*Workers{owner, lent, lent.Lend()} {
		wg.Go(func() {
			for range 200 {
				if err := w.Do(t.Context(), 1, Func(func(_, _ int) { sum++ })); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if sum != 600 {
		t.Errorf("%d pieces of 600 were done one after the other", sum)
	}
}

// allMeet runs one piece for each worker. Each piece waits for all others, so every
// worker must take one.
func allMeet(t *testing.T, w *Workers) {
	t.Helper()
	var here atomic.Int32
	met := make(chan struct{})
	if err := w.Do(t.Context(), w.Count(), Func(func(_, _ int) {
		if int(here.Add(1)) == w.Count() {
			close(met)
		}
		select {
		case <-met:
		case <-time.After(10 * time.Second):
			t.Error("a worker is missing")
		}
	})); err != nil {
		t.Error(err)
	}
}

func TestClosingWhatIsLentClosesNothing(t *testing.T) {
	owner := New(3)
	defer owner.Close()
	lent := owner.Lend()
	lent.Close()
	lent.Close()
	allMeet(t, owner)
	allMeet(t, lent)
}

func TestLentWorkersOutliveTheirOwner(t *testing.T) {
	owner := New(4)
	lent := owner.Lend()
	owner.Close()
	sum := 0 // not atomic: the race detector would object to a second goroutine
	if err := lent.Do(t.Context(), 100, Func(func(_, piece int) { sum += piece })); err != nil || sum != 4950 {
		t.Errorf("sum %d, %v", sum, err)
	}
}

func TestNothingIsLentOfNothing(t *testing.T) {
	var none *Workers
	for name, lent := range map[string]*Workers{"nil": none.Lend(), "zero": new(Workers).Lend()} {
		var ran atomic.Int32
		if err := lent.Do(t.Context(), 7, Func(func(_, _ int) { ran.Add(1) })); err != nil || ran.Load() != 7 || lent.Count() != 1 {
			t.Errorf("%s: %d pieces of 7 by %d workers, %v", name, ran.Load(), lent.Count(), err)
		}
		lent.Close()
	}
}
