package rows

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/radix"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// Distinct says which given rows are the same point. A group is all rows of one distinct
// point. All three slices are nil when no two rows are equal.
type Distinct struct {
	Rows  []uint32 // first row of each group, ascending
	Order []uint32 // all given rows, the rows of a group together
	Group []uint32 // distinct point g is rows Order[Group[g]] to Order[Group[g+1]-1]
}

// FindDistinct finds equal rows.
//
// Rows are sorted by a hash of their numbers. Equal rows have the same hash, and only rows
// of the same hash are compared. Where rows have many numbers, a hash of a few of them
// comes first, and only rows that share this first hash are read as a whole.
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

// equals returns, in again, the rows that are equal to an earlier row and, in first, the
// earliest of their equals. Rows come sorted by their keys. Equal rows have the same key.
func equals(p *Points, sorted []uint32, keys []uint64) (first, again []uint32) {
	row := func(i uint32) []float32 { return p.Single.Row(int(i)) }
	for lo := 0; lo < len(keys); {
		hi := lo + 1
		for hi < len(keys) && keys[hi] == keys[lo] {
			hi++
		}
		if run := sorted[lo:hi]; len(run) > 1 {
			// The rows of a run ascend: the sort by keys was stable. So is this sort.
			slices.SortStableFunc(run, func(a, b uint32) int { return slices.Compare(row(a), row(b)) })
			earliest := run[0]
			for _, i := range run[1:] {
				if slices.Equal(row(earliest), row(i)) {
					first, again = append(first, earliest), append(again, i)
				} else {
					earliest = i
				}
			}
		}
		lo = hi
	}
	return first, again
}

// distinct puts n rows into groups, where row again[e] is equal to row first[e]. It is a
// counting sort by the first row of each group.
func distinct(n int, first, again []uint32) (d Distinct) {
	earliest := make([]uint32, n)
	for i := range earliest {
		earliest[i] = uint32(i)
	}
	for e, i := range again {
		earliest[i] = first[e]
	}
	counts := make([]uint32, n)
	for _, l := range earliest {
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
	for i, l := range earliest {
		d.Order[counts[l]] = uint32(i)
		counts[l]++
	}
	d.Group = append(d.Group, uint32(n))
	return d
}

// sortByHash sorts rows by a hash, stably, and returns the hash of each sorted row.
func sortByHash(ctx context.Context, p *Points, rows []uint32, hash func(row []float32) uint64, workers *par.Workers) ([]uint64, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	keyBits := min(2*bits.Len(uint(len(rows)))+4, 63)
	keys := make([]uint64, len(rows))
	const rowsPerPiece = 1024
	if err := workers.Do(ctx, split.Blocks(len(rows), rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, len(rows), rowsPerPiece)
		for at := lo; at < hi; at++ {
			keys[at] = hash(p.Single.Row(int(rows[at]))) >> (64 - keyBits)
		}
	})); err != nil {
		return nil, err
	}
	return radix.Sort(ctx, keys, rows, keyBits, workers)
}

// A glance reads glanceNumbers numbers of a row, in runs of glanceRun numbers, a line of
// the cache each.
const (
	glanceNumbers = 64
	glanceRun     = 16
)

// glanceHash returns the hash of glanceNumbers numbers of a row that has more.
func glanceHash(row []float32) uint64 {
	const runs = glanceNumbers / glanceRun
	var few [glanceNumbers]float32
	for run := range runs {
		copy(few[run*glanceRun:][:glanceRun], row[run*(len(row)-glanceRun)/(runs-1):])
	}
	return rowHash(few[:])
}

// rowHash returns a hash of a row. It mixes the numbers two at a time and in four chains:
// a chain waits for each of its products. Zeros of either sign have the same hash.
func rowHash(row []float32) uint64 {
	const odd = 0x9e3779b97f4a7c15
	// -0 + 0 is +0: all zeros have the same bits.
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
