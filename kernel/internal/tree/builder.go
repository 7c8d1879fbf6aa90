package tree

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/par"
)

// A builder puts the points of a tree in order, level by level: what a level has moves to
// the other level of two, where it is in the order of the next. Nodes of up to subtreePoints
// points are put in order with all that is below them, while they are in the cache.
type builder struct {
	*tree
	keys   []uint64
	levels [2]level // those with even numbers, and those with odd ones
}

// A level has the points in the order of the nodes of a level.
type level struct {
	order []uint32
	at    []float32
}

// subtreePoints is the most points of a node that one worker puts in order to the leaves.
const subtreePoints = 1 << 14

// build puts the points in order.
func (b *builder) build(ctx context.Context, workers *par.Workers) error {
	n := len(b.order)
	for depth := 0; ; depth++ {
		whole := depth == b.tree.levels || (n-1)>>depth+1 <= subtreePoints
		if err := workers.Do(ctx, 1<<depth, par.Func(func(_, i int) {
			if ctx.Err() != nil {
				return
			}
			if whole {
				b.subtree(1<<depth+i, depth)
				return
			}
			b.bound(1<<depth+i, depth)
			b.halve(1<<depth+i, depth)
		})); err != nil {
			return err
		}
		if whole {
			return ctx.Err() // a node may have been left as it was
		}
	}
}

// subtree puts the points of a node in order, and sets the boxes of all nodes below it.
func (b *builder) subtree(node, depth int) {
	b.bound(node, depth)
	if depth == b.tree.levels {
		return
	}
	b.halve(node, depth)
	b.subtree(2*node, depth+1)
	b.subtree(2*node+1, depth+1)
}

// bound sets the box of a node.
func (b *builder) bound(node, depth int) {
	lo, hi := b.span(node)
	least, largest := b.bounds(node)
	d := len(least)
	rows := b.levels[depth%2].at[lo*d : hi*d]
	copy(least, rows)
	copy(largest, least)
	const rowsAtOnce = 64 // that stay in the cache
	for len(rows) > 0 {
		block := rows[:min(rowsAtOnce*d, len(rows))]
		rows = rows[len(block):]
		for c := range d {
			low, high := least[c], largest[c]
			for at := c; at < len(block); at += d {
				v := block[at]
				if v < low { // min and max take longer, for NaN
					low = v
				} else if v > high {
					high = v
				}
			}
			least[c], largest[c] = low, high
		}
	}
}

// halve moves the points of a node to the next level in order of the axis its box is longest
// along, as far as its children need: no coordinate of the first child is above one of the
// second. Of points with the same coordinate those that come first stay first.
func (b *builder) halve(node, depth int) {
	least, largest := b.bounds(node)
	axis, longest := 0, float64(-1)
	for c := range least {
		if side := float64(largest[c]) - float64(least[c]); side > longest {
			axis, longest = c, side
		}
	}
	d := b.points.D
	lo, hi := b.span(node)
	_, mid := b.span(2 * node)
	this, next := &b.levels[depth%2], &b.levels[1-depth%2]
	keys := b.keys[lo:hi]
	for i := range keys {
		keys[i] = uint64(ascending(this.at[(lo+i)*d+axis]))<<32 | uint64(i)
	}
	choose(keys, mid-lo)
	for i, key := range keys {
		from := lo + int(uint32(key))
		next.order[lo+i] = this.order[from]
		copyRow(next.at[(lo+i)*d:][:d], this.at[from*d:][:d])
	}
}

// copyRow is copy, which takes longer for a few numbers.
func copyRow(dst, row []float32) {
	switch len(row) {
	case 2:
		*(*[2]float32)(dst) = *(*[2]float32)(row)
	case 3:
		*(*[3]float32)(dst) = *(*[3]float32)(row)
	default:
		copy(dst, row)
	}
}

// ascending returns a number that is larger where v is. Both zeros have the same.
func ascending(v float32) uint32 {
	b := math.Float32bits(v + 0)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}
