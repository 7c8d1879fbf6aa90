package step

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Ranks share the chunks of a step: each rank makes chunks that are next to each other, and so
// are their rows. The sums of chunks are gathered and added in the order of the chunks, so their
// bits are those of one process.

// ChunkShares returns the first chunk of each rank, and the end.
func (b *Base) ChunkShares() []int {
	if b.RankChunks != nil {
		return b.RankChunks
	}
	return b.Ranks.Bounds(len(b.Bounds) - 1)
}

// OwnChunks returns the chunks from to to-1 that this rank makes.
func (b *Base) OwnChunks() (from, to int) {
	if b.RankChunks != nil {
		rank := b.Ranks.Rank()
		return b.RankChunks[rank], b.RankChunks[rank+1]
	}
	return b.Ranks.Part(len(b.Bounds) - 1)
}

// RankBounds returns the first row of each rank, and the end.
func (b *Base) RankBounds() []int {
	bounds := slices.Clone(b.ChunkShares())
	for r, chunk := range bounds {
		bounds[r] = b.Bounds[chunk]
	}
	return bounds
}

// Part returns the rows that this rank makes.
func (b *Base) Part() (lo, hi int) {
	from, to := b.OwnChunks()
	return b.Bounds[from], b.Bounds[to]
}

// Complete sets the rows of x that other ranks have made.
func (b *Base) Complete(ctx context.Context, x blas32.General) error {
	v := rows.View32(x)
	if err := base.CheckShape("x", v); err != nil {
		return err
	}
	return CompleteRows(ctx, b, v)
}

// Complete64 is Complete for an iterate in float64.
func (b *WideBase) Complete64(ctx context.Context, x blas64.General) error {
	v := rows.View64(x)
	if err := base.CheckShape("x", v); err != nil {
		return err
	}
	return CompleteRows(ctx, &b.Base, v)
}

// CompleteRows sets the rows of x that other ranks have made.
func CompleteRows[T rows.Float](ctx context.Context, b *Base, x rows.View[T]) error {
	if b.Ranks.Alone() {
		return nil
	}
	bounds := b.RankBounds()
	for r := range bounds {
		bounds[r] *= x.Cols
	}
	if x.Stride == x.Cols {
		return exchange.Gather(ctx, b.Ranks, x.Data, bounds)
	}
	packed := make([]T, x.Rows*x.Cols)
	lo, hi := b.Part()
	for i := lo; i < hi; i++ {
		copy(packed[i*x.Cols:], x.Row(i))
	}
	if err := exchange.Gather(ctx, b.Ranks, packed, bounds); err != nil {
		return err
	}
	for i := range x.Rows {
		copy(x.Row(i), packed[i*x.Cols:])
	}
	return nil
}

// Traffic is that of an operator whose steps need all rows.
func (b *Base) Traffic(k int) graphstats.Traffic {
	lo, hi := b.Part()
	return graphstats.Traffic{Gather: 4 * int64(k) * int64(b.N()-(hi-lo))}
}

// DoChunks lets workers do the chunks of this rank, each of which sets its share of data,
// and sets what other ranks have made of it.
func (b *Base) DoChunks(ctx context.Context, task par.Task, data []float64) error {
	from, to := b.OwnChunks()
	if err := base.DoPieces(ctx, b.Workers, from, to, task); err != nil || b.Ranks.Alone() {
		return err
	}
	each := len(data) / (len(b.Bounds) - 1)
	bounds := slices.Clone(b.ChunkShares())
	for r := range bounds {
		bounds[r] *= each
	}
	return exchange.Gather(ctx, b.Ranks, data, bounds)
}
