package simd

import "math"

// Candidates are points that may be near to others. Points close together share their
// candidates, which Collect copies once for all of them. A worker keeps one Candidates as
// its scratch memory.
type Candidates struct {
	d, capacity, n int
	at             []float64 // coordinate a of candidate c at a*stride + c
	ind            []uint32
	near           []uint32 // scratch memory of FindInBlocks
	stride         int
	end            int // one more than the last of the points
}

// candidatePad is how many numbers whole vectors reach beyond the last candidate.
const candidatePad = CoordinatePad

// NewCandidates returns Candidates for up to capacity points in d dimensions.
func NewCandidates(d, capacity int) *Candidates {
	stride := (capacity+2*candidatePad-1)/candidatePad*candidatePad + candidatePad
	return &Candidates{
		d: d, capacity: capacity, stride: stride,
		at: make([]float64, d*stride), ind: make([]uint32, stride), near: make([]uint32, stride),
	}
}

// Len returns the number of candidates.
func (c *Candidates) Len() int { return c.n }

// CoordinatePad is how many numbers must follow the last coordinate that Collect reads,
// because it reads whole vectors. Their values do not matter.
const CoordinatePad = 16

// Collect sets the candidates to the points of some spans. Coordinate a of point j is
// number j of row a of coords. spans holds pairs of numbers: a span goes from the point
// of the first number to the one before the second number.
//
// Collect converts coordinates to float64, in which FindNear and CountNear compute. So
// whether a point is near does not depend on the level, and coordinates may be far from
// the origin.
//
// Collect panics where a slice is too short or there are more points than the capacity.
func (s *Kernels) Collect(c *Candidates, coords Rows[float32], spans []uint32) {
	n, end := checkSpans(c.d, coords, spans)
	if n > c.capacity {
		panic("simd: collect: no room")
	}
	if c.n, c.end = n, end; n == 0 || c.d == 0 {
		return
	}
	readsSpans(c.d, coords, spans)
	s.collect(c, coords, spans)
	// Up to a whole vector of candidates that are never near.
	for a := range c.d {
		pad := c.at[a*c.stride+n:][:8]
		for i := range pad {
			pad[i] = math.NaN()
		}
	}
}

// padded returns the number of candidates, including those that are never near.
func (c *Candidates) padded() int { return (c.n + 7) &^ 7 }

// FindNear finds the candidates near to each of len(counts) points, the first of which is
// point first. A candidate c is near to a point x where
//
//	d2 = (x_0 - c_0)^2 + (x_1 - c_1)^2 + ...   in float64, from left to right,
//
// is at most r2 and not zero: a candidate at the point's own place counts as the point
// itself. The candidates near to the first point come first in ind, with their d2, in the
// order in which they were collected; counts[i] is how many there are for point i, and
// FindNear returns their total. Points are in coords as for Collect.
//
// ind and d2 need room for every candidate of every point and CoordinatePad more numbers,
// which may be overwritten. FindNear panics where a slice is too short. It allocates
// nothing, and has the same bits at every level. A NaN is never near.
func (s *Kernels) FindNear(ind []uint32, d2 []float64, counts []uint32, c *Candidates, coords Rows[float32], first int, r2 float64) int {
	checkNear(c, len(counts), coords, first)
	if need := len(counts)*c.n + candidatePad; len(ind) < need || len(d2) < need {
		panic("simd: find near: short destination")
	}
	if c.n == 0 || c.d == 0 || len(counts) == 0 {
		clear(counts)
		return 0
	}
	total := s.findNear(ind, d2, counts, c, RowsOf(coords.Data[first:], coords.Stride), r2)
	writes(ind[:total])
	writes(d2[:total])
	return total
}

// CountNear sets the counts that FindNear sets, and returns their total.
func (s *Kernels) CountNear(counts []uint32, c *Candidates, coords Rows[float32], first int, r2 float64) int {
	checkNear(c, len(counts), coords, first)
	if c.n == 0 || c.d == 0 || len(counts) == 0 {
		clear(counts)
		return 0
	}
	return s.countNear(counts, c, RowsOf(coords.Data[first:], coords.Stride), r2)
}

// checkNear panics where the points lie beyond the coordinates.
func checkNear(c *Candidates, m int, coords Rows[float32], first int) {
	if m > 0 && c.d > 0 && (first < 0 || m > coords.Stride-first || !coords.holds(c.d, first+m)) {
		panic("simd: find near: points beyond the coordinates")
	}
}

// checkSpans panics where a span, with the pad, lies beyond the coordinates. It returns the
// number of points of all spans, and one more than the last of them.
func checkSpans(d int, coords Rows[float32], spans []uint32) (n, end int) {
	if len(spans)%2 != 0 {
		panic("simd: collect: odd number of span ends")
	}
	for p := 0; p+2 <= len(spans); p += 2 {
		from, to := int(spans[p]), int(spans[p+1])
		if from < to {
			n += to - from
			end = max(end, to)
		}
	}
	if n > 0 && d > 0 && (end > coords.Stride || !coords.holds(d, end+CoordinatePad)) {
		panic("simd: collect: span beyond the coordinates")
	}
	return n, end
}

// collectGo is the reference.
func collectGo(c *Candidates, coords Rows[float32], spans []uint32) {
	n := 0
	for p := 0; p+2 <= len(spans); p += 2 {
		for j := spans[p]; j < spans[p+1]; j++ {
			for a := range c.d {
				c.at[a*c.stride+n] = float64(coords.Data[a*coords.Stride+int(j)])
			}
			c.ind[n] = j
			n++
		}
	}
}

// findNearGo is the reference. The branch predictor cannot foresee whether a candidate
// is near, so every candidate is written, and the end of the list moves past those that
// are near.
func findNearGo(ind []uint32, d2 []float64, counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int {
	total := 0
	for i := range counts {
		before := total
		for k := range c.n {
			sum := distance2Go(c, k, coords.Data[i:], coords.Stride)
			ind[total], d2[total] = c.ind[k], sum
			if sum <= r2 && sum != 0 {
				total++
			}
		}
		counts[i] = uint32(total - before)
	}
	return total
}

// countNearGo is the reference.
func countNearGo(counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int {
	total := 0
	for i := range counts {
		count := uint32(0)
		for k := range c.n {
			if sum := distance2Go(c, k, coords.Data[i:], coords.Stride); sum <= r2 && sum != 0 {
				count++
			}
		}
		counts[i] = count
		total += int(count)
	}
	return total
}

// distance2Go returns the squared distance of the first point of coords from
// candidate k. The conversions around products prevent the compiler from fusing them.
// The first two axes, which most points have, are written out.
func distance2Go(c *Candidates, k int, coords []float32, stride int) float64 {
	e := float64(coords[0]) - c.at[k]
	sum := float64(e * e)
	if c.d == 1 {
		return sum
	}
	e = float64(coords[stride]) - c.at[c.stride+k]
	sum += float64(e * e)
	for a := 2; a < c.d; a++ {
		e = float64(coords[a*stride]) - c.at[a*c.stride+k]
		sum += float64(e * e)
	}
	return sum
}
