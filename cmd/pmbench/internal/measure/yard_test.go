package measure

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
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
	if _, err := newYardstick(ctx, l.Workers(1), nil); !errors.Is(err, context.Canceled) {
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
	one := &trial{c: &Case{Name: "x", N: 1, Workers: 1}, sub: &Subject{Roof: RoofRead, Run: func(context.Context) error {
		runs++
		time.Sleep(time.Millisecond)
		return nil
	}}}
	// On a machine that others keep busy calm is rare, but not for so long.
	s := Schedule{Slice: time.Millisecond, Patience: time.Minute}
	y.least = math.Inf(1) // the first reading is calm
	r, err := one.measure(t.Context(), l, s)
	if err != nil || runs < calmStretches {
		t.Fatalf("%d runs, %v", runs, err)
	}
	if r.YardsPerOp == nil || *r.YardsPerOp <= 0 || r.YardSeconds == nil || *r.YardSeconds < *r.LeastYardSeconds {
		t.Errorf("%+v", r)
	}
	if r.CPUSeconds != nil && (r.CPUYardsPerOp == nil || *r.CPUYardSeconds <= 0 || math.Abs(*r.CPUYardsPerOp**r.CPUYardSeconds-*r.CPUSeconds) > 1e-9) {
		t.Errorf("%v processor seconds are %v yards of %v", *r.CPUSeconds, r.CPUYardsPerOp, r.CPUYardSeconds)
	}
	if one.patience >= s.Patience {
		t.Errorf("%v of %v is left after %v", one.patience, s.Patience, one.took)
	}
	const left = 50 * time.Millisecond
	one.patience, s.Patience = left, 100*time.Millisecond
	y.least = 1e-12 // no reading is calm
	if _, err := one.measure(t.Context(), l, s); err != nil {
		t.Fatal(err)
	}
	if one.took < left+s.Patience || one.patience > s.Slice {
		t.Errorf("took %v with a patience of %v; %v is left", one.took, left+s.Patience, one.patience)
	}
}

// Of the stretches of a measurement the fastest of the first three counts that no slow reading
// follows. The second rank does nothing but make the readings.
func TestCalmOperations(t *testing.T) {
	const (
		quick, slow = 1000.0, 7000.0 // seconds, more than any reading of the first rank
		short, long = shortestStretch, 3 * shortestStretch
	)
	runs, calm := 0, 0
	cases := []Case{{Name: "x", N: 1, Workers: 1, Setup: func(context.Context, *Lab) (*Subject, error) {
		return &Subject{Roof: RoofRead, Run: func(context.Context) error {
			if runs++; runs%2 > 0 {
				time.Sleep(short)
				return nil
			}
			if calm++; calm <= calmStretches {
				time.Sleep(long)
			} else {
				time.Sleep(short)
			}
			return nil
		}}, nil
	}}}
	err := cluster.Local(2, func(r *par.Ranks) error {
		if r.Rank() == 0 {
			l := testLab(t)
			l.Ranks, l.Calm = r, 2
			return Run(t.Context(), l, "ranks", cases, Schedule{Rounds: 1, Slice: 8 * (short + long), Long: time.Hour}, func(r *record.Record) error {
				// The first run is to warm up, and the second is calm.
				if r.Iterations != 1 || *r.YardSeconds != quick || r.Seconds < long.Seconds() {
					t.Errorf("%d operations of %g s, of %d, of which %d are calm, next to a reading of %g", r.Iterations, r.Seconds, runs, calm, *r.YardSeconds)
				}
				return nil
			})
		}
		told, ran := -1, false // how often the case was told: first its subject is made
		for {
			number, err := hear(t.Context(), r)
			if err != nil || number == len(cases) {
				return err
			}
			switch number {
			case readYard:
				reading := quick
				if ran && told%2 > 0 {
					reading = slow
				}
				ran = false
				_, err = exchange.GatherEqual(t.Context(), r, []float64{reading})
			case 0:
				told, ran = told+1, told >= 0
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
			l.Ranks, l.Calm = r, c.calm
			if ranks, workers := l.sharedYard(); ranks.Size() != c.together || workers != c.workers {
				t.Errorf("%+v: %d ranks read with %d workers each", c, ranks.Size(), workers)
			}
			cases := []Case{{Name: "x", N: 1, Workers: 1, Setup: func(context.Context, *Lab) (*Subject, error) {
				return &Subject{Roof: RoofRead, Run: func(context.Context) error { return nil }}, nil
			}}}
			return Run(t.Context(), l, "ranks", cases, Schedule{Rounds: 2, Slice: time.Millisecond}, func(record *record.Record) error {
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
		l.Ranks, l.Calm = r, 2
		if r.Rank() > 0 {
			if number, err := hear(t.Context(), r); err != nil || number != readYard {
				t.Errorf("heard %d, %v", number, err)
			}
			if _, err := exchange.GatherEqual(t.Context(), r, []float64{7}); err != nil {
				return err
			}
			return follow(t.Context(), l, nil)
		}
		y := &yardstick{workers: l.Workers(1), ranks: r, least: math.Inf(1)}
		if took, err := y.read(t.Context()); err != nil || took != 7 || y.least != 7 {
			t.Errorf("a reading of %g, the least is %g, %v", took, y.least, err)
		}
		return tell(t.Context(), r, 5)
	})
	if err == nil || !strings.Contains(err.Error(), "case 5 of 0") {
		t.Error(err)
	}
}
