package measure

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

// A yardstick is a fixed piece of work of about a millisecond that is timed next to
// what is measured. On a machine with neighbours the same work takes half as long
// again while the other half of a core is in use, for milliseconds or for minutes;
// a reading near the least there was says that right now it is not.
type yardstick struct {
	workers *par.Workers
	ranks   *par.Ranks // that read at once; nil where one reads alone
	least   float64    // of all readings, in seconds
	cpu     float64    // processor seconds of this process in its last reading
	cpus    []float64  // those of all readings of a measurement
	sink    atomic.Uint64
}

const (
	// yardLength is the number of exponentials in a yard. They keep a core as busy
	// as it can be, so they feel at once when it is shared, and they are not code of
	// this module, whose changes are to be seen.
	yardLength = 120_000
	// CalmLimit is how much more than the least a reading may be in a calm moment.
	// A shared core adds half and more.
	CalmLimit = 1.10
	// yardReadings is how many readings a new yardstick takes to know its least.
	yardReadings = 50
)

func newYardstick(ctx context.Context, workers *par.Workers, ranks *par.Ranks) (*yardstick, error) {
	y := &yardstick{workers: workers, ranks: ranks, least: math.Inf(1)}
	for range yardReadings {
		if _, err := y.read(ctx); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// read returns the seconds the work takes now, on all workers at once, those of the slowest rank.
// Rank 0 says when.
func (y *yardstick) read(ctx context.Context) (float64, error) {
	if err := tell(ctx, y.ranks, readYard); err != nil {
		return 0, err
	}
	took, err := y.readAlong(ctx)
	if err != nil {
		return 0, err
	}
	y.least, y.cpus = min(y.least, took), append(y.cpus, y.cpu)
	return took, nil
}

// readAlong is what every rank does when rank 0 reads.
func (y *yardstick) readAlong(ctx context.Context) (float64, error) {
	own, err := y.readOwn(ctx)
	if err != nil {
		return 0, err
	}
	all, err := exchange.GatherEqual(ctx, y.ranks, []float64{own})
	if err != nil {
		return 0, err
	}
	return slices.Max(all), nil
}

// readOwn is the reading of this rank.
func (y *yardstick) readOwn(ctx context.Context) (float64, error) {
	busy, from := cpuSeconds(), time.Now()
	err := y.workers.Do(ctx, y.workers.Count(), par.Func(func(_, _ int) {
		sum := 0.0
		for i := range yardLength {
			sum += math.Exp(float64(i) * (-1.0 / yardLength))
		}
		y.sink.Add(uint64(sum)) // so that the work is not left out
	}))
	took := time.Since(from).Seconds()
	y.cpu = cpuSeconds() - busy
	return took, err
}

// wait reads until the moment is calm, or the time is over, at least once.
func (y *yardstick) wait(ctx context.Context, until time.Time) (float64, error) {
	for {
		took, err := y.read(ctx)
		if err != nil || y.calm(took) || !time.Now().Before(until) {
			return took, err
		}
	}
}

func (y *yardstick) calm(seconds float64) bool { return seconds <= CalmLimit*y.least }

// A stretch is a few operations in a row with a reading of the yardstick on
// either side.
type stretch struct {
	sum           tally
	seconds       float64 // of one operation, the mean
	before, after float64
	calm          bool
}

// yards is the time of an operation in units of the yardstick.
func (s stretch) yards() float64 { return 2 * s.seconds / (s.before + s.after) }

// disturbed is the worse of the two readings.
func (s stretch) disturbed() float64 { return max(s.before, s.after) }

// betterThan says which of two stretches says more about the operation: a calm
// one, and of these the faster. Disturbances only ever add time, and the readings
// do not see those between them.
func (s stretch) betterThan(t stretch) bool {
	if s.calm != t.calm {
		return s.calm
	}
	return s.seconds < t.seconds
}
