package privatemail

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// A progress function may call another Engine.
func TestProgressFunctionCallsAnotherEngine(t *testing.T) {
	x, s := plane(3000)
	other := fixedEngine(t, 1<<30)
	stages := map[string]bool{}
	var mu sync.Mutex
	e := fixedEngine(t, 1<<30, WithProgress(func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if stages[p.Stage] {
			return
		}
		stages[p.Stage] = true
		if _, err := other.Embed(t.Context(), x, nil, s); err != nil {
			t.Errorf("%s: another engine: %v", p.Stage, err)
		}
	}))
	ends(t, func() {
		if _, err := e.Embed(t.Context(), x, nil, s); err != nil {
			t.Error(err)
		}
		if _, err := e.Converge(t.Context(), x, nil, &ConvergeSettings{Graph: Graph{MeanNeighbours: 10}}); err != nil {
			t.Error(err)
		}
	})
	for _, stage := range []string{"find neighbours", "profile", "steps", "eigenvectors"} {
		if !stages[stage] {
			t.Errorf("stage %q was not seen", stage)
		}
	}
}

// ends runs f and fails if it hangs.
func ends(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		panic("it hangs") // with the stacks of all
	}
}

// Calls of Engines that share workers take turns, and each Engine is closed on its own.
func TestEnginesThatShareWorkers(t *testing.T) {
	x, s := plane(3000)
	for _, count := range []int{1, 3} {
		ends(t, func() {
			a := engine(t, WithWorkers(count), WithCalibration(kernel.Calibration{}))
			b := engine(t, WithLent(a.Lend()), WithCalibration(kernel.Calibration{}))
			c := engine(t, WithLent(b.Lend()), WithCalibration(kernel.Calibration{}))
			var all sync.WaitGroup
			for _, e := range []*Engine{a, b, c, a, b, c} {
				all.Go(func() {
					if _, err := e.Embed(t.Context(), x, nil, s); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, e := range []*Engine{b, c, a} {
				if _, err := e.Embed(t.Context(), x, nil, s); err != nil {
					t.Errorf("afterwards: %v", err)
				}
				if err := e.Close(); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			}
		})
	}
}

// Close waits for a running call, which goes on to its end.
func TestCloseWaitsForWork(t *testing.T) {
	e := engine(t)
	ends(t, func() {
		closed := make(chan error, 1)
		err := e.Reserve(t.Context(), 1, func(ctx context.Context) error {
			go func() { closed <- e.Close() }()
			return e.Reserve(ctx, 1, func(context.Context) error { return nil })
		})
		if err != nil || <-closed != nil {
			t.Errorf("%v", err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
