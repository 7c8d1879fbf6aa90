package kernel

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
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
func (o *Options) share(ctx context.Context, pieces int, task par.Func) error {
	lo, hi := o.Ranks.Part(pieces)
	return doPieces(ctx, o.Workers, lo, hi, task)
}

// ownPieces returns how many of the pieces share does here.
func (o *Options) ownPieces(pieces int) int {
	lo, hi := o.Ranks.Part(pieces)
	return hi - lo
}

// gatherPieces sets what other ranks have made by share: piece i has set the numbers from
// first(i) on, up to first(i+1).
func gatherPieces[T exchange.Word](ctx context.Context, o *Options, data []T, pieces int, first func(piece int) int) error {
	if o.Ranks.Alone() {
		return nil
	}
	bounds := o.Ranks.Bounds(pieces)
	for r, piece := range bounds {
		bounds[r] = first(piece)
	}
	return exchange.Gather(ctx, o.Ranks, data, bounds)
}

// gatherRows is gatherPieces for pieces that are rows between bounds, of so many numbers
// each.
func gatherRows[T exchange.Word](ctx context.Context, o *Options, data []T, bounds []int, each int) error {
	return gatherPieces(ctx, o, data, len(bounds)-1, func(piece int) int { return each * bounds[piece] })
}

// doChunks lets workers do the chunks of this rank, each of which sets its share of data,
// and sets what other ranks have made of it.
func (b *base) doChunks(ctx context.Context, task par.Task, data []float64) error {
	from, to := b.ownChunks()
	if err := doPieces(ctx, b.workers, from, to, task); err != nil || b.ranks.Alone() {
		return err
	}
	each := len(data) / (len(b.bounds) - 1)
	bounds := slices.Clone(b.chunkShares())
	for r := range bounds {
		bounds[r] *= each
	}
	return exchange.Gather(ctx, b.ranks, data, bounds)
}
