package simd

import "math"

// DotsToSqDists64 turns dot products of a row with others into squared distances:
//
//	dots[j] = max(norm2 + norms2[j] - 2 dots[j], 0),
//
// where norm2 is the squared norm of the row and norms2 are those of the others. The sum of
// the norms is rounded, and the product with 2 is exact. So there are two roundings, and the
// bits are the same at every level and whichever row is the first. DotsToSqDists64 panics
// where lengths differ, and allocates nothing.
func (s *Kernels) DotsToSqDists64(dots []float64, norm2 float64, norms2 []float64) {
	if len(dots) != len(norms2) {
		panic("simd: dots to sq dists 64: length mismatch")
	}
	if len(dots) > 0 {
		reads(norms2)
		writes(dots)
		s.dotsToSqDists64(dots, norm2, norms2)
	}
}

// dotsToSqDists64Go is the reference.
func dotsToSqDists64Go(dots []float64, norm2 float64, norms2 []float64) {
	for j, v := range dots {
		d2 := math.FMA(-2, v, norm2+norms2[j])
		if d2 <= 0 {
			d2 = 0
		}
		dots[j] = d2
	}
}
