package simd

// Near finds the points of some spans that are within a distance of q and
// returns how many there are. Coordinate a of point j is coords[a*stride+j], for
// a from 0 to len(q)-1. spans holds pairs of numbers: the span of a pair is the
// points from the first to one before the second. Points are tested in the
// order of the spans,
//
//	d2 = (q[0] - x_0)^2 + (q[1] - x_1)^2 + ...   in float64, from left to right,
//
// and those with d2 <= r2 are written to the beginnings of ind and d2, except
// for the point self, which is a number no point has where there is none to
// leave out. What is behind them in ind and d2, which need room for every point
// of the spans, is overwritten.
//
// Coordinates are converted to float64 before anything is computed, so whether
// a point is found is decided in float64 as written above, with the same bits at
// every level: no band around the radius has to be looked at again, and
// coordinates may be far from the origin. A NaN is never near.
//
// Near panics where a slice is too short. It allocates nothing.
func (s *Kernels) Near(ind []uint32, d2 []float64, q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	n := checkNear(len(q), len(coords), stride, spans)
	if n > len(ind) || n > len(d2) {
		panic("simd: near: short destination")
	}
	if n == 0 || len(q) == 0 {
		return 0
	}
	readsSpans(len(q), coords, stride, spans)
	writes(ind[:n])
	writes(d2[:n])
	return s.near(ind, d2, q, coords, stride, spans, self, r2)
}

// CountNear returns what Near does and writes nothing.
func (s *Kernels) CountNear(q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	if checkNear(len(q), len(coords), stride, spans) == 0 || len(q) == 0 {
		return 0
	}
	readsSpans(len(q), coords, stride, spans)
	return s.countNear(q, coords, stride, spans, self, r2)
}

// checkNear panics where a span lies beyond the coordinates and returns the
// number of points of all spans.
func checkNear(d, coords, stride int, spans []uint32) (n int) {
	if len(spans)%2 != 0 {
		panic("simd: near: odd number of span ends")
	}
	last := 0
	for p := 0; p+2 <= len(spans); p += 2 {
		from, to := int(spans[p]), int(spans[p+1])
		if from < to {
			n += to - from
			last = max(last, to)
		}
	}
	if n > 0 && d > 0 && (last > stride || d-1 > coords/stride || (d-1)*stride+last > coords) {
		panic("simd: near: span beyond the coordinates")
	}
	return n
}

// nearGo is the reference. Whether a candidate is near is a coin toss to the
// branch predictor, so every candidate is written down and the end of the list
// moves past those that are.
func nearGo(ind []uint32, d2 []float64, q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	n := 0
	for p := 0; p+2 <= len(spans); p += 2 {
		for j := spans[p]; j < spans[p+1]; j++ {
			sum := distance2Go(q, coords, stride, int(j))
			ind[n], d2[n] = j, sum
			if sum <= r2 {
				n++
			}
			if j == self && sum <= r2 {
				n--
			}
		}
	}
	return n
}

func countNearGo(q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	n := 0
	for p := 0; p+2 <= len(spans); p += 2 {
		for j := spans[p]; j < spans[p+1]; j++ {
			sum := distance2Go(q, coords, stride, int(j))
			if sum <= r2 {
				n++
			}
			if j == self && sum <= r2 {
				n--
			}
		}
	}
	return n
}

// distance2Go returns the squared distance of q from point j. The conversions
// around products keep the compiler from fusing them. The first two axes, which
// most points have, are written out.
func distance2Go(q []float64, coords []float32, stride, j int) float64 {
	e := q[0] - float64(coords[j])
	sum := float64(e * e)
	if len(q) == 1 {
		return sum
	}
	e = q[1] - float64(coords[stride+j])
	sum += float64(e * e)
	for a := 2; a < len(q); a++ {
		e = q[a] - float64(coords[a*stride+j])
		sum += float64(e * e)
	}
	return sum
}
