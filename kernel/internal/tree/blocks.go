package tree

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// blocks are the leaves of a tree as simd.FindInBlocks reads them. A leaf of a tree has at
// most simd.BlockPoints points, and its block as many slots. Slots that are left over have no
// point.
type blocks struct {
	*tree
	axis  simd.Rows[float32] // coordinates of the points in slots, one row an axis
	box   simd.Rows[float32] // of the blocks, one row a side
	place []uint32           // of the points in slots
}

// newBlocks returns the blocks of a tree.
func newBlocks(ctx context.Context, t *tree, workers *par.Workers) (*blocks, error) {
	n, d := 1<<t.levels, t.points.D
	b := &blocks{
		tree:  t,
		axis:  simd.RowsOf(make([]float32, d*n*simd.BlockPoints), n*simd.BlockPoints),
		box:   simd.RowsOf(make([]float32, 2*d*n+simd.CoordinatePad), n),
		place: make([]uint32, n*simd.BlockPoints),
	}
	const blocksPerPiece = 512
	return b, workers.Do(ctx, split.Blocks(n, blocksPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, blocksPerPiece)
		for i := lo; i < hi; i++ {
			b.set(i)
		}
	}))
}

// set sets block i.
func (b *blocks) set(i int) {
	d, n := b.points.D, b.box.Stride
	for c, v := range b.tree.box[(n+i)*2*d:][:2*d] {
		b.box.Data[c*n+i] = v
	}
	lo, hi := b.span(n + i)
	place := b.place[i*simd.BlockPoints:][:simd.BlockPoints]
	for e := range place {
		place[e] = uint32(lo + e)
	}
	for c := range d {
		to := b.axis.Data[c*b.axis.Stride+i*simd.BlockPoints:][:simd.BlockPoints]
		for e := range to {
			if e < hi-lo {
				to[e] = b.at[(lo+e)*d+c]
			} else {
				to[e] = float32(math.NaN())
			}
		}
	}
}

// of returns the blocks of a node, from lo to hi-1.
func (b *blocks) of(node int) (lo, hi int) {
	lo, hi = node, node+1
	for lo < 1<<b.levels {
		lo, hi = 2*lo, 2*hi
	}
	return lo - 1<<b.levels, hi - 1<<b.levels
}

// slots appends the slots of the points of a node.
func (b *blocks) slots(dst []int, node int) []int {
	lo, hi := b.of(node)
	for i := lo; i < hi; i++ {
		from, to := b.span(1<<b.levels + i)
		for e := range to - from {
			dst = append(dst, i*simd.BlockPoints+e)
		}
	}
	return dst
}

// row returns the given row of the point in a slot.
func (b *blocks) row(slot uint32) uint32 { return b.order[b.place[slot]] }

// distance returns the squared distance of the points in two slots.
func (b *blocks) distance(i, j int) float64 {
	sum := 0.0
	for at := 0; at < len(b.axis.Data); at += b.axis.Stride {
		e := float64(b.axis.Data[at+i]) - float64(b.axis.Data[at+j])
		sum += float64(e * e)
	}
	return sum
}
