package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// A lab holds what cases share: the machine, workers and data made once.
type lab struct {
	machine *Machine
	meter   *meter
	limits  bool
	sets    map[int]*par.Workers
	yards   map[int]*yardstick // by workers
	made    map[string]any
	speed   *kernel.Calibration // nil until calibration is called
	small   bool                // see smallLab
	rows    int                 // of suites sealed and ranks, 0 for as many as it has by itself
	ranks   *par.Ranks          // that share suite ranks; nil for one process
	calm    int                 // processors that have to be quick beside the stretch that counts; 0: all stretches count
	work    portion
	ends    []func() // what close calls, the last one first
}

func newLab(m *Machine, p *meter) *lab {
	return &lab{machine: m, meter: p, sets: map[int]*par.Workers{}, yards: map[int]*yardstick{}, made: map[string]any{}, work: allWork}
}

// smallLab returns a lab for tests: nothing real is measured in it, on a machine that is made
// up. Sizes are small.
func smallLab() *lab {
	m := &Machine{CPU: "test", Cores: 2, Counters: "none", Commit: "abc", Limits: Limits{Read: [2]float64{1e9, 2e9}, Gather: [2]float64{1e8, 2e8}, Madd: [2]float64{1e9, 2e9}}}
	l := newLab(m, newMeter(&cli.Env{Quiet: true}))
	l.small, l.limits = true, true
	return l
}

// show tells how far this lab's portion of the work has come.
func (l *lab) show(what string, share float64) { l.meter.show(what, l.work.at(share)) }

// workers returns a set of n workers.
func (l *lab) workers(n int) *par.Workers {
	if l.sets[n] == nil {
		l.sets[n] = par.New(n)
	}
	return l.sets[n]
}

// yardstick returns the yardstick for a number of workers.
func (l *lab) yardstick(ctx context.Context, workers int) (*yardstick, error) {
	if l.yards[workers] == nil {
		var ranks *par.Ranks
		count := workers
		if l.calm > 0 {
			ranks, count = l.sharedYard()
		}
		y, err := newYardstick(ctx, l.workers(count), ranks)
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
func (l *lab) sharedYard() (ranks *par.Ranks, workers int) {
	if l.ranks.Size() > l.calm {
		return nil, l.calm
	}
	return l.ranks, l.calm / l.ranks.Size()
}

// atClose has a function called when the suite has ended.
func (l *lab) atClose(end func()) { l.ends = append(l.ends, end) }

func (l *lab) close() {
	for _, end := range slices.Backward(l.ends) {
		end()
	}
	for _, s := range l.sets {
		s.Close()
	}
}

// calibration returns the speed of this machine, read or measured once.
func (l *lab) calibration() *kernel.Calibration {
	if l.speed == nil {
		speed := calibration.OfThisMachine(simd.Best())
		l.speed = &speed
	}
	return l.speed
}

// size returns n, or a small number in a small lab.
func (l *lab) size(n int) int {
	if l.small {
		return max(n/1000, 200)
	}
	return n
}

// allWorkers is the largest number of workers.
func allWorkers() int { return runtime.GOMAXPROCS(0) }

// workerCounts are the numbers of workers cases are measured with.
func workerCounts() []int {
	if all := allWorkers(); all > 1 {
		return []int{1, all}
	}
	return []int{1}
}

// shared returns what make makes, made once for a key.
func shared[T any](l *lab, key string, make func() (T, error)) (T, error) {
	if v, ok := l.made[key]; ok {
		return v.(T), nil
	}
	v, err := make()
	if err == nil {
		l.made[key] = v
	}
	return v, err
}

// has tells whether there is something made for a key.
func (l *lab) has(key string) bool { return l.made[key] != nil }

// keep keeps a value for shared, and tells whether it did: not where the key has one.
func (l *lab) keep(key string, v any) bool {
	if l.has(key) {
		return false
	}
	l.made[key] = v
	return true
}

// forget drops what was made for keys with a prefix.
func (l *lab) forget(prefix string) {
	maps.DeleteFunc(l.made, func(key string, _ any) bool { return strings.HasPrefix(key, prefix) })
}

// gatherLimit returns rows of 64 bytes per second read in random order from a
// table of that many bytes, 0 without limits.
func (l *lab) gatherLimit(ctx context.Context, bytes int64, workers int) (float64, error) {
	if !l.limits {
		return 0, nil
	}
	return shared(l, fmt.Sprint("gather ", bytes, workers), func() (float64, error) {
		array := make([]uint64, min(bytes, mem.Available()/4)/8)
		mem.Huge(array) // as the table itself
		for i := range array {
			array[i] = 1
		}
		return gatherRate(ctx, l.workers(workers), array)
	})
}
