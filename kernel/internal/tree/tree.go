// Package tree finds nearest neighbours in few dimensions by a k-d tree (Bentley 1975).
//
// The tree halves the points along the longest side of their box, again and again, until
// a leaf has few points. A point looks into the halves whose boxes are not
// farther away than the farthest of the neighbours it has found so far. Points are kept in
// the order of the leaves, so points that are near to each other are mostly near to each
// other in memory.
//
// [Nearest] finds the neighbours of all points. The points of a few leaves share the walk
// through the tree, and whole leaves are compared with a point at once. An [Index] answers
// questions about one point at a time.
package tree

import (
	"context"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

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

// build puts the given rows in order into a tree, which keeps order. Leaves have at most the
// given number of points.
func build(ctx context.Context, p *rows.Points, order []uint32, most int, workers *par.Workers) (*tree, error) {
	n := len(order)
	t := &tree{points: p, order: order, at: make([]float32, n*p.D)}
	const rowsPerPiece = 4096
	if err := workers.Do(ctx, split.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			copy(t.row(i), p.Single.Row(int(t.order[i])))
		}
	})); err != nil {
		return nil, err
	}
	for (n-1)>>t.levels+1 > most {
		t.levels++
	}
	t.box, t.least = make([]float32, (2<<t.levels)*2*p.D), make([]uint32, 2<<t.levels)
	b := &builder{tree: t, keys: make([]uint64, n)}
	b.levels[0] = level{t.order, t.at}
	b.levels[1] = level{make([]uint32, n), make([]float32, n*p.D)}
	if err := b.build(ctx, workers); err != nil {
		return nil, err
	}
	last := b.levels[t.levels%2]
	t.order, t.at = last.order, last.at
	t.setLeast()
	return t, nil
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
	// As split.Part has it, without divisions, which take longer.
	n := uint64(len(t.order))
	return int(n * uint64(i) >> level), int(n * uint64(i+1) >> level)
}

// row returns the coordinates of a place.
func (t *tree) row(i int) []float32 { return t.at[i*t.points.D:][:t.points.D] }

// bounds returns the least and the largest coordinates of a node.
func (t *tree) bounds(node int) (least, largest []float32) {
	d := t.points.D
	return t.box[node*2*d:][:d], t.box[node*2*d+d:][:d]
}
