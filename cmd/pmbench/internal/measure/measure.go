// Package measure measures cases: operations in rounds, between readings of a yardstick that
// distinguishes calm moments from others. A Lab holds what cases share. Machine and Limits say what
// the machine is and what it can do at most; Command and Child run other programs.
package measure

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// Schedule says how long to measure.
type Schedule struct {
	Rounds int           // exactly this many; 0: as many as Time allows, at most MaxRounds
	Time   time.Duration // of all rounds, with setup
	Slice  time.Duration // of one measurement, at least one operation
	Long   time.Duration // operations of this and more are not warmed up
	// Patience is how much longer a measurement may take to meet calm moments; what
	// one does not need the next ones of the case may.
	Patience time.Duration
}

// calmStretches is how many calm stretches a measurement waits for. A stretch can be
// disturbed in its middle, where no reading sees it; of three one is hardly.
const calmStretches = 3

// calmPatience is how many times as patient a measurement is where only its best stretch counts.
const calmPatience = 3

// shortestStretch is the least time between two readings of the yardstick, so that
// short operations are not measured for the yardstick's sake.
const shortestStretch = 5 * time.Millisecond

// MaxRounds is enough for compare, which asks for 10.
const MaxRounds = 10

// DefaultTime keeps a suite within 45 s, limits of the machine included.
const DefaultTime = 34 * time.Second

