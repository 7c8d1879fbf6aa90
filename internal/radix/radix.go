// Package radix sorts numbers by their keys.
package radix

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// Sort sorts order by key, stably, and returns the sorted keys, which are below
// 2^bits. Each worker sorts a piece. The items with a digit go after all items with
// smaller digits, and after those with the same digit in earlier pieces.
func Sort[K uint32 | uint64](ctx context.Context, keys []K, order []uint32, bits int, workers *par.Workers) ([]K, error) {
	passes := max((bits+mostDigit-1)/mostDigit, 1)
	r := &sorter[K]{
		digit: (max(bits, 1) + passes - 1) / passes, from: keys, fromOrder: order,
		to: make([]K, len(keys)), toOrder: make([]uint32, len(order)),
		counts: make([][1 << mostDigit]uint32, workers.Count()),
	}
	for pass := range passes {
		r.shift = pass * r.digit
		for _, r.scatter = range []bool{false, true} {
			if err := workers.Do(ctx, len(r.counts), r); err != nil {
				return nil, err
			}
			if !r.scatter {
				r.place()
			}
		}
		r.from, r.to = r.to, r.from
		r.fromOrder, r.toOrder = r.toOrder, r.fromOrder
	}
	if &r.fromOrder[0] != &order[0] {
		copy(order, r.fromOrder)
	}
	return r.from, nil
}

// mostDigit is the most bits of a digit: its counters stay in the first-level cache.
const mostDigit = 12

// sorter is one pass: it counts digits, then scatters by them.
type sorter[K uint32 | uint64] struct {
	digit, shift       int
	scatter            bool
	from, to           []K
	fromOrder, toOrder []uint32
	counts             [][1 << mostDigit]uint32 // of each piece; later, where its next item with a digit goes
}

// Run does one piece.
func (r *sorter[K]) Run(_, piece int) {
	n, pieces := len(r.from), len(r.counts)
	lo, hi := split.Part(n, piece, pieces), split.Part(n, piece+1, pieces)
	counts, mask := &r.counts[piece], K(1)<<r.digit-1
	from, shift := r.from[lo:hi], r.shift&63
	if !r.scatter {
		clear(counts[:])
		for _, k := range from {
			counts[k>>shift&mask&(1<<mostDigit-1)]++
		}
		return
	}
	order := r.fromOrder[lo:hi]
	for i, k := range from {
		at := &counts[k>>shift&mask&(1<<mostDigit-1)]
		r.to[*at], r.toOrder[*at] = k, order[i]
		*at++
	}
}

// place replaces counts by places.
func (r *sorter[K]) place() {
	next := uint32(0)
	for digit := range 1 << r.digit {
		for piece := range r.counts {
			count := &r.counts[piece][digit]
			next, *count = next+*count, next
		}
	}
}
