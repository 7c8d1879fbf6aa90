package graph

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/tree"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// What a graph needs that gets more weights: those it stores are counted and copied, and
// the others come behind them.

// StoredCounts returns the number of stored weights of row i at i+1.
func (g *Graph) StoredCounts() []uint64 {
	n := g.Rows.Rows()
	counts := make([]uint64, n+1)
	for i := 0; g.Weights != nil && i < n; i++ {
		counts[i+1] = uint64(g.Weights.RowLen(i))
	}
	return counts
}

// CopyStored copies the stored weights, if there are any, to the beginnings of their rows,
// and returns where the next entry of each row goes.
func (g *Graph) CopyStored(ctx context.Context, a rows.Arrays, workers *par.Workers) (next []uint64, err error) {
	stored, n := g.Weights, len(a.Ptr)-1
	next = slices.Clone(a.Ptr[:n])
	if stored == nil {
		return next, nil
	}
	const rowsPerPiece = 1024
	return next, workers.Do(ctx, split.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		var buffer sparse.RowBuffer
		lo, hi := split.Block(piece, n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			ind, val := stored.Row(i, &buffer)
			copy(a.Ind[a.Ptr[i]:], ind)
			copy(a.Val[a.Ptr[i]:], val)
			next[i] += uint64(len(ind))
		}
	}))
}

// Extended returns g with the weights of the arrays in place of its own, and with bounds
// of its own to change. held bytes are taken in addition to the matrix.
func (g *Graph) Extended(ctx context.Context, a rows.Arrays, held int64, o *base.Options) (*Graph, error) {
	n := g.Rows.Rows()
	out := *g
	out.Sums, out.Slabs = nil, nil // the weights are others, and elsewhere
	out.Tails = slices.Clone(g.Tails)
	var err error
	if out.Weights, err = RequestOf(o, nil, base.Bandwidth{}, 0).Adopt(ctx, n, a); err != nil {
		return nil, err
	}
	size, _ := exactLayout(o).Bytes(n, uint64(len(a.Ind)))
	out.Peak = held + size
	return &out, nil
}

// Index returns an index of the distinct points.
func (g *Graph) Index(ctx context.Context, p *rows.Points, workers *par.Workers) (*tree.Index, error) {
	list := make([]uint32, g.Rows.Rows())
	for i := range list {
		list[i] = g.Given(i)
	}
	return tree.NewIndex(ctx, p, list, workers)
}

// Given returns the caller's number of the first row of distinct point i.
func (g *Graph) Given(i int) uint32 {
	row := uint32(i)
	if g.Group != nil {
		row = g.Group[i]
	}
	if g.Order != nil {
		row = g.Order[row]
	}
	return row
}

// SortRows orders rows to which workers added in any order.
func SortRows(ctx context.Context, a rows.Arrays, workers *par.Workers) error {
	const rowsPerPiece = 256
	n := len(a.Ptr) - 1
	return workers.Do(ctx, split.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, rowsPerPiece)
		var entries []uint64
		for i := lo; i < hi; i++ {
			from, to := a.Ptr[i], a.Ptr[i+1]
			entries = SortRow(a.Ind[from:to], a.Val[from:to], entries)
		}
	}))
}