// measure runs the cases in rounds, one measurement of each per round, so that
// slow changes of the machine meet all cases alike.
func measure(ctx context.Context, l *Lab, suite string, cases []Case, s Schedule, emit func(*record.Record) error) error {
	began := time.Now()
	running := make([]*trial, len(cases))
	for round := 0; !s.ends(began, round, running); round++ {
		for i := range cases {
			l.Show(suite+": "+cases[i].Name, s.share(began, round, i, len(cases)))
			if running[i] == nil {
				sub, err := cases[i].Setup(ctx, l)
				if err != nil {
					return fmt.Errorf("%s/%s: %w", suite, cases[i].Name, err)
				}
				running[i] = &trial{c: &cases[i], sub: sub}
			}
			r, err := running[i].measure(ctx, l, s)
			if err != nil {
				return fmt.Errorf("%s/%s: %w", suite, cases[i].Name, err)
			}
			r.Suite = suite
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// ends says before a round whether the one before it was the last: the number
// was given, or another of the same length would exceed the time.
func (s Schedule) ends(began time.Time, round int, running []*trial) bool {
	switch {
	case s.Rounds > 0:
		return round == s.Rounds
	case round == 0:
		return false
	}
	next := time.Since(began)
	for _, t := range running {
		next += t.took
	}
	return round == MaxRounds || next > s.Time
}

// share estimates what part of the suite is done: by rounds when their number is
// given, otherwise by the time.
func (s Schedule) share(began time.Time, round, i, of int) float64 {
	if s.Rounds > 0 {
		return (float64(round) + float64(i)/float64(of)) / float64(s.Rounds)
	}
	return min(float64(time.Since(began))/float64(s.Time), 0.99)
}

// trial is a case being measured.
type trial struct {
	c      *Case
	sub    *Subject
	warmed bool
	took   time.Duration // of the last measurement
	// patience is the time that is left to wait for calm.
	patience time.Duration
	// The most memory of the process in a run, and how much more than before it.
	resident, peak int64
}

// measure makes one measurement: the operation again and again for a slice of time,
// in stretches between readings of the yardstick, and on until enough of them were
// calm or patience is over. The very first stretch of a case is to warm up and does
// not count, unless its operation is long.
func (t *trial) measure(ctx context.Context, l *Lab, s Schedule) (*record.Record, error) {
	began := time.Now()
	defer func() { t.took = time.Since(began) }()
	yard, err := l.yardstick(ctx, t.c.Workers)
	if err != nil {
		return nil, err
	}
	if t.sub.Memory { // every time: compare takes each peak for a measurement
		if err := t.weigh(ctx); err != nil {
			return nil, err
		}
	}
	if err := tell(ctx, l.Ranks, collectGarbage); err != nil {
		return nil, err
	}
	runtime.GC()
	if !t.sub.Memory {
		resetPeak()
	}
	var sum tally
	if count, err := openCounters(); err == nil {
		sum.count = count
		defer count.close()
	}
	best, calm := stretch{seconds: math.Inf(1)}, 0
	yard.cpus = yard.cpus[:0]
	t.patience += s.Patience
	if l.Calm > 0 {
		t.patience += (calmPatience - 1) * s.Patience
	}
	start := time.Now()
	end := start.Add(t.patience)
	for len(sum.seconds) == 0 || sum.total < s.Slice || calm < calmStretches && time.Now().Before(end) {
		here, err := t.stretch(ctx, yard, end, sum.count)
		if err != nil {
			return nil, err
		}
		cold := !t.warmed
		t.warmed = true
		if cold && here.sum.total < s.Long {
			start = time.Now()
			end = start.Add(t.patience)
			continue
		}
		sum.join(&here.sum)
		if here.calm {
			calm++
		}
		// With any speed it is the best of as many.
		if (l.Calm == 0 || calm <= calmStretches) && here.betterThan(best) {
			best = here
		}
	}
	t.patience = max(0, t.patience-max(0, time.Since(start)-s.Slice))
	if l.Calm > 0 {
		sum = best.sum
	}
	r := t.finish(l, &sum, best, yard)
	return r, t.latency(ctx, r, sum.seconds)
}

// finish makes the record of a measurement; best is the stretch that says most.
func (t *trial) finish(l *Lab, sum *tally, best stretch, yard *yardstick) *record.Record {
	r := t.record(l, sum.seconds)
	r.YardsPerOp, r.YardSeconds, r.LeastYardSeconds = figures.Finite(best.yards()), figures.Finite(best.disturbed()), figures.Finite(yard.least)
	r.RSSBytes, r.PeakBytes = t.resident, t.peak
	if !t.sub.Memory {
		r.RSSBytes = peakMemory()
	}
	if t.sub.Stores && r.NNZ > 0 {
		r.PeakPerNNZ = figures.Finite(float64(r.PeakBytes) / float64(r.NNZ))
	}
	r.Stolen = sum.machine.share()
	each := 1 / float64(r.Iterations)
	if sum.cpu > 0 {
		r.CPUSeconds = figures.Finite(sum.cpu * each)
		if reading := figures.Median(yard.cpus); reading > 0 {
			r.CPUYardsPerOp, r.CPUYardSeconds = figures.Finite(sum.cpu*each/reading), figures.Finite(reading)
		}
	}
	if sum.instructions > 0 {
		r.Instructions = figures.Finite(sum.instructions * each)
	}
	return r
}

// tally is what the operations of a measurement took together.
type tally struct {
	seconds           []float64 // one by one
	total             time.Duration
	cpu, instructions float64
	count             *counters // nil when the machine has no counters
	machine           processorTimes
}

// join adds what other operations took.
func (s *tally) join(t *tally) {
	s.seconds, s.total = append(s.seconds, t.seconds...), s.total+t.total
	s.cpu, s.instructions = s.cpu+t.cpu, s.instructions+t.instructions
	s.machine.worked += t.machine.worked
	s.machine.stolen += t.machine.stolen
}

// add runs the operation once and adds what it took.
func (s *tally) add(ctx context.Context, run func(context.Context) error) error {
	instructions := 0.0
	if s.count != nil {
		instructions = s.count.read()
	}
	busy, from := cpuSeconds(), time.Now()
	if err := run(ctx); err != nil {
		return err
	}
	took := time.Since(from)
	s.cpu += cpuSeconds() - busy
	if s.count != nil {
		s.instructions += s.count.read() - instructions
	}
	s.seconds = append(s.seconds, took.Seconds())
	s.total += took
	return nil
}

// stretch waits for a calm moment, until end at the latest, and runs the operation
// a few times between two readings of the yardstick.
func (t *trial) stretch(ctx context.Context, yard *yardstick, end time.Time, count *counters) (here stretch, err error) {
	sum := &here.sum
	sum.count = count
	if here.before, err = yard.wait(ctx, end); err != nil {
		return here, err
	}
	machine := readProcessors()
	for enough := time.Now().Add(shortestStretch); len(sum.seconds) == 0 || time.Now().Before(enough); {
		if err := sum.add(ctx, t.sub.Run); err != nil {
			return here, err
		}
	}
	sum.machine.add(machine, readProcessors())
	if here.after, err = yard.read(ctx); err != nil {
		return here, err
	}
	here.seconds = sum.total.Seconds() / float64(len(sum.seconds))
	here.calm = yard.calm(here.disturbed())
	return here, nil
}

// weigh runs the operation once to see how much memory it takes. The time does not
// count: memory that the process has given back comes slowly from the system, and
// more slowly the more there is of it.
func (t *trial) weigh(ctx context.Context) error {
	debug.FreeOSMemory()
	before := resetPeak()
	if err := t.sub.Run(ctx); err != nil {
		return err
	}
	t.warmed = true
	t.resident = peakMemory()
	t.peak = max(0, t.resident-before)
	return nil
}

// record turns times into a record.
func (t *trial) record(l *Lab, seconds []float64) *record.Record {
	c, sub := t.c, t.sub
	r := &record.Record{
		Case: c.Name, N: c.N, D: c.D, K: c.K, NNZ: sub.NNZ, Workers: c.Workers, Level: Level(), Bytes: sub.Bytes,
		Iterations: len(seconds), Products: sub.Products, Eta: figures.Finite(sub.Eta), EtaP99: figures.Finite(sub.EtaP99), Equal: sub.Equal, Plan: sub.Choice, Settings: sub.Settings, Sealed: sub.Sealed, Ranks: sub.Ranks, Commit: l.Machine.Commit, Time: record.Now(), Machine: l.Machine,
	}
	r.Seconds = figures.Median(seconds)
	r.Spread = (figures.Quantile(seconds, 0.75) - figures.Quantile(seconds, 0.25)) / r.Seconds
	r.NsPerPoint = r.Seconds * 1e9 / float64(c.N)
	if sub.NNZ > 0 {
		r.NsPerNNZ = figures.Finite(r.Seconds * 1e9 / float64(sub.NNZ))
		if sub.Pairs {
			r.PairsPerS = figures.Finite(float64(sub.NNZ) / r.Seconds)
		} else {
			r.GnnzPerS = figures.Finite(float64(sub.NNZ) / r.Seconds / 1e9)
		}
	}
	if sub.Madds > 0 {
		r.MaddPerS = figures.Finite(sub.Madds / r.Seconds)
	}
	if s := sub.Search; s.Pairs > 0 {
		share := func(pairs int64) *float64 { return figures.Finite(float64(pairs) / float64(s.Pairs)) }
		r.Depth, r.Compared, r.Measured, r.Found = s.Depth, share(s.Compared), share(s.Measured), share(s.Found)
	}
	r.Roof = string(sub.Roof)
	at := 0
	if c.Workers > 1 {
		at = 1
	}
	limit := 0.0
	switch limits := &l.Machine.Limits; sub.Roof {
	case RoofRead:
		limit = float64(sub.Bytes) / limits.Read[at]
	case RoofGather:
		limit = float64(sub.NNZ) / sub.Gather
	case RoofMadd:
		limit = sub.Madds / limits.Madd[at]
	case RoofWords:
		limit = max(float64(sub.Bytes)/limits.Read[at], sub.Madds/sub.Peak)
	}
	r.RoofFraction = figures.Finite(limit / r.Seconds) // Inf without limits
	return r
}

// latency adds to a record what matters where somebody waits for each operation: the
// time that one in a hundred exceeds, and the memory that one takes from the heap.
func (t *trial) latency(ctx context.Context, r *record.Record, seconds []float64) error {
	if !t.sub.Latency {
		return nil
	}
	r.SecondsP99 = figures.Finite(figures.Quantile(seconds, 0.99))
	const count = 5
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range count {
		if err := t.sub.Run(ctx); err != nil {
			return err
		}
	}
	runtime.ReadMemStats(&after)
	r.HeapBytes = figures.Finite(float64(after.TotalAlloc-before.TotalAlloc) / count)
	return nil
}

// processorTimes are times of all processors of a machine together, in any unit.
type processorTimes struct {
	worked float64
	stolen float64 // that a virtual machine wanted to work, and its host had it wait
}

// unknownTimes are those of a system that does not report them.
var unknownTimes = processorTimes{math.NaN(), math.NaN()}

// add adds what has passed between two readings. The counters of some systems go back.
func (t *processorTimes) add(before, after processorTimes) {
	t.worked += max(after.worked-before.worked, 0)
	t.stolen += max(after.stolen-before.stolen, 0)
}

// share is which share of the time that processors wanted to work their host had them wait; nil
// where the system does not report it.
func (t processorTimes) share() *float64 {
	if t.stolen == 0 {
		return figures.Finite(0)
	}
	return figures.Finite(t.stolen / (t.stolen + t.worked))
}
