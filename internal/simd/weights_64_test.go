package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// expBits is the precision of the exponentials that weights are compared with.
const expBits = 200

// bigExpNeg returns exp(-x) for x >= 0: the Taylor series of exp(-x/2^m), squared m times.
// Squaring doubles a relative error, hence the bits to spare.
func bigExpNeg(x float64) *big.Float {
	const bits = expBits + 64
	m := max(0, big.NewFloat(x).MantExp(nil)+8)
	y := new(big.Float).SetPrec(bits).SetMantExp(big.NewFloat(-x), -m)
	sum, term := new(big.Float).SetPrec(bits).SetInt64(1), new(big.Float).SetPrec(bits).SetInt64(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -bits; k++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(bits).SetInt64(k))
		sum.Add(sum, term)
	}
	for range m {
		sum.Mul(sum, sum)
	}
	return sum
}

// relativeError returns how far w is from exp(-x), in units of 2^-53 of the exponential.
func relativeError(w, x float64) float64 {
	exact := bigExpNeg(x)
	e := new(big.Float).SetPrec(expBits).SetFloat64(w)
	e.Sub(e, exact)
	e.Quo(e, exact)
	v, _ := e.Float64()
	return math.Abs(v) * 0x1p53
}

// expArguments returns numbers from the whole range, its ends, and both sides of each
// place where the reduction moves to the next power of two or the exponential crosses
// one.
func expArguments(r *rand.Rand, n int) (x []float64) {
	x = append(x, 0, math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-60, 0x1p-53, 0x1p-27, 700, math.Nextafter(700, 0))
	for k := range 1010 {
		for _, edge := range []float64{(float64(k) + .5) * math.Ln2, float64(k) * math.Ln2} {
			x = append(x, edge, math.Nextafter(edge, 0), math.Nextafter(edge, 1000))
		}
	}
	for i := range n {
		switch i % 4 {
		case 0:
			x = append(x, 700*r.Float64())
		case 1:
			x = append(x, r.Float64())
		case 2:
			x = append(x, math.Ln2*float64(i)/float64(n)) // the whole range after the reduction
		default:
			x = append(x, math.Exp(40*r.Float64()-33.5))
		}
	}
	for i, v := range x {
		x[i] = min(v, 700)
	}
	return x
}

// The exponential of every level agrees with 200-bit arithmetic.
func TestWeights64Error(t *testing.T) {
	x := expArguments(rand.New(rand.NewPCG(73, 74)), 8000)
	dst, worst, worstAt := make([]float64, len(x)), 0.0, 0.0
	genericKernels.Weights64(dst, x, 1, 0, 700)
	for i, v := range x {
		if e := relativeError(dst[i], v); e > worst {
			worst, worstAt = e, v
		}
		if dst[i] > 1 || v == 0 && dst[i] != 1 {
			t.Errorf("exp(-%v) is %v", v, dst[i])
		}
	}
	t.Logf("largest error %.3f 2^-53, of exp(-%v)", worst, worstAt)
	if worst > 1.8 {
		t.Errorf("exp(-%v) is off by %g 2^-53", worstAt, worst)
	}
	for _, level := range Levels() {
		got := make([]float64, len(x))
		At(level).Weights64(got, x, 1, 0, 700)
		if !sameBits(got, dst) {
			t.Errorf("%v has other bits", level)
		}
	}
}

// Every level has the bits of the reference for any length, also in place, with a least
// weight and beyond the range. Nothing beyond the slices is touched.
func TestWeights64(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 76))
	for _, level := range Levels() {
		for n := range 70 {
			d2, want, dst := guarded[float64](t, n), make([]float64, n), guarded[float64](t, n)
			for i := range d2 {
				d2[i] = []float64{4 * r.Float64(), 2000 * r.Float64(), 0, 1e300, math.Inf(1), 700 / 0.7}[r.IntN(6)]
			}
			least := []float64{0, 0.1}[n%2]
			weights64Go(want, d2, 0.7, least, 700)
			for i, v := range want {
				if (0.7*d2[i] > 700) != (v == 0) && least == 0 || v < least {
					t.Fatalf("weight %v at %v", v, d2[i])
				}
			}
			At(level).Weights64(dst, d2, 0.7, least, 700)
			if !sameBits(dst, want) {
				t.Fatalf("%v: %d weights: %v, want %v", level, n, dst, want)
			}
			At(level).Weights64(d2, d2, 0.7, least, 700)
			if !sameBits(d2, want) {
				t.Fatalf("%v: %d weights in place: %v, want %v", level, n, d2, want)
			}
		}
		for n := 1; n < 20; n += 9 { // NaN stays NaN
			dst := make([]float64, n)
			dst[n-1] = math.NaN()
			At(level).Weights64(dst, dst, 1, 0.5, 700)
			if !math.IsNaN(dst[n-1]) {
				t.Errorf("%v: a NaN becomes %v", level, dst[n-1])
			}
		}
		mustPanic(t, "lengths", func() { At(level).Weights64(make([]float64, 2), make([]float64, 3), 1, 0, 700) })
		mustPanic(t, "exponents", func() { At(level).Weights64(make([]float64, 2), make([]float64, 2), 1, 0, 701) })
		few := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
		At(level).Weights64(few, few, 1, 0, 4)
		if few[3] == 0 || few[4] != 0 || few[9] != 0 {
			t.Errorf("%v: exponents of up to 4: %v", level, few)
		}
		At(level).Weights64(nil, nil, 1, 0, 700)
	}
}
