package privatemail

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// As many large calls run at a time as there are workers. Small calls and calls within
// another do not wait for them, calls that never fit are refused immediately, and a context
// and Close end a wait.
func TestLargeCallsTakeTurns(t *testing.T) {
	large, s := plane(20_000)
	small, _ := plane(100)
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		hold := make(chan struct{})
		e, err := New(WithWorkers(2), WithMaxMemory(1<<30), WithCalibration(kernel.Calibration{}))
		if err != nil {
			t.Fatal(err)
		}
		e.large.from = 1 << 20
		// A large call that has its turn and waits.
		call := func(ctx context.Context) error {
			m, err := e.reserveInTurn(ctx, 1<<20, "call")
			if err != nil {
				return err
			}
			defer m.release()
			if n := running.Add(1); n > 2 {
				t.Errorf("%d large calls run with two workers", n)
			}
			defer running.Add(-1)
			<-hold
			return nil
		}
		var cancelled, closed error
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go func() {
				if err := call(t.Context()); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		go func() { cancelled = call(ctx) }()
		go func() { _, closed = e.Embed(t.Context(), large, nil, s) }()
		synctest.Wait()
		if n := running.Load(); n != 2 {
			t.Fatalf("%d large calls run, want 2", n)
		}
		if _, err := e.Embed(t.Context(), small, nil, s); err != nil {
			t.Errorf("a small call: %v", err)
		}
		err = e.Reserve(t.Context(), 1, func(ctx context.Context) error {
			_, err := e.Embed(ctx, large, nil, s)
			return err
		})
		if err != nil {
			t.Errorf("a call within another one: %v", err)
		}
		if _, err := e.reserveInTurn(t.Context(), 2<<30, "call"); !errors.Is(err, kernel.ErrMemory) {
			t.Errorf("more than the whole limit: %v", err)
		}
		cancel()
		synctest.Wait()
		if !errors.Is(cancelled, context.Canceled) || closed != nil {
			t.Errorf("cancelled: %v; the other: %v", cancelled, closed)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !errors.Is(closed, ErrClosed) {
			t.Errorf("after Close: %v", closed)
		}
		close(hold)
		synctest.Wait()
		if n := running.Load(); n != 0 || len(e.large.turns) != 0 {
			t.Errorf("%d still run, %d turns are taken", n, len(e.large.turns))
		}
	})
}
