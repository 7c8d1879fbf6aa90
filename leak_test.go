package privatemail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/post"
)

// A fallible call is a method that does work, on features that may be bad.
type fallible struct {
	name string
	do   func(ctx context.Context, e *Engine, x blas32.General) error
}

// fallibleCalls are all methods that do work, with valid settings.
func fallibleCalls(t *testing.T, r *release.Release, y []int32) []fallible {
	private, _ := paid(t)
	private.Ledger, private.NormalizeRows = mechanism.NoLedger, true
	attract := &Settings{Graph: Graph{MeanNeighbours: 8, NormalizeRows: true}, Form: kernel.Attract, Coefficient: 1}
	return []fallible{
		{"embed", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.Embed(ctx, x, y, attract)
			return err
		}},
		{"embed into", func(ctx context.Context, e *Engine, x blas32.General) error {
			s := Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Into: blas32.General{Rows: x.Rows, Cols: 2, Stride: 2, Data: make([]float32, 2*x.Rows)}}
			_, err := e.Embed(ctx, x, y, &s)
			return err
		}},
		{"converge", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.Converge(ctx, x, y, &ConvergeSettings{Graph: attract.Graph, Coefficient: 1})
			return err
		}},
		{"map", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.Map(ctx, x, &MapSettings{Graph: Graph{Neighbours: 5}})
			return err
		}},
		{"graph", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.NeighbourGraph(ctx, x, &Graph{Neighbours: 5})
			return err
		}},
		{"plan", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.Plan(ctx, x, attract)
			return err
		}},
		{"plan of a map", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.PlanMap(ctx, x, &MapSettings{Graph: Graph{MeanNeighbours: 8}})
			return err
		}},
		{"privatize", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.Privatize(ctx, x, y, private)
			return err
		}},
		{"privatize in float64", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.Privatize64(ctx, inDouble(x), y, private)
			return err
		}},
		{"continue", func(ctx context.Context, e *Engine, x blas32.General) error {
			_, err := e.Continue(ctx, r, nil, &post.Settings{MeanNeighbours: 8})
			return err
		}},
		{"reserve", func(ctx context.Context, e *Engine, x blas32.General) error {
			return e.Reserve(ctx, 1000, func(ctx context.Context) error {
				_, err := e.Embed(ctx, x, y, attract)
				return err
			})
		}},
		{"lend", func(ctx context.Context, e *Engine, x blas32.General) error {
			return e.Lend().Do(ctx, 20, par.Func(func(_, _ int) {}))
		}},
	}
}

// inDouble returns x in float64.
func inDouble(x blas32.General) blas64.General {
	out := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: make([]float64, len(x.Data))}
	for i, v := range x.Data {
		out.Data[i] = float64(v)
	}
	return out
}

// checkWhole fails if an unused Engine has not got all its memory back.
func checkWhole(t *testing.T, e *Engine, what string) {
	t.Helper()
	e.mu.Lock()
	running := e.running
	e.mu.Unlock()
	if running != 0 || len(e.large.turns) != 0 {
		t.Fatalf("%s: %d calls run, %d have turns", what, running, len(e.large.turns))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := e.pool.Reserve(ctx, e.pool.Whole())
	if err != nil {
		t.Fatalf("%s: memory is missing: %v", what, err)
	}
	r.Release()
}

// leakSet returns rows, labels, a release and all calls with them.
func leakSet(t *testing.T) (blas32.General, []fallible) {
	x, y := classes(t, 80, 4)
	s, _ := paid(t)
	s.Ledger, s.NormalizeRows = mechanism.NoLedger, true
	r, err := engine(t).Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	return x, fallibleCalls(t, r, y)
}

// worn is a context that ends after a number of checks.
type worn struct {
	context.Context
	left atomic.Int64
	end  func()
	done chan struct{}
}

func newWorn(ctx context.Context, looks int64) *worn {
	w := &worn{Context: ctx, done: make(chan struct{})}
	w.left.Store(looks)
	w.end = sync.OnceFunc(func() { close(w.done) })
	return w
}

func (w *worn) Done() <-chan struct{} { return w.done }

func (w *worn) Err() error {
	if w.left.Add(-1) >= 0 {
		return nil
	}
	w.end()
	return context.Canceled
}

// A context that ends at any check ends the call, and the call gives everything back.
func TestNothingLeaksWhereContextsEnd(t *testing.T) {
	x, all := leakSet(t)
	e := fixedEngine(t, 64<<20, WithProgress(func(Progress) {}))
	e.large.from = 1 // every call takes its turn
	for _, c := range all {
		ended := 0
		for looks := int64(0); ; looks += 1 + looks/4 {
			err := c.do(newWorn(t.Context(), looks), e, x)
			checkWhole(t, e, fmt.Sprintf("%s, %d looks", c.name, looks))
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, %d looks: %v", c.name, looks, err)
			}
			ended++
		}
		if ended == 0 {
			t.Errorf("%s does not look at its context", c.name)
		}
	}
}

