package base

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// DoPieces lets workers do the pieces lo to hi-1 of a task.
func DoPieces(ctx context.Context, workers *par.Workers, lo, hi int, task par.Task) error {
	if lo == 0 {
		return workers.Do(ctx, hi, task)
	}
	return workers.Do(ctx, hi-lo, par.Func(func(worker, piece int) { task.Run(worker, lo+piece) }))
}

// Share lets workers do this rank's share of the pieces.
func (o *Options) Share(ctx context.Context, pieces int, task par.Func) error {
	lo, hi := o.Ranks.Part(pieces)
	return DoPieces(ctx, o.Workers, lo, hi, task)
}

// OwnPieces returns how many of the pieces share does here.
func (o *Options) OwnPieces(pieces int) int {
	lo, hi := o.Ranks.Part(pieces)
	return hi - lo
}

// GatherPieces sets what other ranks have made by share: piece i has set the numbers from
// first(i) on, up to first(i+1).
func GatherPieces[T exchange.Word](ctx context.Context, o *Options, data []T, pieces int, first func(piece int) int) error {
	if o.Ranks.Alone() {
		return nil
	}
	bounds := o.Ranks.Bounds(pieces)
	for r, piece := range bounds {
		bounds[r] = first(piece)
	}
	return exchange.Gather(ctx, o.Ranks, data, bounds)
}

// GatherRows is GatherPieces for pieces that are rows between bounds, of that many numbers
// each.
func GatherRows[T exchange.Word](ctx context.Context, o *Options, data []T, bounds []int, each int) error {
	return GatherPieces(ctx, o, data, len(bounds)-1, func(piece int) int { return each * bounds[piece] })
}

// ChunkRows is the number of rows of a chunk where nothing speaks for another number.
const ChunkRows = 1024

// ChunkBounds splits n rows into chunks of the given number of rows, the last of which may
// be shorter. They are the same for any number of workers.
func ChunkBounds(n, rows int) []int {
	bounds := make([]int, split.Blocks(n, rows)+1)
	for i := range bounds {
		bounds[i] = min(i*rows, n)
	}
	return bounds
}
