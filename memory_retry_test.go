package privatemail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// Work whose calls together ask for more than the whole limit is refused, also where it
// had to start again because others held memory.
func TestWorkThatNeverFitsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const whole = 1000
		e, err := New(WithWorkers(1), WithMaxMemory(whole))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		release := holding(t, e, 450)
		runs := 0
		var refused error
		go func() {
			refused = e.Reserve(t.Context(), 100, func(ctx context.Context) error {
				if runs++; runs > 10 {
					return errors.New("it never ends")
				}
				return e.Reserve(ctx, 500, func(ctx context.Context) error {
					return e.Reserve(ctx, 500, func(context.Context) error { return nil })
				})
			})
		}()
		synctest.Wait()
		release()
		synctest.Wait()
		if !errors.Is(refused, kernel.ErrMemory) || runs > 3 {
			t.Errorf("after %d runs: %v", runs, refused)
		}
	})
}

// A call that its work has not waited for belongs to the run in which it began: the
// memory it gives back is not free for the next run.
func TestCallThatOutlivesARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const whole = 1000
		e, err := New(WithWorkers(1), WithMaxMemory(whole))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		release := holding(t, e, 450)
		begun, stop, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		runs := 0
		var done, grown error
		go func() {
			done = e.Reserve(t.Context(), 100, func(ctx context.Context) error {
				if runs++; runs == 1 {
					go func() {
						defer close(ended)
						grown = e.Reserve(ctx, 200, func(ctx context.Context) error {
							close(begun)
							<-stop
							return e.Reserve(ctx, 1, noWork)
						})
					}()
					<-begun
					return e.Reserve(ctx, 500, noWork)
				}
				close(stop)
				<-ended
				return e.Reserve(ctx, whole, noWork) // with the 100 that is too much
			})
		}()
		synctest.Wait()
		release()
		synctest.Wait()
		if runs != 2 || !errors.Is(done, kernel.ErrMemory) {
			t.Errorf("after %d runs: %v", runs, done)
		}
		if grown != nil && !errors.Is(grown, kernel.ErrMemory) {
			t.Errorf("the call of the first run: %v", grown)
		}
	})
}

// Reserve returns the error of its work unchanged, also where a call within it found
// no memory, or where the error is about the memory of another Engine.
func TestReserveReturnsTheErrorOfItsWork(t *testing.T) {
	x, s := plane(2000)
	e := fixedEngine(t, 1<<20)
	own := errors.New("the caller's own")
	err := e.Reserve(t.Context(), 1000, func(ctx context.Context) error {
		_, err := e.Embed(ctx, x, nil, s)
		return fmt.Errorf("%w: %w", own, err)
	})
	if m, ok := errors.AsType[*kernel.MemoryError](err); !ok || !errors.Is(err, own) || m.Limit != 1<<20 {
		t.Errorf("%v", err)
	}
	other := &kernel.MemoryError{What: "x", Need: 7, Limit: 5}
	if err := e.Reserve(t.Context(), 1, func(context.Context) error { return other }); err != error(other) {
		t.Errorf("%v, want %v", err, other)
	}
}

// noWork is work of Reserve that does nothing.
func noWork(context.Context) error { return nil }

// Absurd sizes are refused like others that are too large, within a call and outside.
func TestReserveRefusesAbsurdSizes(t *testing.T) {
	e := fixedEngine(t, 1<<20)
	for _, bytes := range []int64{1<<20 + 1, 1 << 60, math.MaxInt64} {
		if err := e.Reserve(t.Context(), bytes, noWork); !errors.Is(err, kernel.ErrMemory) {
			t.Errorf("%d bytes: %v", bytes, err)
		}
		err := e.Reserve(t.Context(), 10, func(ctx context.Context) error { return e.Reserve(ctx, bytes, noWork) })
		if m, ok := errors.AsType[*kernel.MemoryError](err); !ok || m.Need <= m.Limit {
			t.Errorf("%d bytes within a call: %v", bytes, err)
		}
	}
}

// Reserve refuses an invalid size and missing work, and a panic of work gives
// everything back.
func TestReserveRefusesNoWork(t *testing.T) {
	const whole = 1 << 20
	e := fixedEngine(t, whole)
	for _, err := range []error{e.Reserve(t.Context(), 1, nil), e.Reserve(t.Context(), -1, noWork), e.Reserve(t.Context(), math.MinInt64, noWork)} {
		if !errors.Is(err, ErrSettings) || !strings.HasPrefix(err.Error(), "privatemail: reserve: ") {
			t.Error(err)
		}
	}
	func() {
		defer func() {
			if v := recover(); v != "work" {
				t.Errorf("the panic of work has become %v", v)
			}
		}()
		_ = e.Reserve(t.Context(), whole, func(context.Context) error { panic("work") })
	}()
	if err := e.Reserve(t.Context(), whole, noWork); err != nil {
		t.Error(err)
	}
}

// A call within Reserve that fits into the rest of the memory limit is made: it does not count
// the memory that its own caller holds.
func TestCallFitsWithItsReserve(t *testing.T) {
	x, s := plane(400)
	const whole, held = 1_600_000, 100_000
	if _, err := fixedEngine(t, whole-held).NeighbourGraph(t.Context(), x, &s.Graph); err != nil {
		t.Fatalf("alone: %v", err)
	}
	e := fixedEngine(t, whole)
	if err := e.Reserve(t.Context(), held, func(ctx context.Context) error {
		_, err := e.NeighbourGraph(ctx, x, &s.Graph)
		return err
	}); err != nil {
		t.Error(err)
	}
}

// Consecutive calls within Reserve use the same memory.
func TestCallsWithinReserveGiveBack(t *testing.T) {
	e := fixedEngine(t, 1000)
	if err := e.Reserve(t.Context(), 10, func(ctx context.Context) error {
		for range 3 {
			if err := e.Reserve(ctx, 600, noWork); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
