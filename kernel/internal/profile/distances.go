package profile

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/split"

	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// distanceSample bins the distances of some rows to all points.
type distanceSample struct {
	ctx      context.Context
	q        *distance.Distancer
	rows     []int   // that are sampled
	scale    float64 // of squared distances; a power of two, so that binning does not round
	bins     [][]DistanceBin
	scratch  []*distance.DistanceScratch // of each worker
	counts   [][]uint32                  // of each worker, for a group of rows; zero between two groups
	parts    [][]uint64                  // of each worker, what it has counted in parts of bins; nil in few dimensions
	progress *rows.Progress
}

// Run measures a group of rows, block by block of the points.
func (s *distanceSample) Run(worker, group int) {
	q, n, d := s.q, s.q.N, s.q.P.D
	if s.parts[worker] == nil && !q.Direct {
		s.parts[worker] = make([]uint64, profileBins<<partBits)
	}
	parts := s.parts[worker]
	from, to := split.Block(group, len(s.rows), sampleGroup)
	if s.counts[worker] == nil {
		s.counts[worker] = make([]uint32, sampleGroup*profileBins)
		s.scratch[worker] = distance.NewDistanceScratch(q)
	}
	counts, t := s.counts[worker], s.scratch[worker]
	var norm2 []float64
	for i, row := range s.rows[from:to] {
		q.Load(t.A[i*d:], row, row+1)
		norm2 = append(norm2, q.Norms(row, row+1)...)
	}
	var used [sampleGroup]struct{ first, end int } // of the bins of a row: few of them where rows are few
	for i := range used {
		used[i].first = profileBins
	}
	for block := range split.Blocks(n, distance.BlockRows) {
		if s.ctx.Err() != nil {
			return
		}
		lo, hi := split.Block(block, n, distance.BlockRows)
		q.Load(t.B, lo, hi)
		q.Measure(t, t.A, norm2, to-from, t.B, q.Norms(lo, hi), hi-lo)
		for i, row := range s.rows[from:to] {
			first, end := s.count(counts[i*profileBins:][:profileBins], parts, row, lo, t.D2[i*t.Stride:][:hi-lo])
			used[i].first, used[i].end = min(used[i].first, first), max(used[i].end, end)
		}
		s.progress.Add()
	}
	for i := range to - from {
		row := counts[i*profileBins:][:profileBins]
		for bin := used[i].first; bin < used[i].end; bin++ {
			if count := row[bin]; count > 0 {
				row[bin] = 0
				s.bins[from+i] = append(s.bins[from+i], s.bin(bin, count))
			}
		}
	}
}

// bin returns a bin with that many distances.
func (s *distanceSample) bin(bin int, count uint32) DistanceBin {
	return DistanceBin{binEdge(bin) / s.scale, binEdge(bin+1) / s.scale, float64(count), bin}
}

// count adds the squared distances of a sampled row to the points from lo on to its bins
// and, in many dimensions, to the parts of bins. It returns the first of these bins and the one
// behind the last.
func (s *distanceSample) count(counts []uint32, parts []uint64, row, lo int, d2 []float64) (first, end int) {
	q, scale := s.q, s.scale
	first = len(counts)
	for j, v := range d2 {
		if lo+j == row {
			continue
		}
		if parts == nil {
			bin := binOf(v * scale)
			counts[bin]++
			first, end = min(first, bin), max(end, bin+1)
			continue
		}
		if v <= q.Error2(row, lo+j) {
			v = q.Exact(row, lo+j) // equal, or nearly
		}
		part := partOf(v * scale)
		bin := part >> partBits
		counts[bin]++
		parts[part]++
		first, end = min(first, bin), max(end, bin+1)
	}
	return first, end
}
