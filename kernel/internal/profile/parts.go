package profile

import (
	"math"
	"slices"
)

// A bin of a profile is wide where distances concentrate: rows of thousands of columns
// have most of their squared distances in two or three bins. So the distances of all
// sampled rows together are also counted in parts of bins, which tell how the distances of
// a bin are spread over it. In few dimensions, where distances are differences, they are
// taken to be spread evenly: in 8 dimensions that errs by less than a hundredth.
const (
	partBits    = 6
	partsPerBin = 1 << partBits
)

// partOf returns the part of a squared distance scaled to be below 1. Parts are numbered
// through: the bin is part>>partBits, as binOf has it. Bin 0 has its distances in any of
// its parts.
func partOf(d2 float64) int {
	return min(max(int(math.Float64bits(d2)>>(binShift-partBits))-(binOffset-1)<<partBits, 0), profileBins<<partBits-1)
}

// A spread is, for each part of a bin, the share of the distances of the bin that are in
// parts before it, and the end.
type spread [partsPerBin + 1]float64

// spreadsOf returns the spread of each bin in use. parts holds the counts of each worker,
// nil for workers that have counted nothing; nobody has in few dimensions.
func spreadsOf(used []DistanceBin, parts [][]uint64) map[int]*spread {
	out := make(map[int]*spread, len(used))
	if !slices.ContainsFunc(parts, func(counts []uint64) bool { return counts != nil }) {
		return out
	}
	for _, b := range used {
		s := new(spread)
		for part := range partsPerBin {
			s[part+1] = s[part]
			for _, counts := range parts {
				if counts != nil {
					s[part+1] += float64(counts[b.bin<<partBits+part])
				}
			}
		}
		for part := range s {
			s[part] /= s[partsPerBin]
		}
		out[b.bin] = s
	}
	return out
}

// share returns the share of the distances of a bin that are below the given place in it,
// from 0 to 1.
func (s *spread) share(place float64) float64 {
	at := min(place*partsPerBin, partsPerBin)
	part := min(int(at), partsPerBin-1)
	return s[part] + (s[part+1]-s[part])*(at-float64(part))
}

// A cut is where a radius cuts the bins: bins before bin are within the radius, and so is
// a share of that bin.
type cut struct {
	bin   int
	share float64
}

// CutAt returns the cut of a radius.
func (pr *Profile) CutAt(r float64) cut {
	r2 := r * r
	c := cut{bin: binOf(r2 * pr.scale)}
	lo, hi := binEdge(c.bin)/pr.scale, binEdge(c.bin+1)/pr.scale
	c.share = min((r2-lo)/(hi-lo), 1)
	if s := pr.Spreads[c.bin]; s != nil && c.bin > 0 {
		c.share = s.share(c.share)
	}
	return c
}

// of returns the share of a bin that is within the radius.
func (c cut) of(bin int) float64 {
	switch {
	case bin < c.bin:
		return 1
	case bin == c.bin:
		return c.share
	}
	return 0
}
