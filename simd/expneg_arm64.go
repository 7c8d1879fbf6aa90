//go:build gc && !noasm && !purego

package simd

import "math"

// expNegConstants are what expNegGo computes with, in the order of its steps;
// the last is the bit pattern of an integer.
var expNegConstants = [...]float64{
	expHigh, expLow, 1 / math.Ln2, expShift, math.Ln2, expC6, expC5, expC4, expC3, expC2, expC1, 1, math.Float64frombits(1023),
}

func expNegNEON(dst, x []float32) {
	expNegF32NEON(&dst[0], &x[0], uintptr(len(x)), &expNegConstants)
}

func weightsNEON(dst []float32, d2 []float64, gamma float64) {
	weightsF32NEON(&dst[0], &d2[0], uintptr(len(d2)), gamma, &expNegConstants)
}

// expNegF32NEON computes exp(-x).
//
//	for i := range n {
//		dst[i] = expNegGo(float64(x[i]))
//	}
//
//go:noescape
func expNegF32NEON(dst, x *float32, n uintptr, constants *[13]float64)

// weightsF32NEON computes Gaussian weights.
//
//	for i := range n {
//		dst[i] = expNegGo(gamma * d2[i])
//	}
//
//go:noescape
func weightsF32NEON(dst *float32, d2 *float64, n uintptr, gamma float64, constants *[13]float64)
