package measure

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// A Lab holds what cases share: the machine, workers and data made once.
type Lab struct {
	Machine *record.Machine
	Meter   *Meter
	Limits  bool
	sets    map[int]*par.Workers
	yards   map[int]*yardstick // by workers
	made    map[string]any
	speed   *kernel.Calibration // nil until calibration is called
	Small   bool                // see SmallLab
	Rows    int                 // of suites sealed and ranks, 0 for as many as it has by itself
	Ranks   *par.Ranks          // that share suite ranks; nil for one process
	Calm    int                 // processors that have to be undisturbed during the stretch that counts; 0: all stretches count
	Work    Portion
	ends    []func() // what close calls, the last one first
}

// NewLab returns a lab on a machine.
func NewLab(m *record.Machine, p *Meter) *Lab {
	return &Lab{Machine: m, Meter: p, sets: map[int]*par.Workers{}, yards: map[int]*yardstick{}, made: map[string]any{}, Work: AllWork}
}

// SmallLab returns a lab for tests: nothing real is measured in it, on a machine that is made
// up. Sizes are small.
func SmallLab() *Lab {
	m := &record.Machine{CPU: "test", Cores: 2, Counters: "none", Commit: "abc", Limits: record.Limits{Read: [2]float64{1e9, 2e9}, Gather: [2]float64{1e8, 2e8}, Madd: [2]float64{1e9, 2e9}}}
	l := NewLab(m, NewMeter(&cli.Env{Quiet: true}))
	l.Small, l.Limits = true, true
	return l
}

// Show reports how far this lab's portion of the work has come.
func (l *Lab) Show(what string, share float64) { l.Meter.Show(what, l.Work.At(share)) }

// Workers returns a set of n workers.
func (l *Lab) Workers(n int) *par.Workers {
	if l.sets[n] == nil {
		l.sets[n] = par.New(n)
	}
	return l.sets[n]
}

// yardstick returns the yardstick for a number of workers.
func (l *Lab) yardstick(ctx context.Context, workers int) (*yardstick, error) {
	if l.yards[workers] == nil {
		var ranks *par.Ranks
		count := workers
		if l.Calm > 0 {
			ranks, count = l.sharedYard()
		}
		y, err := newYardstick(ctx, l.Workers(count), ranks)
		if err != nil {
			return nil, err
		}
		l.yards[workers] = y
	}
	return l.yards[workers], nil
}

// sharedYard returns the ranks that read the yardstick at once and the workers of each, so that as
// many processors are read with any number of ranks. Where there are more ranks than that, rank 0
// reads alone.
func (l *Lab) sharedYard() (ranks *par.Ranks, workers int) {
	if l.Ranks.Size() > l.Calm {
		return nil, l.Calm
	}
	return l.Ranks, l.Calm / l.Ranks.Size()
}

// AtClose has a function called when the suite has ended.
func (l *Lab) AtClose(end func()) { l.ends = append(l.ends, end) }

// Close ends the workers, and calls what AtClose was given.
func (l *Lab) Close() {
	for _, end := range slices.Backward(l.ends) {
		end()
	}
	for _, s := range l.sets {
		s.Close()
	}
}

// Calibration returns the speed of this machine, read or measured once.
func (l *Lab) Calibration() *kernel.Calibration {
	if l.speed == nil {
		speed := calibration.OfThisMachine(simd.Best())
		l.speed = &speed
	}
	return l.speed
}

// Size returns n, or a small number in a small lab.
func (l *Lab) Size(n int) int {
	if l.Small {
		return max(n/1000, 200)
	}
	return n
}

// AllWorkers is the largest number of workers.
func AllWorkers() int { return runtime.GOMAXPROCS(0) }

// WorkerCounts are the numbers of workers cases are measured with.
func WorkerCounts() []int {
	if all := AllWorkers(); all > 1 {
		return []int{1, all}
	}
	return []int{1}
}

// Shared returns what make makes, made once for a key.
func Shared[T any](l *Lab, key string, make func() (T, error)) (T, error) {
	if v, ok := l.made[key]; ok {
		return v.(T), nil
	}
	v, err := make()
	if err == nil {
		l.made[key] = v
	}
	return v, err
}

// Has reports whether there is something made for a key.
func (l *Lab) Has(key string) bool { return l.made[key] != nil }

// Keep keeps a value for shared, and reports whether it did: not where the key has one.
func (l *Lab) Keep(key string, v any) bool {
	if l.Has(key) {
		return false
	}
	l.made[key] = v
	return true
}

// Forget drops what was made for keys with a prefix.
func (l *Lab) Forget(prefix string) {
	maps.DeleteFunc(l.made, func(key string, _ any) bool { return strings.HasPrefix(key, prefix) })
}

// GatherLimit returns rows of 64 bytes per second read in random order from a
// table of that many bytes, 0 without limits.
func (l *Lab) GatherLimit(ctx context.Context, bytes int64, workers int) (float64, error) {
	if !l.Limits {
		return 0, nil
	}
	return Shared(l, fmt.Sprint("gather ", bytes, workers), func() (float64, error) {
		array := make([]uint64, min(bytes, mem.Available()/4)/8)
		mem.Huge(array) // as the table itself
		for i := range array {
			array[i] = 1
		}
		return gatherRate(ctx, l.Workers(workers), array)
	})
}
