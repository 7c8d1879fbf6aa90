// Package tree finds nearest neighbours in few dimensions by a k-d tree (Bentley 1975).
//
// The tree halves the points along the longest side of their box, again and again, until
// a leaf has at most leafPoints points. A point looks into the halves whose boxes are not
// farther away than the farthest of the neighbours it has found so far. Points are kept in
// the order of the leaves, so points that are near to each other are mostly near to each
// other in memory.
package tree

import (
	"context"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// leafPoints is the most points of a leaf.
const leafPoints = 12

// A tree is a complete binary tree. Node 1 is the root, and the children of node i are the
// nodes 2i and 2i+1. The nodes of a level share the points evenly.
type tree struct {
	points *rows.Points
	levels int       // below the root
	order  []uint32  // given row at each place
	at     []float32 // coordinates of each place
	box    []float32 // of each node: its least coordinates, then its largest
}

// build puts the given rows in order into a tree, which keeps order.
func build(ctx context.Context, p *rows.Points, order []uint32, workers *par.Workers) (*tree, error) {
	n := len(order)
	t := &tree{points: p, order: order, at: make([]float32, n*p.D)}
	for n>>t.levels > leafPoints {
		t.levels++
	}
	t.box = make([]float32, (2<<t.levels)*2*p.D)
	for level := range t.levels + 1 {
		if err := workers.Do(ctx, 1<<level, par.Func(func(_, i int) {
			if ctx.Err() != nil {
				return
			}
			node := 1<<level + i
			t.bound(node)
			if level < t.levels {
				t.halve(node)
			}
		})); err != nil {
			return nil, err
		}
	}
	const rowsPerPiece = 4096
	err := workers.Do(ctx, par.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			copy(t.at[i*p.D:][:p.D], p.Single.Row(int(t.order[i])))
		}
	}))
	if err == nil {
		err = ctx.Err() // a node may have been left as it was
	}
	return t, err
}

// span returns the places of a node, from lo to hi-1.
func (t *tree) span(node int) (lo, hi int) {
	level := bits.Len(uint(node)) - 1 // steps below the root
	i := node - 1<<level
	return par.Part(len(t.order), i, 1<<level), par.Part(len(t.order), i+1, 1<<level)
}

// bounds returns the least and the largest coordinates of a node.
func (t *tree) bounds(node int) (least, largest []float32) {
	d := t.points.D
	return t.box[node*2*d:][:d], t.box[node*2*d+d:][:d]
}

// bound sets the box of a node.
func (t *tree) bound(node int) {
	lo, hi := t.span(node)
	least, largest := t.bounds(node)
	copy(least, t.points.Single.Row(int(t.order[lo])))
	copy(largest, least)
	for _, i := range t.order[lo:hi] {
		for c, v := range t.points.Single.Row(int(i)) {
			least[c], largest[c] = min(least[c], v), max(largest[c], v)
		}
	}
}

// halve puts the points of a node in order of the axis its box is longest along, as far as
// its children need.
func (t *tree) halve(node int) {
	least, largest := t.bounds(node)
	axis, longest := 0, float64(-1)
	for c := range least {
		if side := float64(largest[c]) - float64(least[c]); side > longest {
			axis, longest = c, side
		}
	}
	lo, hi := t.span(node)
	_, mid := t.span(2 * node)
	s := t.points.Single
	part(t.order[lo:hi], mid-lo, func(i uint32) float32 { return s.Data[int(i)*s.Stride+axis] })
}

// part orders rows so that no key of the first m rows is above one of the others. Equal
// keys may come in any order, which is the same at every call.
func part(order []uint32, m int, key func(i uint32) float32) {
	for len(order) > 16 && m > 0 && m < len(order) {
		pivot := median(key(order[0]), key(order[len(order)/2]), key(order[len(order)-1]))
		lo, hi := 0, len(order)-1
		for lo <= hi {
			for key(order[lo]) < pivot {
				lo++
			}
			for key(order[hi]) > pivot {
				hi--
			}
			if lo <= hi {
				order[lo], order[hi] = order[hi], order[lo]
				lo++
				hi--
			}
		}
		switch { // the rows from hi+1 to lo-1 have the pivot for a key
		case m <= hi+1:
			order = order[:hi+1]
		case m >= lo:
			order, m = order[lo:], m-lo
		default:
			return
		}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		switch x, y := key(a), key(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

func median(a, b, c float32) float32 { return max(min(a, b), min(max(a, b), c)) }
