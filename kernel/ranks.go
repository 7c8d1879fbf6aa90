package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// Ranks share the chunks of a step: each rank makes chunks that are next to each other, and so
// are their rows. The sums of chunks are gathered and added in the order of the chunks, so their
// bits are those of one process.

// chunkShares returns the first chunk of each rank, and the end.
func (b *base) chunkShares() []int {
	if b.rankChunks != nil {
		return b.rankChunks
	}
	return b.ranks.Bounds(len(b.bounds) - 1)
}

// ownChunks returns the chunks from to to-1 that this rank makes.
func (b *base) ownChunks() (from, to int) {
	if b.rankChunks != nil {
		rank := b.ranks.Rank()
		return b.rankChunks[rank], b.rankChunks[rank+1]
	}
	return b.ranks.Part(len(b.bounds) - 1)
}

// rankBounds returns the first row of each rank, and the end.
func (b *base) rankBounds() []int {
	bounds := slices.Clone(b.chunkShares())
	for r, chunk := range bounds {
		bounds[r] = b.bounds[chunk]
	}
	return bounds
}

// Part returns the rows that this rank makes.
func (b *base) Part() (lo, hi int) {
	from, to := b.ownChunks()
	return b.bounds[from], b.bounds[to]
}

// Complete sets the rows of x that other ranks have made.
func (b *base) Complete(ctx context.Context, x blas32.General) error {
	v := rows.View32(x)
	if err := checkShape("x", v); err != nil {
		return err
	}
	return completeRows(ctx, b, v)
}

// Complete64 is Complete for an iterate in float64.
func (b *wideBase) Complete64(ctx context.Context, x blas64.General) error {
	v := rows.View64(x)
	if err := checkShape("x", v); err != nil {
		return err
	}
	return completeRows(ctx, &b.base, v)
}

// completeRows sets the rows of x that other ranks have made.
func completeRows[T rows.Float](ctx context.Context, b *base, x rows.View[T]) error {
	if b.ranks.Alone() {
		return nil
	}
	bounds := b.rankBounds()
	for r := range bounds {
		bounds[r] *= x.Cols
	}
	if x.Stride == x.Cols {
		return exchange.Gather(ctx, b.ranks, x.Data, bounds)
	}
	packed := make([]T, x.Rows*x.Cols)
	lo, hi := b.Part()
	for i := lo; i < hi; i++ {
		copy(packed[i*x.Cols:], x.Row(i))
	}
	if err := exchange.Gather(ctx, b.ranks, packed, bounds); err != nil {
		return err
	}
	for i := range x.Rows {
		copy(x.Row(i), packed[i*x.Cols:])
	}
	return nil
}
