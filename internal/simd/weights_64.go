package simd

import "math"

// Weights64 sets dst[i] = max(exp(-gamma d2[i]), least), the Gaussian weight of a squared
// distance, in float64. dst is as long as d2 and may be d2 itself; gamma, d2 and least are 0
// or more. The product with gamma is rounded. The exponential is within 1.8 2^-53 of
// itself, at most 1, exactly 1 at 0, and 0 where the product is above most, which is 700 or
// less. So a weight w that is not least has an error of at most
//
//	w expm1(gamma d2 2^-53) + 1.8 2^-53 w.
//
// Its bits are the same at every level. Weights64 panics where lengths differ or most is
// above 700, and allocates nothing.
func (s *Kernels) Weights64(dst, d2 []float64, gamma, least, most float64) {
	if len(dst) != len(d2) {
		panic("simd: weights 64: length mismatch")
	}
	if !(most <= exp64Most) {
		panic("simd: weights 64: exponents above 700")
	}
	if len(d2) > 0 {
		reads(d2)
		writes(dst)
		s.weights64(dst, d2, gamma, least, most)
	}
}

// weights64Go is the reference.
func weights64Go(dst, d2 []float64, gamma, least, most float64) {
	for i, v := range d2 {
		w := expNeg64Go(float64(gamma*v), most)
		if w < least {
			w = least
		}
		dst[i] = w
	}
}

// The polynomial interpolates (exp(-r) - 1)/r at the eleven Chebyshev nodes of
// |r| <= ln(2)/2 (1 + 2^-20), times r, plus 1, with coefficients rounded to float64. Its
// relative error there is below 0.1 2^-53: at most 0.088 2^-53 in 800,001 points of the
// range, evenly spaced and taken with 140 bits, and 0.008 2^-53 more between them, by the
// sizes of the coefficients of its derivative. exp64C1 is exactly -1.
const (
	exp64C1  = -1
	exp64C2  = 0x1.0000000000005p-1
	exp64C3  = -0x1.5555555555557p-3
	exp64C4  = 0x1.55555555520afp-5
	exp64C5  = -0x1.11111111100dfp-7
	exp64C6  = 0x1.6c16c17f43acbp-10
	exp64C7  = -0x1.a01a01abe6323p-13
	exp64C8  = 0x1.a019a66a5f0b6p-16
	exp64C9  = -0x1.71de0237484cdp-19
	exp64C10 = 0x1.28a2c0bee04a5p-22
	exp64C11 = -0x1.af4ddda1c08cdp-26

	// ln(2) is the sum of two float64 numbers and less than 2^-110.
	ln2High, ln2Low = 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56
	// Up to exp64Most, 2^-n is a normal number.
	exp64Most = 700
)

// expNeg64Go returns exp(-x) for x >= 0, and 0 above most. With n = x/ln(2) to the nearest and r = x - n ln(2),
// exp(-x) = exp(-r) 2^-n.
//
// Its error, with u = 2^-53: Where n is 0, r is x. Otherwise x is at least 0.34 and a
// multiple of 2^-54, as n ln2High is, and their difference is below 1/2: it has no more than
// 53 bits and is not rounded. Subtracting n ln2Low rounds by at most 2^-55, and the error of
// ln2Low itself is negligible. So r is off by u/4, and exp(-r) relatively by as much.
// Horner's scheme ends in q with |q| < 1.2. Rounding adds at most u to q, u/2 to the sum
// before, which counts |r| < 0.35 times, and u/8 to the one before that, which counts r^2
// times: in all less than 1.2 u. So the last sum, of 1 and r q, is off by 0.42 u from q, and
// by its own rounding: u where it is 1 or more, and otherwise u/2 of a number of at least
// 0.7. That is at most 1.42 u relatively. The polynomial is off by 0.1 u, and the product
// with 2^-n is exact. The total is below 1.8 u. QED
//
// The result is at most 1: with n = 0, r q is not positive; with larger n the sum is below
// 1.5 and at least halved.
func expNeg64Go(x, most float64) float64 {
	if x > most {
		return 0
	}
	t := math.FMA(x, 1/math.Ln2, expShift)
	n := t - expShift
	r := math.FMA(-n, ln2High, x)
	r = math.FMA(-n, ln2Low, r)
	p := math.FMA(exp64C11, r, exp64C10)
	p = math.FMA(p, r, exp64C9)
	p = math.FMA(p, r, exp64C8)
	p = math.FMA(p, r, exp64C7)
	p = math.FMA(p, r, exp64C6)
	p = math.FMA(p, r, exp64C5)
	p = math.FMA(p, r, exp64C4)
	p = math.FMA(p, r, exp64C3)
	p = math.FMA(p, r, exp64C2)
	p = math.FMA(p, r, exp64C1)
	p = math.FMA(p, r, 1)
	return p * math.Float64frombits((1023-math.Float64bits(t))<<52)
}
