package dense

import "math"

// downTo1 returns the power of two that brings a size to 1/2 or more and below 1. The
// size 0 needs none. The power stays in a range where it and its inverse are normal numbers.
func downTo1(size float64) float64 {
	if size == 0 {
		return 1
	}
	_, exponent := math.Frexp(size)
	return math.Ldexp(1, min(max(-exponent, -1000), 1000))
}
