package measure

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// passes is how often a limit is measured; the best pass is the limit.
const passes = 5

// Limits measures what one worker and all of them can do.
func Limits(ctx context.Context, m *record.Machine, workers int) error {
	words := int(arrayBytes(m.L3, mem.Available()) / 8)
	array := make([]uint64, words)
	mem.Huge(array) // as what is held against the limits
	for i := range array {
		array[i] = uint64(i) // so that every page exists
	}
	m.Limits.ArrayBytes = int64(words) * 8
	for i, w := range []int{1, workers} {
		workers := par.New(w)
		read, err := readRate(ctx, workers, array)
		if err == nil {
			m.Limits.Read[i] = read
			m.Limits.Gather[i], err = gatherRate(ctx, workers, array)
		}
		if err == nil {
			m.Limits.Madd[i], err = maddRate(ctx, workers)
		}
		workers.Close()
		if err != nil {
			return err
		}
	}
	array = nil
	debug.FreeOSMemory()
	return nil
}

// arrayBytes is the size of an array that the last cache cannot hold, within
// what memory there is.
func arrayBytes(cache, available int64) int64 {
	return max(min(max(4*cache, 256<<20), 2<<30, available/4, math.MaxInt/8), 1<<20)
}

// BestRate returns the amount done per second in the best pass.
func BestRate(ctx context.Context, amount float64, pass func() error) (float64, error) {
	best := 0.0
	for range passes {
		began := time.Now()
		if err := pass(); err != nil {
			return 0, err
		}
		best = max(best, amount/time.Since(began).Seconds())
	}
	return best, ctx.Err()
}

// sink keeps what is computed from being left out.
var sink [64]struct {
	v uint64
	_ [7]uint64
}

// readRate returns bytes per second of reading the array, by whichever loop is
// faster: adding up every word takes longer than memory does where a core cannot
// add as fast, and a limit that is too low makes every figure look good.
func readRate(ctx context.Context, workers *par.Workers, array []uint64) (float64, error) {
	best := 0.0
	for _, sum := range []func([]uint64) uint64{sumWords, SumLines} {
		rate, err := BestRate(ctx, float64(len(array))*8, func() error { return ReadArray(ctx, workers, array, sum) })
		if err != nil {
			return 0, err
		}
		best = max(best, rate)
	}
	return best, nil
}

// ReadArray reads the array once, by a loop such as sumWords.
func ReadArray(ctx context.Context, workers *par.Workers, array []uint64, sum func([]uint64) uint64) error {
	const piece = 1 << 17
	return workers.Do(ctx, split.Blocks(len(array), piece), par.Func(func(worker, b int) {
		lo, hi := split.Block(b, len(array), piece)
		sink[worker%len(sink)].v += sum(array[lo:hi])
	}))
}

// sumWords adds up the words of a, but for a rest of less than eight.
func sumWords(a []uint64) uint64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for ; len(a) >= 8; a = a[8:] {
		s0 += a[0]
		s1 += a[1]
		s2 += a[2]
		s3 += a[3]
		s4 += a[4]
		s5 += a[5]
		s6 += a[6]
		s7 += a[7]
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
}

// SumLines adds up every eighth word of a: all its lines of 64 bytes come from
// memory, and there is next to no arithmetic. A rest of less than 32 is left out.
func SumLines(a []uint64) uint64 {
	var s0, s1, s2, s3 uint64
	for ; len(a) >= 32; a = a[32:] {
		s0 += a[0]
		s1 += a[8]
		s2 += a[16]
		s3 += a[24]
	}
	return s0 + s1 + s2 + s3
}

// gatherRate returns rows of 64 bytes per second, read in random order from the
// array.
func gatherRate(ctx context.Context, workers *par.Workers, array []uint64) (float64, error) {
	const rows, piece = 1 << 21, 1 << 14
	rng := rand.New(rand.NewPCG(1, 2))
	index := make([]uint32, rows)
	for i := range index {
		index[i] = rng.Uint32N(uint32(len(array) / 8))
	}
	return BestRate(ctx, rows, func() error {
		return workers.Do(ctx, rows/piece, par.Func(func(worker, b int) {
			lo, hi := split.Block(b, rows, piece)
			var s0, s1, s2, s3 uint64
			for _, j := range index[lo:hi] {
				r := array[int(j)*8:][:8]
				s0 += r[0] + r[4]
				s1 += r[1] + r[5]
				s2 += r[2] + r[6]
				s3 += r[3] + r[7]
			}
			sink[worker%len(sink)].v += s0 + s1 + s2 + s3
		}))
	})
}

// maddRate returns multiply-adds per second of independent chains.
func maddRate(ctx context.Context, workers *par.Workers) (float64, error) {
	const chains, rounds = 12, 1 << 20
	pieces := 16 * workers.Count()
	return BestRate(ctx, float64(pieces)*chains*rounds, func() error {
		return workers.Do(ctx, pieces, par.Func(func(worker, _ int) {
			a, b := 0.999999, 1e-6+float64(worker)*1e-9
			var s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb float64
			for range rounds {
				s0 = s0*a + b
				s1 = s1*a + b
				s2 = s2*a + b
				s3 = s3*a + b
				s4 = s4*a + b
				s5 = s5*a + b
				s6 = s6*a + b
				s7 = s7*a + b
				s8 = s8*a + b
				s9 = s9*a + b
				sa = sa*a + b
				sb = sb*a + b
			}
			sink[worker%len(sink)].v += uint64(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + sa + sb)
		}))
	})
}