// Panics at any call of a progress function, and bad rows, leave nothing behind.
func TestNothingLeaksAfterPanicsAndBadRows(t *testing.T) {
	x, all := leakSet(t)
	var left atomic.Int64
	e := fixedEngine(t, 64<<20, WithProgress(func(Progress) {
		if left.Add(-1) < 0 {
			panic("progress")
		}
	}))
	e.large.from = 1
	for _, c := range all {
		for reports := int64(0); ; reports += 1 + reports/2 {
			left.Store(reports)
			err := c.do(t.Context(), e, x)
			checkWhole(t, e, fmt.Sprintf("%s, %d reports", c.name, reports))
			if err == nil {
				break
			}
			if !errors.As(err, new(*par.PanicError)) {
				t.Fatalf("%s, %d reports: %v", c.name, reports, err)
			}
		}
		left.Store(math.MaxInt64)
		bad := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: slices.Clone(x.Data)}
		bad.Data[len(bad.Data)/2] = float32(math.NaN())
		err := c.do(t.Context(), e, bad)
		if reads := c.name != "continue" && c.name != "lend"; reads != errors.Is(err, kernel.ErrNonFinite) {
			t.Errorf("%s, a row that is not finite: %v", c.name, err)
		}
		checkWhole(t, e, c.name+" of a bad row")
	}
}

// With any memory limit a call is refused for it or succeeds, alone and with another that
// holds a part, and nothing is left behind.
func TestNothingLeaksAtAnyLimit(t *testing.T) {
	x, all := leakSet(t)
	for _, c := range all {
		refused := 0
		for limit := int64(1); ; limit += limit/2 + 1 {
			e := fixedEngine(t, limit)
			e.large.from = 1
			release := holding(t, e, limit/2)
			ended := make(chan error, 1)
			go func() { ended <- c.do(t.Context(), e, x) }()
			var err error
			select {
			case err = <-ended:
				release()
			case <-time.After(time.Millisecond): // it may wait for the other
				release()
				err = <-ended
			}
			if err != nil && !errors.Is(err, kernel.ErrMemory) {
				t.Fatalf("%s, limit %d: %v", c.name, limit, err)
			}
			if e.Close(); e.running != 0 || len(e.large.turns) != 0 {
				t.Fatalf("%s, limit %d: %d calls run", c.name, limit, e.running)
			}
			if err == nil {
				break
			}
			refused++
		}
		if refused == 0 && c.name != "lend" {
			t.Errorf("%s takes no memory of the limit", c.name)
		}
	}
}

// oddPayer is a budget whose Covers does something else.
type oddPayer struct {
	mechanism.Budget
	covers func() error
}

func (p *oddPayer) Covers(mechanism.Unit, mechanism.Spend) error { return p.covers() }

// A privacy budget that fails or panics leaves no memory of the Engine reserved.
func TestNothingLeaksWherePayersFail(t *testing.T) {
	x, y := classes(t, 40, 6)
	e := fixedEngine(t, 64<<20)
	for name, covers := range map[string]func() error{
		"fails":  func() error { return errors.New("not today") },
		"panics": func() error { panic("payer") },
	} {
		s, _ := paid(t)
		s.NormalizeRows, s.Ledger = true, &oddPayer{s.Ledger, covers}
		if _, err := e.Privatize64(t.Context(), inDouble(x), y, s); err == nil {
			t.Errorf("%s: no error", name)
		}
		checkWhole(t, e, name)
	}
}

// Every call that does work waits for memory that another holds, and ends when it is
// free.
func TestEveryCallWaitsForMemory(t *testing.T) {
	x, all := leakSet(t)
	for _, c := range all {
		if c.name == "lend" { // which takes none
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			const whole = 64 << 20
			e, err := New(WithWorkers(2), WithMaxMemory(whole), WithCalibration(kernel.Calibration{}))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			release := holding(t, e, whole-100)
			defer release()
			done := false
			go func() {
				if err := c.do(t.Context(), e, x); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				done = true
			}()
			synctest.Wait()
			if done {
				t.Errorf("%s takes no memory of the limit", c.name)
			}
			release()
			synctest.Wait()
			if !done {
				t.Errorf("%s does not end", c.name)
			}
		})
	}
}
