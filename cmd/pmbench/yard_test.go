package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
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

// Only stretches count whose readings are near the least there was in the end, and the slowest of
// these readings is told. Where there are none, everything counts.
func TestCalmOnes(t *testing.T) {
	of := func(before, after float64, seconds ...float64) stretch {
		return stretch{before: before, after: after, calm: true, sum: tally{seconds: seconds, machine: processorTimes{2, 1}}}
	}
	y := &yardstick{least: 1}
	all := []stretch{of(1.7, 1.7, 9, 9), of(1, 1.05, 2), of(1, 1.5, 8), of(1.02, 1, 3, 4)}
	for _, c := range []struct {
		least, slowest float64
		want           []float64
	}{{1, 1.05, []float64{2, 3, 4}}, {1.6, 1.7, []float64{9, 9, 2, 8, 3, 4}}, {0.5, 1.7, []float64{9, 9, 2, 8, 3, 4}}} {
		y.least = c.least
		sum, slowest := y.calmOnes(all)
		if !slices.Equal(sum.seconds, c.want) || slowest != c.slowest || *sum.machine.share() != 1.0/3 {
			t.Errorf("%+v: %v beside a reading of %g", c, sum.seconds, slowest)
		}
	}
}

// Of the operations of a measurement only those count that a slow reading does not follow. The
// second rank does nothing but make the readings.
func TestCalmOperations(t *testing.T) {
	const quick, slow = 1000.0, 7000.0 // seconds, more than the reading of the first rank
	runs, calm := 0, 0
	cases := []benchCase{{name: "x", n: 1, workers: 1, setup: func(context.Context, *lab) (*subject, error) {
		return &subject{roof: roofRead, run: func(context.Context) error {
			time.Sleep(shortestStretch) // so that it is a stretch
			return nil
		}}, nil
	}}}
	err := cluster.Local(2, func(r *par.Ranks) error {
		if r.Rank() == 0 {
			l := testLab(t)
			l.ranks, l.calm = r, 2
			return measureShared(t.Context(), l, "ranks", cases, schedule{rounds: 1, slice: 20 * shortestStretch, long: time.Hour}, func(r *Record) error {
				// The first one is to warm up.
				want, reading := calm, quick
				if calm == 0 { // the machine was so slow that there were one or two operations
					want, reading = runs-1, slow
				}
				if r.Iterations != want || *r.YardSeconds != reading {
					t.Errorf("%d of %d operations, of which %d are calm, beside a reading of %g", r.Iterations, runs, calm, *r.YardSeconds)
				}
				return nil
			})
		}
		begun, reading := false, quick
		for {
			number, err := hear(t.Context(), r)
			if err != nil || number == len(cases) {
				return err
			}
			switch {
			case number == readYard:
				_, err = par.GatherEqual(t.Context(), r, []float64{reading})
				reading = quick
			case number == collectGarbage:
			case !begun: // to make the subject
				begun = true
			default:
				if runs++; runs%3 > 0 {
					reading = slow
				} else {
					calm++
				}
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// All ranks read when rank 0 does, also where several processors are read for one rank, and the
// slowest reading counts. Where ranks are more than processors rank 0 reads alone.
func TestRanksReadTogether(t *testing.T) {
	for _, c := range []struct{ ranks, calm, together, workers int }{{1, 2, 1, 2}, {2, 2, 2, 1}, {2, 5, 2, 2}, {3, 2, 1, 2}} {
		err := cluster.Local(c.ranks, func(r *par.Ranks) error {
			l := testLab(t)
			l.ranks, l.calm = r, c.calm
			if ranks, workers := l.sharedYard(); ranks.Size() != c.together || workers != c.workers {
				t.Errorf("%+v: %d ranks read with %d workers each", c, ranks.Size(), workers)
			}
			cases := []benchCase{{name: "x", n: 1, workers: 1, setup: func(context.Context, *lab) (*subject, error) {
				return &subject{roof: roofRead, run: func(context.Context) error { return nil }}, nil
			}}}
			return measureShared(t.Context(), l, "ranks", cases, schedule{rounds: 2, slice: time.Millisecond}, func(record *Record) error {
				if r.Rank() > 0 || record.YardSeconds == nil || l.yards[1].workers.Count() != c.workers {
					t.Errorf("%+v: rank %d: %+v", c, r.Rank(), record)
				}
				return nil
			})
		})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// A rank that is slow makes the reading slow, and only numbers of cases are cases.
	err := cluster.Local(2, func(r *par.Ranks) error {
		l := testLab(t)
		l.ranks, l.calm = r, 2
		if r.Rank() > 0 {
			if number, err := hear(t.Context(), r); err != nil || number != readYard {
				t.Errorf("heard %d, %v", number, err)
			}
			if _, err := par.GatherEqual(t.Context(), r, []float64{7}); err != nil {
				return err
			}
			return follow(t.Context(), l, nil)
		}
		y := &yardstick{workers: l.workers(1), ranks: r, least: math.Inf(1)}
		if took, err := y.read(t.Context()); err != nil || took != 7 || y.least != 7 {
			t.Errorf("a reading of %g, the least is %g, %v", took, y.least, err)
		}
		return tell(t.Context(), r, 5)
	})
	if err == nil || !strings.Contains(err.Error(), "case 5 of 0") {
		t.Error(err)
	}
}
