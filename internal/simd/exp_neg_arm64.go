//go:build gc && !noasm && !purego

package simd

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

// expNegConstants are what expNegGo computes with, in the order of its steps;
// the last is the bit pattern of an integer.
var expNegConstants = [...]float64{
	expHigh, expLow, 1 / math.Ln2, expShift, math.Ln2, expC6, expC5, expC4, expC3, expC2, expC1, 1, math.Float64frombits(1023),
}

func expNegNEON(dst, x []float32) {
	asm.ExpNegF32NEON(&dst[0], &x[0], uintptr(len(x)), &expNegConstants)
}

func weightsNEON(dst []float32, d2 []float64, gamma float64) {
	asm.WeightsF32NEON(&dst[0], &d2[0], uintptr(len(d2)), gamma, &expNegConstants)
}
