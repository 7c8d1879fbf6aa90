package privatemail

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

func TestLendIsTheWorkersOfTheEngine(t *testing.T) {
	e, err := New(WithWorkers(3))
	if err != nil {
		t.Fatal(err)
	}
	lent := e.Lend()
	if lent.Count() != 3 || e.Workers() != 3 {
		t.Errorf("%d workers of %d are lent", lent.Count(), e.Workers())
	}
	x, y := classes(t, 300, 3)
	var wg sync.WaitGroup
	wg.Go(func() { // at the same time as other work of the caller, and although the borrower closes them
		for range 3 {
			if _, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 50 {
		count := make([]int, 40)
		if err := lent.Do(t.Context(), len(count), par.Func(func(_, piece int) { count[piece]++ })); err != nil {
			t.Error(err)
		}
		for piece, c := range count {
			if c != 1 {
				t.Errorf("piece %d ran %d times", piece, c)
			}
		}
		lent.Close()
	}
	wg.Wait()
	e.Close()
	sum := 0 // not atomic: the race detector would object to a second goroutine
	if err := lent.Do(t.Context(), 10, par.Func(func(_, piece int) { sum += piece })); err != nil || sum != 45 {
		t.Errorf("after Close: %d, %v", sum, err)
	}
}

func TestWithLent(t *testing.T) {
	x, y := classes(t, 300, 3)
	workers := par.New(3)
	defer workers.Close()
	var first []float64
	for name, lent := range map[string]*par.Workers{"three": workers, "the caller": nil} {
		e, err := New(WithLent(lent), WithCalibration(kernel.Calibration{}))
		if err != nil {
			t.Fatal(err)
		}
		if e.Workers() != lent.Count() {
			t.Errorf("%s: %d workers", name, e.Workers())
		}
		out, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}})
		if err != nil {
			t.Fatal(err)
		}
		e.Close()
		if first == nil {
			first = out.Points.RawMatrix().Data
		}
		for i, v := range out.Points.RawMatrix().Data {
			if v != first[i] {
				t.Fatalf("%s: entry %d differs", name, i)
			}
		}
	}
	met := make(chan struct{}) // the Engine has not stopped them: two pieces meet
	if err := workers.Do(t.Context(), 2, par.Func(func(_, piece int) {
		if piece == 1 {
			close(met)
			return
		}
		select { // a single worker would reach the second piece only after the first
		case <-met:
		case <-time.After(10 * time.Second):
			t.Error("the workers have stopped")
		}
	})); err != nil {
		t.Error(err)
	}
	if _, err := New(WithLent(workers), WithWorkers(2)); !errors.Is(err, ErrSettings) {
		t.Errorf("both: %v", err)
	}
}
