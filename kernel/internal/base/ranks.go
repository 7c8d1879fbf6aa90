package base

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// Ranks must choose the same operator, the same search and the same bits. What they choose
// by may differ between machines: the memory there is, the level of instructions, the
// speed. So ranks agree on these before they choose.

// Agree sets what all ranks must have in common: the least memory limit, and the kernels of the
// least level. Estimates of memory follow from the number of workers, which must be the same.
// Whether ranks meet follows from whether there is a Reserve.
func (o *Options) Agree(ctx context.Context) error {
	if o.Ranks.Alone() {
		return nil
	}
	own := []int64{o.MaxMemory, int64(o.Kernels.Level()), int64(o.Workers.Count()), 0}
	if o.Reserve != nil {
		own[3] = 1
	}
	all, err := exchange.GatherEqual(ctx, o.Ranks, own)
	if err != nil {
		return fmt.Errorf("kernel: options of ranks: %w", err)
	}
	memory, level, workers := all[0], all[1], all[2]
	for at := len(own); at < len(all); at += len(own) {
		memory, level = min(memory, all[at]), min(level, all[at+1])
		if all[at+2] != workers {
			return fmt.Errorf("kernel: %w: %d workers of rank 0 and %d of rank %d, want as many on every rank", ErrOption, workers, all[at+2], at/len(own))
		}
		if all[at+3] != all[3] {
			return fmt.Errorf("kernel: %w: one of the ranks 0 and %d has a Reserve, want one on every rank or on none", ErrOption, at/len(own))
		}
	}
	o.MaxMemory = memory
	if level != int64(o.Kernels.Level()) {
		o.Kernels = simd.At(simd.Level(level))
	}
	return nil
}

// anyRank reports whether some rank says yes. All ranks ask.
func (o *Options) anyRank(yes bool) (bool, error) {
	// Whoever waits here is set free when another rank ends with an error.
	yes, err := exchange.Any(context.Background(), o.Ranks, yes)
	if err != nil {
		return false, fmt.Errorf("kernel: answers of ranks: %w", err)
	}
	return yes, nil
}
