package privatemail

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// WithRanks shares the work of the Engine with other processes, whose Engines have the same
// options and get the same calls with the same arguments in the same order, one at a time.
// No bit of a result depends on their number, as long as the memory limit allows each the first
// operator of the plan. Default: this process alone.
//
// New waits for the other ranks and agrees on options with them. The level must be the same
// everywhere. All have as many workers as the rank with the fewest, by default the processors
// of its machine divided by the ranks there. The memory limit is the smallest of all ranks, by
// default a share of three quarters of the available memory of its machine, measured once.
// The calibration is that of rank 0.
//
// Embed, Converge, Map and Continue share their work, and so do plans. Nearest,
// Nearest32, Extend and Distances do all of it on every rank. Privatize, Privatize64, Kernel
// and NeighbourGraph are ErrSettings: noise and ledger belong to one process, and so does a
// graph that the caller keeps. A call at the same time as another is ErrSettings too, unless
// it is within Reserve. After an error of only one rank the others may wait for it until
// their contexts end.
func WithRanks(ranks *par.Ranks) Option {
	return func(o *options) error {
		o.ranks = ranks
		return nil
	}
}

// WithRanksHere sets how many of the ranks, including this one, run on this machine and
// share its processors and memory. Default: all of them.
func WithRanksHere(n int) Option {
	return func(o *options) error {
		if n < 1 {
			return fmt.Errorf("privatemail: %w: %d ranks on this machine, want at least 1", ErrSettings, n)
		}
		o.ranksHere = n
		return nil
	}
}

// terms are the options on which ranks agree, as numbers that they send each
// other.
type terms struct {
	level                  simd.Level
	workers                int // 0 where they are not set
	processors             int // for each rank of the machine, where workers is 0
	maxMemory              int64
	scalar, vector, sparse float64 // of the calibration
}

const termCount = 7

func (t terms) words() []int64 {
	return []int64{
		int64(t.level), int64(t.workers), int64(t.processors), t.maxMemory,
		int64(math.Float64bits(t.scalar)), int64(math.Float64bits(t.vector)), int64(math.Float64bits(t.sparse)),
	}
}

func termsOf(w []int64) terms {
	number := func(word int64) float64 { return math.Float64frombits(uint64(word)) }
	return terms{simd.Level(w[0]), int(w[1]), int(w[2]), w[3], number(w[4]), number(w[5]), number(w[6])}
}

// agree settles the options of all ranks.
func (o *options) agree(ctx context.Context) error {
	if o.ranks.Alone() {
		return nil
	}
	words, bounds, err := exchange.GatherAll(ctx, o.ranks, o.terms().words())
	if err != nil {
		return fmt.Errorf("privatemail: ranks agree on options: %w", err)
	}
	all := make([]terms, o.ranks.Size())
	for r := range all {
		if bounds[r+1]-bounds[r] != termCount {
			return fmt.Errorf("privatemail: %w: rank %d sends %d options, want %d: it is another program", ErrSettings, r, bounds[r+1]-bounds[r], termCount)
		}
		all[r] = termsOf(words[bounds[r]:])
	}
	return o.settle(all)
}

// terms returns the options that this rank would choose alone.
func (o *options) terms() terms {
	here := cmp.Or(o.ranksHere, o.ranks.Size())
	t := terms{level: simd.At(o.level).Level(), workers: o.workers, processors: max(runtime.GOMAXPROCS(0)/here, 1), maxMemory: o.maxMemory}
	if o.lent != nil && o.workers == 0 {
		t.workers = o.lent.Count()
	}
	if t.maxMemory == 0 {
		t.maxMemory = max(mem.DefaultLimit()/int64(here), 1)
	}
	c := o.calibration
	if c == nil && o.ranks.Rank() == 0 {
		measured := kernel.Calibrate(simd.At(o.level))
		c = &measured
	}
	if c != nil {
		t.scalar, t.vector, t.sparse = c.Scalar, c.Vector, c.Sparse
	}
	return t
}

// settle sets the options that hold for all ranks.
func (o *options) settle(all []terms) error {
	first := all[0]
	workers, processors := first.workers, first.processors
	lowest, memory := first.level, first.maxMemory
	for r, t := range all {
		if t.workers != workers {
			return fmt.Errorf("privatemail: %w: ranks 0 and %d have different numbers of workers, which the memory plan depends on: set the same on all ranks", ErrSettings, r)
		}
		lowest, processors, memory = min(lowest, t.level), min(processors, t.processors), min(memory, t.maxMemory)
	}
	if r := slices.IndexFunc(all, func(t terms) bool { return t.level != first.level }); r >= 0 {
		if slices.ContainsFunc(all, func(t terms) bool { return t.level == simd.NEON }) {
			lowest = simd.Generic // the one level that every machine has
		}
		return fmt.Errorf("privatemail: %w: rank 0 has the level %v and rank %d has %v, whose last bits can differ: set PM_SIMD=%v on all ranks", ErrSettings, first.level, r, all[r].level, lowest)
	}
	if workers == 0 {
		o.workers = processors
	}
	o.agreedMemory = memory
	o.calibration = &kernel.Calibration{Scalar: first.scalar, Vector: first.vector, Sparse: first.sparse}
	return nil
}

// alone refuses work that belongs to one process; why gives the reason.
func (e *Engine) alone(why string) error {
	if e.options.ranks.Alone() {
		return nil
	}
	return fmt.Errorf("%w: this Engine shares its work with other ranks, and %s", ErrSettings, why)
}

const (
	noiseAlone = "noise and ledger belong to one process: make the release on one, and continue it on many"
	graphAlone = "a graph that the caller keeps belongs to one process"
)
