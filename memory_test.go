package privatemail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// plane returns slightly perturbed rows of a lattice in the plane, and settings with
// which their graph takes several times the memory that is known beforehand.
func plane(n int) (blas32.General, *Settings) {
	x := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
	side := int(math.Ceil(math.Sqrt(float64(n))))
	for i := range n {
		x.Data[2*i] = float32(i%side) + 0.3*float32(math.Sin(float64(3*i)))
		x.Data[2*i+1] = float32(i/side) + 0.3*float32(math.Cos(float64(5*i)))
	}
	return x, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(2), CutoffWeight: 1e-2, Operator: "csr"}}
}

// fixedEngine is an Engine whose choices and memory do not depend on the machine.
func fixedEngine(t *testing.T, bytes int64, opts ...Option) *Engine {
	return engine(t, append([]Option{WithWorkers(2), WithMaxMemory(bytes), WithCalibration(kernel.Calibration{})}, opts...)...)
}

// free reports whether that many bytes of the memory limit are free while probe holds 1 byte of
// it.
func free(probe *mem.Reservation, bytes int64) bool {
	return probe.Grow(bytes + 1)
}

// While a call runs, the memory of its graph is reserved, and afterwards none is.
func TestCallsReserveWhatTheyTake(t *testing.T) {
	x, s := plane(10_000)
	const whole = 64 << 20
	var e *Engine
	during := false
	e = fixedEngine(t, whole, WithProgress(func(p Progress) {
		if p.Stage == "steps" && p.Done == 1 {
			probe, err := e.pool.Reserve(t.Context(), 1)
			if err != nil {
				t.Error(err)
				return
			}
			defer probe.Release()
			during = !free(probe, whole-8<<20) && free(probe, whole/2)
		}
	}))
	out, err := e.Embed(t.Context(), x, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if peak := out.Graph.Cost.PeakBytes; peak < 8<<20 || peak > whole/2 {
		t.Fatalf("the graph takes %d bytes: no test", peak)
	}
	if !during {
		t.Error("what a running call takes is not reserved, or far too much is")
	}
	probe, err := e.pool.Reserve(t.Context(), 1)
	if err != nil || !free(probe, whole-1) {
		t.Errorf("a call that has returned holds memory: %v", err)
	}
	probe.Release()
}

// Callers that together need many times the memory limit get the same results as a
// single caller.
func TestManyCallersOfOneLimit(t *testing.T) {
	x, s := plane(2000)
	alone, err := fixedEngine(t, 1<<30).Embed(t.Context(), x, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	e := fixedEngine(t, alone.Graph.Cost.PeakBytes*3/2+20*int64(x.Rows)*2)
	attract := &Settings{Graph: Graph{MeanNeighbours: 10, NormalizeRows: true}, Form: kernel.Attract}
	var all sync.WaitGroup
	for caller := range 12 {
		all.Go(func() {
			switch caller % 4 {
			case 0:
				if _, err := e.Converge(t.Context(), x, nil, &ConvergeSettings{Graph: attract.Graph}); err != nil {
					t.Errorf("converge: %v", err)
				}
				return
			case 1:
				if _, err := e.NeighbourGraph(t.Context(), x, &attract.Graph); err != nil {
					t.Errorf("graph: %v", err)
				}
				return
			}
			out, err := e.Embed(t.Context(), x, nil, s)
			if err != nil {
				t.Errorf("embed: %v", err)
				return
			}
			if !slices.Equal(out.Points.RawMatrix().Data, alone.Points.RawMatrix().Data) {
				t.Error("other bits than a caller alone gets")
			}
		})
	}
	all.Wait()
}

// holding reserves that many bytes of the memory limit, and returns a function that releases
// them.
func holding(t *testing.T, e *Engine, bytes int64) (release func()) {
	held, done := make(chan struct{}), make(chan struct{})
	go func() {
		if err := e.Reserve(t.Context(), bytes, func(context.Context) error { close(held); <-done; return nil }); err != nil {
			t.Error(err)
		}
	}()
	<-held
	return sync.OnceFunc(func() { close(done) })
}

// A call that is refused memory in the middle, because others hold it, starts again
// when they have given it back, with the same result.
func TestCallStartsAgain(t *testing.T) {
	x, s := plane(10_000)
	s.Bandwidth, s.CutoffWeight, s.MeanNeighbours = kernel.Bandwidth{}, 0, 80
	alone, err := fixedEngine(t, 1<<30).Embed(t.Context(), x, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		const whole = 64 << 20
		began, samples := 0, 0
		e, err := New(WithWorkers(2), WithMaxMemory(whole), WithCalibration(kernel.Calibration{}), WithProgress(func(p Progress) {
			if p.Stage == "find neighbours" && p.Done == 1 {
				began++
			}
			if p.Stage == "profile" && p.Done == 1 {
				samples++
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		release := holding(t, e, whole-8<<20)
		defer release()
		done := false
		go func() {
			out, err := e.Embed(t.Context(), x, nil, s)
			if err != nil || !slices.Equal(out.Points.RawMatrix().Data, alone.Points.RawMatrix().Data) {
				t.Errorf("not the same as alone: %v", err)
			}
			done = true
		}()
		synctest.Wait()
		if done || began > 0 {
			t.Fatalf("done: %v; neighbours were stored %d times while memory was missing", done, began)
		}
		release()
		synctest.Wait()
		if !done || began != 1 || samples != 1 {
			t.Errorf("done: %v; neighbours were stored %d times, samples taken %d times", done, began, samples)
		}
	})
}

// A wait for memory ends with its own context, and with Close.
func TestWaitForMemoryEnds(t *testing.T) {
	x, s := plane(2000)
	synctest.Test(t, func(t *testing.T) {
		e, err := New(WithWorkers(1), WithMaxMemory(8<<20), WithCalibration(kernel.Calibration{}))
		if err != nil {
			t.Fatal(err)
		}
		release := holding(t, e, 8<<20)
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled, closed error
		go func() { _, cancelled = e.Embed(ctx, x, nil, s) }()
		go func() { _, closed = e.Embed(t.Context(), x, nil, s) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(cancelled, context.Canceled) || closed != nil {
			t.Errorf("cancelled: %v; the other: %v", cancelled, closed)
		}
		ended := false
		go func() { e.Close(); ended = true }()
		synctest.Wait()
		if !errors.Is(closed, ErrClosed) || ended {
			t.Errorf("after Close: %v; it has waited for the call that runs: %v", closed, !ended)
		}
		release()
		synctest.Wait()
		if !ended {
			t.Error("Close did not end with the last call")
		}
	})
}

// Calls that never fit are refused before a feature is read, by an error that says how
// much is missing from which mem.
func TestRefusedBeforeFeaturesAreRead(t *testing.T) {
	x, s := plane(10_000)
	x.Data[7] = float32(math.NaN())
	e := fixedEngine(t, 1<<20)
	for name, do := range map[string]func() error{
		"embed": func() error { _, err := e.Embed(t.Context(), x, nil, s); return err },
		"converge": func() error {
			_, err := e.Converge(t.Context(), x, nil, &ConvergeSettings{Graph: Graph{Neighbours: 5}})
			return err
		},
		"map":     func() error { _, err := e.Map(t.Context(), x, &MapSettings{Graph: Graph{Neighbours: 5}}); return err },
		"graph":   func() error { _, err := e.NeighbourGraph(t.Context(), x, &Graph{MeanNeighbours: 5}); return err },
		"reserve": func() error { return e.Reserve(t.Context(), 1<<20+1, noWork) },
	} {
		err := do()
		m, ok := errors.AsType[*kernel.MemoryError](err)
		if !ok || m.Limit != 1<<20 || m.Need <= m.Limit {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, words := range []string{"limit 1.0 MiB", " missing", "the one that was set"} {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %q does not say %q", name, err, words)
			}
		}
	}
	if _, err := e.Embed(t.Context(), x, nil, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}}); !errors.Is(err, kernel.ErrNonFinite) && !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("%v", err)
	}
}

// A default limit is named as such, and a part of a limit by the whole.
func TestMemoryErrorsNameTheLimit(t *testing.T) {
	e := engine(t)
	err := e.explain(&kernel.MemoryError{What: "x", Need: 700, Limit: 500}, 1000)
	m, ok := errors.AsType[*kernel.MemoryError](err)
	if !ok || m.Need != 1200 || m.Limit != 1000 || !errors.Is(err, kernel.ErrMemory) || !strings.Contains(err.Error(), "three quarters") {
		t.Errorf("%v", err)
	}
	if again := e.explain(fmt.Errorf("more: %w", err), 2000); strings.Count(again.Error(), "three quarters") != 1 {
		t.Errorf("%v", again)
	}
	if e.explain(nil, 1) != nil {
		t.Error("an error of nothing")
	}
}

// Calls within Reserve share its memory and do not wait for it: any number of such calls
// end, also while Close waits.
func TestCallsWithinReserve(t *testing.T) {
	x, s := plane(2000)
	alone, err := fixedEngine(t, 1<<30).Embed(t.Context(), x, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	need := alone.Graph.Cost.PeakBytes + 20*2*int64(x.Rows)
	synctest.Test(t, func(t *testing.T) {
		e, err := New(WithWorkers(2), WithMaxMemory(2*need+need/2), WithCalibration(kernel.Calibration{}))
		if err != nil {
			t.Fatal(err)
		}
		ends, closed := 0, false
		var mu sync.Mutex
		for range 6 {
			go func() {
				err := e.Reserve(t.Context(), need, func(ctx context.Context) error {
					out, err := e.Embed(ctx, x, nil, s)
					if err == nil && !slices.Equal(out.Points.RawMatrix().Data, alone.Points.RawMatrix().Data) {
						t.Error("other bits")
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				ends++
				mu.Unlock()
			}()
		}
		synctest.Wait()
		if ends != 6 {
			t.Fatalf("%d of 6 have ended", ends)
		}
		err = e.Reserve(t.Context(), 1, func(ctx context.Context) error {
			go func() { e.Close(); closed = true }()
			synctest.Wait()
			if _, err := e.Embed(t.Context(), x, nil, s); !errors.Is(err, ErrClosed) {
				t.Errorf("a call from outside: %v", err)
			}
			_, err := e.Embed(ctx, x, nil, s)
			return err
		})
		synctest.Wait()
		if err != nil || !closed {
			t.Errorf("within a call that Close waits for: %v; closed: %v", err, closed)
		}
	})
}

// A context that outlives its Reserve is like any other.
func TestContextOutlivesReserve(t *testing.T) {
	x, s := plane(2000)
	e := fixedEngine(t, 1<<30)
	var kept context.Context
	if err := e.Reserve(t.Context(), 1<<20, func(ctx context.Context) error { kept = ctx; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(kept, x, nil, s); err != nil {
		t.Error(err)
	}
	e.Close()
	if _, err := e.Embed(kept, x, nil, s); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A call that panics gives its memory back, and Close does not wait for it.
func TestMemoryComesBackAfterAPanic(t *testing.T) {
	x, s := plane(2000)
	for _, stage := range []string{"steps", "find neighbours"} { // of the caller, of a worker
		e := fixedEngine(t, 64<<20, WithProgress(func(p Progress) {
			if p.Stage == stage {
				panic("progress")
			}
		}))
		func() {
			defer func() { recover() }()
			if _, err := e.Embed(t.Context(), x, nil, s); err == nil {
				t.Errorf("%s: no error", stage)
			}
		}()
		if err := e.Reserve(t.Context(), 64<<20, func(context.Context) error { return nil }); err != nil {
			t.Errorf("%s: %v", stage, err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("%s: %v", stage, err)
		}
	}
}
