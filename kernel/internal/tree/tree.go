// Package tree finds nearest neighbours in few dimensions by a k-d tree (Bentley 1975).
//
// The tree halves the points along the longest side of their box, again and again, until
// a leaf has at most leafPoints points. A point looks into the halves whose boxes are not
// farther away than the farthest of the neighbours it has found so far. Points are kept in
// the order of the leaves, so points that are near to each other are mostly near to each
// other in memory.
//
// [Nearest] finds the neighbours of all points. The points of a leaf share the walk through
// the tree, and whole leaves are compared with a point at once. An [Index] answers
// questions about one point at a time.
package tree

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// leafPoints is the most points of a leaf.
const leafPoints = 32

// A tree is a complete binary tree. Node 1 is the root, and the children of node i are the
// nodes 2i and 2i+1. The nodes of a level share the points evenly.
type tree struct {
	points *rows.Points
	levels int       // below the root
	order  []uint32  // given row at each place
	at     []float32 // coordinates of each place
	box    []float32 // of each node: its least coordinates, then its largest
	least  []uint32  // of each node, its least given row
}

// build puts the given rows in order into a tree, which keeps order.
func build(ctx context.Context, p *rows.Points, order []uint32, workers *par.Workers) (*tree, error) {
	n := len(order)
	t := &tree{points: p, order: order, at: make([]float32, n*p.D)}
	const rowsPerPiece = 4096
	if err := workers.Do(ctx, par.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			copy(t.row(i), p.Single.Row(int(t.order[i])))
		}
	})); err != nil {
		return nil, err
	}
	for (n-1)>>t.levels+1 > leafPoints {
		t.levels++
	}
	t.box, t.least = make([]float32, (2<<t.levels)*2*p.D), make([]uint32, 2<<t.levels)
	next := &halves{keys: make([]uint64, n), order: make([]uint32, n), at: make([]float32, n*p.D)}
	for level := range t.levels + 1 {
		if err := workers.Do(ctx, 1<<level, par.Func(func(_, i int) {
			if ctx.Err() != nil {
				return
			}
			node := 1<<level + i
			t.bound(node)
			if level < t.levels {
				t.halve(node, next)
			}
		})); err != nil {
			return nil, err
		}
		if level < t.levels {
			t.order, next.order = next.order, t.order
			t.at, next.at = next.at, t.at
		}
	}
	t.setLeast()
	return t, ctx.Err() // a node may have been left as it was
}

// setLeast sets the least given row of each node.
func (t *tree) setLeast() {
	for node := 2<<t.levels - 1; node > 0; node-- {
		if node >= 1<<t.levels {
			lo, hi := t.span(node)
			t.least[node] = slices.Min(t.order[lo:hi])
		} else {
			t.least[node] = min(t.least[2*node], t.least[2*node+1])
		}
	}
}

// span returns the places of a node, from lo to hi-1.
func (t *tree) span(node int) (lo, hi int) {
	level := bits.Len(uint(node)) - 1 // steps below the root
	i := node - 1<<level
	return par.Part(len(t.order), i, 1<<level), par.Part(len(t.order), i+1, 1<<level)
}

// row returns the coordinates of a place.
func (t *tree) row(i int) []float32 { return t.at[i*t.points.D:][:t.points.D] }

// bounds returns the least and the largest coordinates of a node.
func (t *tree) bounds(node int) (least, largest []float32) {
	d := t.points.D
	return t.box[node*2*d:][:d], t.box[node*2*d+d:][:d]
}

// bound sets the box of a node.
func (t *tree) bound(node int) {
	lo, hi := t.span(node)
	least, largest := t.bounds(node)
	copy(least, t.row(lo))
	copy(largest, least)
	d := len(least)
	const rowsAtOnce = 64 // that stay in the cache
	for ; lo < hi; lo += rowsAtOnce {
		block := t.at[lo*d : min(lo+rowsAtOnce, hi)*d]
		for c := range d {
			low, high := least[c], largest[c]
			for at := c; at < len(block); at += d {
				v := block[at]
				if v < low { // min and max take longer, for numbers that are none
					low = v
				} else if v > high {
					high = v
				}
			}
			least[c], largest[c] = low, high
		}
	}
}

// halves has room for the order and the coordinates of the next level.
type halves struct {
	keys  []uint64
	order []uint32
	at    []float32
}

// halve puts the points of a node into next in order of the axis its box is longest along,
// as far as its children need: no coordinate of the first child is above one of the second.
// Of points with the same coordinate those that come first stay first.
func (t *tree) halve(node int, next *halves) {
	least, largest := t.bounds(node)
	axis, longest := 0, float64(-1)
	for c := range least {
		if side := float64(largest[c]) - float64(least[c]); side > longest {
			axis, longest = c, side
		}
	}
	d := t.points.D
	lo, hi := t.span(node)
	_, mid := t.span(2 * node)
	keys := next.keys[lo:hi]
	for i := range keys {
		keys[i] = uint64(ascending(t.at[(lo+i)*d+axis]))<<32 | uint64(i)
	}
	choose(keys, mid-lo)
	for i, key := range keys {
		from := lo + int(uint32(key))
		next.order[lo+i] = t.order[from]
		copyRow(next.at[(lo+i)*d:][:d], t.at[from*d:][:d])
	}
}

// copyRow is copy, which takes longer for a few numbers.
func copyRow(dst, row []float32) {
	if len(row) > 16 {
		copy(dst, row)
		return
	}
	for c := len(row) - 1; c >= 0; c-- {
		dst[c] = row[c]
	}
}

// ascending returns a number that is larger where v is. Both zeros have the same.
func ascending(v float32) uint32 {
	b := math.Float32bits(v + 0)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}
