package measure

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// testLab is a small lab until the test ends.
func testLab(t *testing.T) *Lab {
	t.Helper()
	l := SmallLab()
	t.Cleanup(l.Close)
	return l
}

func TestRecord(t *testing.T) {
	l := testLab(t)
	c := &Case{Name: "k=2", N: 10, D: 2, K: 2, Workers: 2}
	trial := &trial{c: c, sub: &Subject{NNZ: 100, Bytes: 1e9, Madds: 200, Roof: RoofRead, Eta: math.Inf(1), EtaP99: 0.5}}
	r := trial.record(l, []float64{3, 1, 2, 5, 4})
	if r.Seconds != 3 || r.Iterations != 5 || math.Abs(r.Spread-2.0/3) > 1e-15 {
		t.Errorf("seconds %g of %d, spread %g", r.Seconds, r.Iterations, r.Spread)
	}
	if *r.RoofFraction != 0.5/3 || *r.GnnzPerS != 100/3e9 || r.PairsPerS != nil || r.Eta != nil || *r.EtaP99 != 0.5 || *r.MaddPerS != 200.0/3 {
		t.Errorf("%+v", r)
	}
	trial.sub.Roof, trial.sub.Gather, trial.sub.Pairs = RoofGather, 50, true
	if r := trial.record(l, []float64{4}); *r.RoofFraction != 0.5 || *r.PairsPerS != 25 || r.GnnzPerS != nil {
		t.Errorf("%+v", r)
	}
	l.Machine.Limits = record.Limits{}
	trial.sub.Roof = RoofRead
	if r := trial.record(l, []float64{4}); r.RoofFraction != nil {
		t.Errorf("a fraction of no limit: %g", *r.RoofFraction)
	}
}

// The schedule: as many rounds as fit, at least one and at most ten; a failing
// case names itself.
func TestSchedule(t *testing.T) {
	l := testLab(t)
	runs := 0
	quick := Case{Name: "quick", N: 1, Workers: 1, Setup: func(context.Context, *Lab) (*Subject, error) {
		return &Subject{Roof: RoofRead, Run: func(context.Context) error { runs++; return nil }}, nil
	}}
	records := 0
	count := func(*record.Record) error { records++; return nil }
	for _, c := range []struct {
		s    Schedule
		want int
	}{
		{Schedule{Rounds: 3}, 3},
		{Schedule{Time: time.Hour}, MaxRounds},
		{Schedule{Time: 0}, 1},
	} {
		records = 0
		if err := measure(t.Context(), l, "s", []Case{quick}, c.s, count); err != nil || records != c.want {
			t.Errorf("%+v: %d records, want %d, %v", c.s, records, c.want, err)
		}
	}
	broken := Case{Name: "broken", Setup: func(context.Context, *Lab) (*Subject, error) {
		return &Subject{Run: func(context.Context) error { return io.ErrUnexpectedEOF }}, nil
	}}
	err := measure(t.Context(), l, "s", []Case{quick, broken}, Schedule{Rounds: 1}, count)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "s/broken") {
		t.Error(err)
	}
}

// The first operation of a case is cold and no part of a record, however long it takes
// next to a slice, unless it is so long that another would take too much time.
func TestColdOperationsAreNotRecorded(t *testing.T) {
	l := testLab(t)
	for _, c := range []struct {
		long time.Duration
		want int // runs of two measurements
	}{{time.Hour, 3}, {time.Nanosecond, 2}} {
		runs := 0
		cold := Case{Name: "cold", N: 1, Workers: 1, Setup: func(context.Context, *Lab) (*Subject, error) {
			return &Subject{Roof: RoofRead, Run: func(context.Context) error {
				runs++
				time.Sleep(shortestStretch) // or there are several in a stretch
				return nil
			}}, nil
		}}
		recorded := 0
		err := measure(t.Context(), l, "s", []Case{cold}, Schedule{Rounds: 2, Slice: time.Nanosecond, Long: c.long}, func(r *record.Record) error {
			recorded += r.Iterations
			return nil
		})
		if err != nil || runs != c.want || recorded != 2 {
			t.Errorf("long from %v on: %d runs, %d of them recorded, want %d and 2, %v", c.long, runs, recorded, c.want, err)
		}
	}
}

// A peak that was measured once and recorded ten times would pass for ten
// measurements that agree.
func TestEveryPeakIsMeasured(t *testing.T) {
	runs := 0
	build := Case{Name: "build", N: 1, Workers: 1, Setup: func(context.Context, *Lab) (*Subject, error) {
		return &Subject{Roof: RoofRead, Memory: true, Run: func(context.Context) error {
			runs++
			time.Sleep(shortestStretch) // or there are several in a stretch
			return nil
		}}, nil
	}}
	err := measure(t.Context(), testLab(t), "s", []Case{build}, Schedule{Rounds: 3}, func(*record.Record) error { return nil })
	if err != nil || runs != 6 {
		t.Errorf("%d runs, want 3 that are weighed and 3 that are timed, %v", runs, err)
	}
}

func TestMeter(t *testing.T) {
	var b bytes.Buffer
	clock := time.Unix(0, 0)
	m := &Meter{w: &b, verb: "run", now: func() time.Time { return clock }, began: clock}
	m.Show("a", 0)
	clock = clock.Add(time.Second)
	m.Show("b", 0.1) // too soon
	clock = clock.Add(9 * time.Second)
	m.Show("c", 0.25)
	m.Clear()
	if got, want := b.String(), "run:   0% a, 0 s\nrun:  25% c, 10 s, 30 s left\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Reset()
	m.terminal, m.columns = true, 20
	m.Show("a name that is longer than the line", 0.5)
	m.Show("x", 0.5)
	m.Clear()
	if s := b.String(); strings.Contains(s, "\n") || strings.Count(s, "\r") != 4 {
		t.Errorf("%q", s)
	}
	for part := range strings.SplitSeq(b.String(), "\r") {
		if len(part) >= m.columns {
			t.Errorf("%q does not fit into a line of %d", part, m.columns)
		}
	}
}
