package profile

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
)

// gatherBins sets the bins of the rows that other ranks have sampled. What travels of a row
// is the number of its bins, and then each bin and its count.
func (s *distanceSample) gatherBins(ctx context.Context, o *base.Options) error {
	if o.Ranks.Alone() {
		return nil
	}
	first, end := o.Ranks.Part(split.Blocks(len(s.rows), sampleGroup))
	var own []uint32
	for i := min(first*sampleGroup, len(s.rows)); i < min(end*sampleGroup, len(s.rows)); i++ {
		own = append(own, uint32(len(s.bins[i])))
		for _, b := range s.bins[i] {
			own = append(own, uint32(b.bin), uint32(b.count))
		}
	}
	all, _, err := exchange.GatherAll(ctx, o.Ranks, own)
	if err != nil {
		return err
	}
	for i := range s.bins {
		bins := make([]DistanceBin, all[0])
		all = all[1:]
		for at := range bins {
			bins[at] = s.bin(int(all[2*at]), all[2*at+1])
		}
		s.bins[i], all = bins, all[2*len(bins):]
	}
	return nil
}

// gatherParts adds what other ranks have counted in parts of the bins in use: as the counts of
// one worker more.
func gatherParts(ctx context.Context, used []DistanceBin, parts [][]uint64, o *base.Options) ([][]uint64, error) {
	own := make([]uint64, 0, len(used)<<partBits)
	for _, b := range used {
		for part := range partsPerBin {
			sum := uint64(0)
			for _, counts := range parts {
				if counts != nil {
					sum += counts[b.bin<<partBits+part]
				}
			}
			own = append(own, sum)
		}
	}
	all, bounds, err := exchange.GatherAll(ctx, o.Ranks, own)
	if err != nil {
		return nil, err
	}
	others := make([]uint64, profileBins<<partBits)
	for r, from := range bounds[:o.Ranks.Size()] {
		if r == o.Ranks.Rank() {
			continue
		}
		for i, count := range all[from:bounds[r+1]] {
			others[used[i>>partBits].bin<<partBits+i%partsPerBin] += count
		}
	}
	return append(parts, others), nil
}
