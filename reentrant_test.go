package privatemail

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/kernel"
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
		if err := e.Reserve(t.Context(), 1, nil); !errors.Is(err, ErrReentrant) {
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
