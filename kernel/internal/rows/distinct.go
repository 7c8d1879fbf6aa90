package rows

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/radix"
	"github.com/seed-64e14a55/privatemail/par"
)

// Distinct says which points of a set are distinct. All three slices are nil when all
// points are.
type Distinct struct {
	Rows  []uint32 // given row of each distinct point, the first of its equals, ascending
	Order []uint32 // all given rows, those of a distinct point together
	Group []uint32 // distinct point g is Order[Group[g]] to Order[Group[g+1]-1]
}

// FindDistinct finds equal rows.
//
// Rows are sorted by a hash of their numbers, which equal rows share; only rows of
// one hash are compared. Where there are many numbers a hash of a few comes first, and
// only rows that share that one are read.
func FindDistinct(ctx context.Context, p *Points, workers *par.Workers) (Distinct, error) {
	sorted := make([]uint32, p.N)
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	if p.D > glanceNumbers {
		keys, err := sortByHash(ctx, p, sorted, glanceHash, workers)
		if err != nil {
			return Distinct{}, err
		}
		sorted = shared(sorted, keys)
		slices.Sort(sorted)
	}
	keys, err := sortByHash(ctx, p, sorted, rowHash, workers)
	if err != nil {
		return Distinct{}, err
	}
	first, again := equals(p, sorted, keys)
	if len(again) == 0 {
		return Distinct{}, nil
	}
	return distinct(p.N, first, again), nil
}

// shared keeps, in place, the rows whose key another row has too.
func shared(sorted []uint32, keys []uint64) []uint32 {
	kept := sorted[:0]
	for at, key := range keys {
		if at > 0 && keys[at-1] == key || at+1 < len(keys) && keys[at+1] == key {
			kept = append(kept, sorted[at])
		}
	}
	return kept
}

// equals returns the rows that are equal to an earlier one in again, and the earliest of
// their equals in first. Rows come sorted by their keys, which equal rows share.
func equals(p *Points, sorted []uint32, keys []uint64) (first, again []uint32) {
	row := func(i uint32) []float32 { return p.Single.Row(int(i)) }
	for lo := 0; lo < len(keys); {
		hi := lo + 1
		for hi < len(keys) && keys[hi] == keys[lo] {
			hi++
		}
		if run := sorted[lo:hi]; len(run) > 1 {
			// Ascending before: the sort was stable, and so is this one.
			slices.SortStableFunc(run, func(a, b uint32) int { return slices.Compare(row(a), row(b)) })
			leader := run[0]
			for _, i := range run[1:] {
				if slices.Equal(row(leader), row(i)) {
					first, again = append(first, leader), append(again, i)
				} else {
					leader = i
				}
			}
		}
		lo = hi
	}
	return first, again
}

// distinct groups n rows of which row again[e] is equal to row first[e]: a counting sort
// by the first of the equals.
func distinct(n int, first, again []uint32) (d Distinct) {
	leader := make([]uint32, n)
	for i := range leader {
		leader[i] = uint32(i)
	}
	for e, i := range again {
		leader[i] = first[e]
	}
	counts := make([]uint32, n)
	for _, l := range leader {
		counts[l]++
	}
	next := uint32(0)
	for i, count := range counts {
		if count > 0 {
			d.Rows, d.Group = append(d.Rows, uint32(i)), append(d.Group, next)
			counts[i], next = next, next+count
		}
	}
	d.Order = make([]uint32, n)
	for i, l := range leader {
		d.Order[counts[l]] = uint32(i)
		counts[l]++
	}
	d.Group = append(d.Group, uint32(n))
	return d
}

// sortByHash sorts some rows by a hash, stably, and returns that of each.
func sortByHash(ctx context.Context, p *Points, rows []uint32, hash func(row []float32) uint64, workers *par.Workers) ([]uint64, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	keyBits := min(2*bits.Len(uint(len(rows)))+4, 63)
	keys := make([]uint64, len(rows))
	const rowsPerPiece = 1024
	if err := workers.Do(ctx, par.Blocks(len(rows), rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, len(rows), rowsPerPiece)
		for at := lo; at < hi; at++ {
			keys[at] = hash(p.Single.Row(int(rows[at]))) >> (64 - keyBits)
		}
	})); err != nil {
		return nil, err
	}
	return radix.Sort(ctx, keys, rows, keyBits, workers)
}

// A glance is at glanceNumbers numbers of a row, in runs of a line of the cache.
const (
	glanceNumbers = 64
	glanceRun     = 16
)

// glanceHash is the hash of a few numbers of a row of more.
func glanceHash(row []float32) uint64 {
	const runs = glanceNumbers / glanceRun
	var few [glanceNumbers]float32
	for run := range runs {
		copy(few[run*glanceRun:][:glanceRun], row[run*(len(row)-glanceRun)/(runs-1):])
	}
	return rowHash(few[:])
}

// rowHash mixes the numbers of a row, two at a time and in four chains, because a
// product takes its time. Zeros of either sign are equal.
func rowHash(row []float32) uint64 {
	const odd = 0x9e3779b97f4a7c15
	// A sum with 0 has the sign of 0 where it is zero.
	word := func(low, high float32) uint64 {
		return uint64(math.Float32bits(low+0)) | uint64(math.Float32bits(high+0))<<32
	}
	mix := func(h, word uint64) uint64 { return (h ^ word ^ h>>29) * odd }
	var h0, h1, h2, h3 uint64
	size := uint64(len(row))
	for len(row) >= 8 {
		r := (*[8]float32)(row)
		h0, h1 = mix(h0, word(r[0], r[1])), mix(h1, word(r[2], r[3]))
		h2, h3 = mix(h2, word(r[4], r[5])), mix(h3, word(r[6], r[7]))
		row = row[8:]
	}
	for _, v := range row {
		h0 = mix(h0, word(v, 0))
	}
	sum := size
	for _, v := range [...]uint64{h0, h1, h2, h3} {
		sum = (sum ^ v ^ sum>>32) * odd
	}
	return sum ^ sum>>31
}
