package codes

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// Ranks share the pieces of a filterPass. A tile meets all tiles behind it, so the first
// pieces are the longest. They are dealt out to the ranks in turn, forward and then backward:
// so all ranks have about the same work.

// rankOfPiece returns the rank that does a piece.
func (f *filterPass) rankOfPiece(piece int) int {
	size := f.ranks.Size()
	at := piece % (2 * size)
	return min(at, 2*size-1-at)
}

// rankOf returns the rank that finds the pairs of a tile with the tiles behind it.
func (f *filterPass) rankOf(tile int) int { return f.rankOfPiece(tile / f.together) }

// ownPieces returns the pieces of this rank, and how many tiles their tiles meet.
func (f *filterPass) ownPieces() (own []int, work int) {
	count := f.t.count()
	for piece := range f.pieceCount() {
		if f.rankOfPiece(piece) != f.ranks.Rank() {
			continue
		}
		own = append(own, piece)
		first, last := split.Block(piece, count, f.together)
		for tile := first; tile < last; tile++ {
			work += count - tile
		}
	}
	return own, work
}

// gatherTails hands every rank the sums of the tails of all points. They are packed by rank for
// the way.
func (f *filterPass) gatherTails(ctx context.Context) error {
	if f.ranks.Alone() {
		return nil
	}
	packed, bounds := make([]float64, f.s.n), make([]int, f.ranks.Size()+1)
	each := func(do func(packed, sums []float64)) {
		at := 0
		for rank := range f.ranks.Size() {
			for tile := range f.t.count() {
				if f.rankOf(tile) == rank {
					sums := f.tails.sum[f.t.start[tile]:f.t.start[tile+1]]
					do(packed[at:][:len(sums)], sums)
					at += len(sums)
				}
			}
			bounds[rank+1] = at
		}
	}
	each(func(packed, sums []float64) { copy(packed, sums) })
	if err := exchange.Gather(ctx, f.ranks, packed, bounds); err != nil {
		return err
	}
	each(func(packed, sums []float64) { copy(sums, packed) })
	return nil
}

// encodeBounds returns the first of n points that each rank encodes, and the end. Ranks share
// whole pieces: points are projected together with the others of their piece.
func encodeBounds(n int, ranks *par.Ranks) []int {
	bounds := ranks.Bounds(split.Blocks(n, projectionRows))
	for r, piece := range bounds {
		bounds[r] = min(piece*projectionRows, n)
	}
	return bounds
}

// gather hands every rank the codes of all points, of which each has made its part.
func (c *codes) gather(ctx context.Context, ranks *par.Ranks, bounds []int) error {
	if ranks.Alone() {
		return nil
	}
	if err := exchange.Gather(ctx, ranks, c.norm2, bounds); err != nil {
		return err
	}
	if err := exchange.Gather(ctx, ranks, c.sum, bounds); err != nil {
		return err
	}
	if err := exchange.Gather(ctx, ranks, c.slack, bounds); err != nil {
		return err
	}
	for r := range bounds {
		bounds[r] *= c.depth
	}
	return exchange.Gather(ctx, ranks, c.code, bounds)
}
