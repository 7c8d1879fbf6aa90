package privatemail

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/par"
)

// A method that the progress function of the same Engine calls is refused; those of
// another Engine, and those that other goroutines call, are not.
func TestProgressFunctionCallsItsEngine(t *testing.T) {
	x, s := plane(3000)
	other := fixedEngine(t, 1<<30)
	stages := map[string]bool{}
	var e *Engine
	var mu sync.Mutex
	e = fixedEngine(t, 1<<30, WithProgress(func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if stages[p.Stage] {
			return
		}
		stages[p.Stage] = true
		for name, do := range calls(t.Context(), e, x) {
			if err := do(); !errors.Is(err, ErrReentrant) {
				t.Errorf("%s: %s: %v", p.Stage, name, err)
			}
		}
		if err := e.Reserve(t.Context(), 1, noWork); !errors.Is(err, ErrReentrant) {
			t.Errorf("%s: reserve: %v", p.Stage, err)
		}
		if err := e.Close(); !errors.Is(err, ErrReentrant) {
			t.Errorf("%s: close: %v", p.Stage, err)
		}
		if _, err := other.Embed(t.Context(), x, nil, s); err != nil {
			t.Errorf("%s: another engine: %v", p.Stage, err)
		}
		elsewhere := make(chan error)
		go func() { _, err := e.Embed(t.Context(), x, nil, nil); elsewhere <- err }()
		if err := <-elsewhere; !errors.Is(err, ErrSettings) {
			t.Errorf("%s: another goroutine: %v", p.Stage, err)
		}
	}))
	finished := make(chan error, 1)
	go func() {
		_, err := e.Embed(t.Context(), x, nil, s)
		if _, more := e.Converge(t.Context(), x, nil, &Settings{MeanNeighbours: 10, Form: kernel.Attract}); err == nil {
			err = more
		}
		finished <- err
	}()
	select {
	case err := <-finished:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("a progress function that calls its engine hangs")
	}
	for _, stage := range []string{"find neighbours", "profile", "steps", "eigenvectors"} {
		if !stages[stage] {
			t.Errorf("stage %q was not seen", stage)
		}
	}
	if err := e.Close(); err != nil {
		t.Errorf("afterwards: %v", err)
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

// Engines that share workers cannot deadlock each other: in the progress function of one the
// methods of the other end, with ErrReentrant where a worker calls them.
func TestEnginesThatShareWorkers(t *testing.T) {
	x, s := plane(3000)
	for _, count := range []int{1, 3} {
		var a, b *Engine
		var other []*Engine
		var mu sync.Mutex
		refused, served := 0, 0
		progress := func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			if p.Done != 1 {
				return
			}
			for _, e := range other {
				_, err := e.Embed(t.Context(), x, nil, s)
				switch {
				case errors.Is(err, ErrReentrant):
					refused++
					if err := e.Close(); !errors.Is(err, ErrReentrant) {
						t.Errorf("close: %v", err)
					}
					if err := e.Lend().Do(t.Context(), 1, par.Func(func(_, _ int) {})); !errors.Is(err, par.ErrNested) {
						t.Errorf("lent workers: %v", err)
					}
				case err == nil:
					served++
				default:
					t.Errorf("%s: %v", p.Stage, err)
				}
			}
		}
		ends(t, func() {
			a = engine(t, WithWorkers(count), WithCalibration(kernel.Calibration{}), WithProgress(progress))
			b = engine(t, WithLent(a.Lend()), WithCalibration(kernel.Calibration{}))
			c := engine(t, WithLent(b.Lend()), WithCalibration(kernel.Calibration{}))
			other = []*Engine{b, c}
			if _, err := a.Embed(t.Context(), x, nil, s); err != nil {
				t.Error(err)
			}
			if refused == 0 || served == 0 {
				t.Errorf("%d workers: %d calls were refused, %d served: no test", count, refused, served)
			}
			other = nil
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

// Tasks of workers that an Engine has lent cannot wait for its methods.
func TestTasksOfLentWorkersCallTheirEngine(t *testing.T) {
	x, _ := plane(100)
	e := engine(t, WithWorkers(2))
	ends(t, func() {
		if err := e.Lend().Do(t.Context(), 4, par.Func(func(_, _ int) {
			for name, do := range calls(t.Context(), e, x) {
				if err := do(); !errors.Is(err, ErrReentrant) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := e.Close(); !errors.Is(err, ErrReentrant) {
				t.Errorf("close: %v", err)
			}
		})); err != nil {
			t.Error(err)
		}
	})
}

// oddPayer is a budget whose Covers does something else.
type oddPayer struct {
	mechanism.Budget
	covers func() error
}

func (p *oddPayer) Covers(mechanism.Unit, mechanism.Spend) error { return p.covers() }

// Close in anything that a method runs would wait for that method. Calls from outside,
// and after it has returned, are not refused.
func TestCloseWithinAMethod(t *testing.T) {
	x, y := classes(t, 40, 6)
	e := engine(t)
	ends(t, func() {
		err := e.Reserve(t.Context(), 1, func(ctx context.Context) error {
			return e.Reserve(ctx, 1, func(context.Context) error { return e.Close() })
		})
		if !errors.Is(err, ErrReentrant) {
			t.Errorf("in Reserve: %v", err)
		}
		s, _ := paid(t)
		s.Ledger = &oddPayer{s.Ledger, e.Close}
		if _, err := e.Privatize(t.Context(), x, y, s); !errors.Is(err, ErrReentrant) {
			t.Errorf("in a budget: %v", err)
		}
		var closed chan error
		err = e.Reserve(t.Context(), 1, func(ctx context.Context) error {
			closed = make(chan error, 1)
			go func() { closed <- e.Close() }() // waits for this work, which does not wait for it
			return nil
		})
		if err != nil || <-closed != nil {
			t.Errorf("in another goroutine: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
