package simd

import "math"

// Weights sets dst[i] = exp(-gamma d2[i]), the Gaussian weight of a squared distance. dst
// is as long as d2, and gamma >= 0. The product with gamma is rounded to float64, and the
// exponential is within 0.59 units of the last place of float32. So a weight w has an
// error of at most
//
//	w (1.18 2^-24 + gamma d2 2^-53) + 0.59 2^-149.
//
// Its bits are the same at every level. Weights panics where lengths differ, and allocates
// nothing.
func (s *Kernels) Weights(dst []float32, d2 []float64, gamma float64) {
	if len(dst) != len(d2) {
		panic("simd: weights: length mismatch")
	}
	if len(d2) > 0 {
		reads(d2)
		writes(dst)
		s.weights(dst, d2, gamma)
	}
}

// expNegF32Go sets dst[i] = exp(-x[i]). dst is as long as x, at least one number, and may
// be x itself. The result is within 0.59 units of the last place for every float32,
// subnormal results included. It is exactly 1 at 0, 0 from x = 104 on, +Inf where the
// exponential overflows, and NaN for NaN. Only tests call it: they try every float32, and
// the bound of Weights rests on them.
func expNegF32Go(dst, x []float32) {
	for i, v := range x {
		dst[i] = expNegGo(float64(v))
	}
}

// weightsF32Go is the reference of Weights.
func weightsF32Go(dst []float32, d2 []float64, gamma float64) {
	for i, v := range d2 {
		dst[i] = expNegGo(float64(gamma * v))
	}
}

// The polynomial interpolates (exp(-r) - 1)/r at the six Chebyshev nodes of
// |r| <= ln(2)/2 (1 + 2^-20), times r, plus 1, with coefficients rounded to
// float64. Its relative error there is at most 5.1e-9, or 0.085 units of the
// last place of a float32, to which the last rounding adds 0.5; all else is
// float64 rounding.
const (
	expC1 = -0x1.0000002e4388dp+0
	expC2 = 0x1.0000000b8f670p-1
	expC3 = -0x1.55547cb25a76cp-3
	expC4 = 0x1.5554e91133b7ep-5
	expC5 = -0x1.123d81adc404bp-7
	expC6 = 0x1.6d43152a5e20ap-10

	// Adding 1.5 2^52 rounds to an integer, which is then in the low bits.
	expShift = 0x1.8p52
	// Beyond these the float32 result is infinite or zero.
	expLow, expHigh = -100, 110
)

// expNegGo returns exp(-x). With n = x/ln(2) to the nearest and r = x - n ln(2),
// exp(-x) = exp(-r) 2^-n; in float64, 2^-n and the product with it are ordinary
// numbers even where the float32 result is not. The conversions around products
// keep the compiler from fusing them.
func expNegGo(x float64) float32 {
	if x > expHigh {
		x = expHigh
	}
	if x < expLow {
		x = expLow
	}
	t := float64(x*(1/math.Ln2)) + expShift
	r := x - float64((t-expShift)*math.Ln2)
	p := float64(expC6*r) + expC5
	p = float64(p*r) + expC4
	p = float64(p*r) + expC3
	p = float64(p*r) + expC2
	p = float64(p*r) + expC1
	p = float64(p*r) + 1
	return float32(p * math.Float64frombits((1023-math.Float64bits(t))<<52))
}
