package main

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/par"
)

func TestYardstick(t *testing.T) {
	l := testLab(t)
	y, err := l.yardstick(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.yardstick(t.Context(), 2); err != nil || again != y {
		t.Errorf("another yardstick for the same workers, %v", err)
	}
	if !(y.least > 0) || math.IsInf(y.least, 1) {
		t.Errorf("the least reading is %g", y.least)
	}
	y.least = 1
	for seconds, calm := range map[float64]bool{1: true, 1.05: true, 1.2: false} {
		if y.calm(seconds) != calm {
			t.Errorf("%g times the least: calm is %v", seconds, !calm)
		}
	}
	// Nothing is as fast as this: the time is over before it is calm.
	y.least = 1e-12
	began := time.Now()
	took, err := y.wait(t.Context(), began.Add(20*time.Millisecond))
	if err != nil || y.calm(took) || time.Since(began) < 20*time.Millisecond {
		t.Errorf("waited %v for a reading of %g, %v", time.Since(began), took, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newYardstick(ctx, l.workers(1), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestStretch(t *testing.T) {
	s := stretch{seconds: 6, before: 1, after: 2}
	if s.yards() != 4 || s.disturbed() != 2 {
		t.Errorf("%g yards, disturbed %g", s.yards(), s.disturbed())
	}
	calm, slowCalm, fast := stretch{seconds: 2, calm: true}, stretch{seconds: 3, calm: true}, stretch{seconds: 1}
	for _, c := range []struct{ better, worse stretch }{{calm, slowCalm}, {calm, fast}, {slowCalm, fast}, {fast, stretch{seconds: 2}}} {
		if !c.better.betterThan(c.worse) || c.worse.betterThan(c.better) {
			t.Errorf("%+v and %+v", c.better, c.worse)
		}
	}
}

// A measurement that meets no calm moment ends when patience is over, and what a
// short one leaves the next may use.
func TestPatience(t *testing.T) {
	l := testLab(t)
	y, err := l.yardstick(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	one := &trial{c: &benchCase{name: "x", n: 1, workers: 1}, sub: &subject{roof: roofRead, run: func(context.Context) error {
		runs++
		time.Sleep(time.Millisecond)
		return nil
	}}}
	// On a machine that others keep busy calm is rare, but not for so long.
	s := schedule{slice: time.Millisecond, patience: time.Minute}
	y.least = math.Inf(1) // the first reading is calm
	r, err := one.measure(t.Context(), l, s)
	if err != nil || runs < calmStretches {
		t.Fatalf("%d runs, %v", runs, err)
	}
	if r.YardsPerOp == nil || *r.YardsPerOp <= 0 || r.YardSeconds == nil || *r.YardSeconds < *r.LeastYardSeconds {
		t.Errorf("%+v", r)
	}
	if one.patience >= s.patience {
		t.Errorf("%v of %v is left after %v", one.patience, s.patience, one.took)
	}
	const left = 50 * time.Millisecond
	one.patience, s.patience = left, 100*time.Millisecond
	y.least = 1e-12 // no reading is calm
	if _, err := one.measure(t.Context(), l, s); err != nil {
		t.Fatal(err)
	}
	if one.took < left+s.patience || one.patience > s.slice {
		t.Errorf("took %v with a patience of %v; %v is left", one.took, left+s.patience, one.patience)
	}
}

// Where only calm operations count, what took longer in a disturbed stretch is in no figure.
func TestCalmOperations(t *testing.T) {
	l := testLab(t)
	y, err := l.yardstick(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	const short, long = 6 * time.Millisecond, 40 * time.Millisecond
	runs := 0
	one := &trial{c: &benchCase{name: "x", n: 1, workers: 1, calm: true}, warmed: true, sub: &subject{roof: roofRead, run: func(context.Context) error {
		if runs++; runs%3 > 0 {
			time.Sleep(long)
			y.least = 1e-12 // no reading is calm
			return nil
		}
		time.Sleep(short)
		y.least = math.Inf(1) // the next reading is, and mostly the one before
		return nil
	}}}
	for try := 0; ; try++ {
		runs = 0
		r, err := one.measure(t.Context(), l, schedule{slice: 3 * (2*long + short)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Iterations == runs && try < 100 { // no stretch was calm
			continue
		}
		if r.Iterations > runs/3 || r.Seconds < short.Seconds() || r.Seconds > long.Seconds() {
			t.Errorf("%d of %d operations, %g s", r.Iterations, runs, r.Seconds)
		}
		return
	}
}

// All ranks read when rank 0 does, and the slowest reading counts. More ranks than processors do
// not.
func TestRanksReadTogether(t *testing.T) {
	const ranks = 3
	readings := make([]int, ranks)
	err := cluster.Local(ranks, func(r *par.Ranks) error {
		l := testLab(t)
		l.ranks = r
		if got := l.yardRanks(); (got == r) != (ranks <= runtime.NumCPU()) {
			t.Errorf("%d ranks read at once on %d processors", got.Size(), runtime.NumCPU())
		}
		if r.Rank() == 0 {
			y, err := newYardstick(t.Context(), l.workers(1), r)
			if err != nil {
				return err
			}
			if slowest, err := y.read(t.Context()); err != nil || slowest < 1 || y.least < 1 {
				t.Errorf("a reading of %g, the least is %g, %v", slowest, y.least, err)
			}
			return tell(t.Context(), r, 0)
		}
		y := &yardstick{workers: l.workers(1), ranks: r}
		for {
			number, err := hear(t.Context(), r)
			if err != nil || number != readYard {
				return err
			}
			if r.Rank() == 1 {
				_, err = y.readAlong(t.Context())
			} else {
				_, err = par.GatherEqual(t.Context(), r, []float64{1}) // a second is slower than any
			}
			if err != nil {
				return err
			}
			readings[r.Rank()]++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, yardReadings + 1, yardReadings + 1}; !slices.Equal(readings, want) {
		t.Errorf("%v readings, want %v", readings, want)
	}
}
