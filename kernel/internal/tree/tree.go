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
	const rowsPerPiece = 4096
	if err := workers.Do(ctx, par.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			copy(t.row(i), p.Single.Row(int(t.order[i])))
		}
	})); err != nil {
		return nil, err
	}
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
	return t, ctx.Err() // a node may have been left as it was
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
	copy(least, t.row(lo))
	copy(largest, least)
	for i := lo + 1; i < hi; i++ {
		for c, v := range t.row(i) {
			if v < least[c] { // min and max take longer, for numbers that are none
				least[c] = v
			} else if v > largest[c] {
				largest[c] = v
			}
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
	t.part(lo, hi, mid, axis)
}

// part orders the places from lo to hi-1 so that no coordinate of those before mid along
// an axis is above one of the others. Equal coordinates may come in any order, which is the
// same at every call. Coordinates move with the rows: to look them up by row would take most
// of the time.
func (t *tree) part(lo, hi, mid, axis int) {
	d := t.points.D
	key := func(i int) float32 { return t.at[i*d+axis] }
	for hi-lo > 16 {
		if mid <= lo || mid >= hi {
			return
		}
		pivot := median(key(lo), key((lo+hi)/2), key(hi-1))
		i, j := lo, hi-1
		for i <= j {
			for key(i) < pivot {
				i++
			}
			for key(j) > pivot {
				j--
			}
			if i <= j {
				t.swap(i, j)
				i++
				j--
			}
		}
		switch { // the places from j+1 to i-1 have the pivot for a coordinate
		case mid <= j+1:
			hi = j + 1
		case mid >= i:
			lo = i
		default:
			return
		}
	}
	for i := lo + 1; i < hi; i++ {
		for j := i; j > lo && key(j) < key(j-1); j-- {
			t.swap(j, j-1)
		}
	}
}

// swap exchanges two places.
func (t *tree) swap(i, j int) {
	t.order[i], t.order[j] = t.order[j], t.order[i]
	a, b := t.row(i), t.row(j)
	for c, v := range a {
		a[c], b[c] = b[c], v
	}
}

func median(a, b, c float32) float32 { return max(min(a, b), min(max(a, b), c)) }
