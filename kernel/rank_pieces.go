package kernel

import (
	"context"

	"github.com/seed-64e14a55/privatemail/par"
)

// doPieces lets workers do the pieces lo to hi-1 of a task.
func doPieces(ctx context.Context, workers *par.Workers, lo, hi int, task par.Task) error {
	if lo == 0 {
		return workers.Do(ctx, hi, task)
	}
	return workers.Do(ctx, hi-lo, par.Func(func(worker, piece int) { task.Run(worker, lo+piece) }))
}

// share lets workers do the pieces of this rank, of so many in all.
func (o *innerOptions) share(ctx context.Context, pieces int, task par.Func) error {
	lo, hi := o.Ranks.Part(pieces)
	return doPieces(ctx, o.Workers, lo, hi, task)
}

// ownPieces returns how many of the pieces share does here.
func (o *innerOptions) ownPieces(pieces int) int {
	lo, hi := o.Ranks.Part(pieces)
	return hi - lo
}

// gatherPieces sets what other ranks have made by share: piece i has set the numbers from
// first(i) on, up to first(i+1).
func gatherPieces[T par.Word](ctx context.Context, o *innerOptions, data []T, pieces int, first func(piece int) int) error {
	if o.Ranks.Alone() {
		return nil
	}
	bounds := o.Ranks.Bounds(pieces)
	for r, piece := range bounds {
		bounds[r] = first(piece)
	}
	return par.Gather(ctx, o.Ranks, data, bounds)
}

// gatherRows is gatherPieces for pieces that are rows between bounds, of so many numbers
// each.
func gatherRows[T par.Word](ctx context.Context, o *innerOptions, data []T, bounds []int, each int) error {
	return gatherPieces(ctx, o, data, len(bounds)-1, func(piece int) int { return each * bounds[piece] })
}

// chunkRows is the number of rows of a chunk where nothing speaks for another number.
const chunkRows = 1024

// chunkBounds splits n rows into chunks of the given number of rows, the last of which may
// be shorter. They are the same for any number of workers.
func chunkBounds(n, rows int) []int {
	bounds := make([]int, par.Blocks(n, rows)+1)
	for i := range bounds {
		bounds[i] = min(i*rows, n)
	}
	return bounds
}
