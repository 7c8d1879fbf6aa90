package mechanism

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// An Amount is a privacy budget or a part of one: a whole number of units of
// 2^-96, of rho or (in a pure pot) of epsilon. Whole numbers add up without
// drift, and no spend is too small to count.
type Amount struct{ hi, lo uint64 }

const amountBits = 96

// add returns a + b, and whether it can be represented.
func (a Amount) add(b Amount) (sum Amount, ok bool) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, carry := bits.Add64(a.hi, b.hi, carry)
	if carry != 0 {
		return Amount{}, false
	}
	return Amount{hi, lo}, true
}

// minus returns a - b for b <= a.
func (a Amount) minus(b Amount) Amount {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return Amount{hi, lo}
}

// Cmp returns -1, 0 or +1 when a is below, equal to or above b.
func (a Amount) Cmp(b Amount) int {
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

// Float returns the amount as a float64, rounded up.
func (a Amount) Float() float64 {
	shift := 128 - 53 - bits.LeadingZeros64(a.hi)
	if a.hi == 0 {
		shift = 64 - 53 - bits.LeadingZeros64(a.lo)
	}
	if shift <= 0 {
		return math.Ldexp(float64(a.lo), -amountBits)
	}
	// At least one unit is rounded up to 2^shift of them; the sum may have 54
	// bits, but then it is a power of two.
	m, _ := roundUp(a.hi, a.lo, -shift)
	return math.Ldexp(float64(m.lo), shift-amountBits)
}

// String returns Float in the fewest digits that identify it.
func (a Amount) String() string { return strconv.FormatFloat(a.Float(), 'g', -1, 64) }

// amountOf returns x > 0 rounded up, or false when it is too large.
func amountOf(x float64) (Amount, bool) {
	m, e := mantissa(x)
	return roundUp(0, m, e+amountBits)
}

// amountOfHalfSquare returns x^2/2 rounded up, for x > 0.
func amountOfHalfSquare(x float64) (Amount, bool) {
	m, e := mantissa(x)
	hi, lo := bits.Mul64(m, m)
	return roundUp(hi, lo, 2*e-1+amountBits)
}

// amountOfGaussian returns the cost of Gaussian noise calibrated to (epsilon,
// delta), and also the contents of a budget of (epsilon, delta): one function
// for both, so that a release at the whole budget fits. It is 1/(2 c^2), rounded
// down, with c a little above the exact multiplier. Noise is made with a
// multiplier twice as far above it, so the true cost is smaller.
func amountOfGaussian(epsilon, delta float64) Amount {
	m, e := mantissa(multiplier(epsilon, delta) * (1 + 0x1p-41))
	square := new(big.Int).SetUint64(m)
	square.Mul(square, square)
	units := new(big.Int).Lsh(big.NewInt(1), uint(amountBits-1-2*e))
	units.Quo(units, square)
	lo := new(big.Int).And(units, new(big.Int).SetUint64(math.MaxUint64))
	return Amount{units.Rsh(units, 64).Uint64(), lo.Uint64()}
}

// mantissa returns m and e with x = m 2^e exactly, m below 2^53, for x >= 0.
func mantissa(x float64) (m uint64, e int) {
	f, e := math.Frexp(x)
	return uint64(math.Ldexp(f, 53)), e - 53
}

// roundUp returns (hi, lo) 2^e units, rounded up and at least one unit, or
// false when it is too large.
func roundUp(hi, lo uint64, e int) (Amount, bool) {
	if hi == 0 && lo == 0 {
		return Amount{0, 1}, true
	}
	if e >= 0 {
		free := bits.LeadingZeros64(hi)
		if hi == 0 {
			free = 64 + bits.LeadingZeros64(lo)
		}
		if e > free {
			return Amount{}, false
		}
		if e >= 64 {
			return Amount{lo << (e - 64), 0}, true
		}
		return Amount{hi<<e | lo>>(64-e), lo << e}, true
	}
	var out Amount
	var lost bool
	switch down := uint(-e); {
	case down >= 128:
		lost = true
	case down >= 64:
		out.lo = hi >> (down - 64)
		lost = lo != 0 || hi<<(128-down) != 0
	default:
		out = Amount{hi >> down, hi<<(64-down) | lo>>down}
		lost = lo<<(64-down) != 0
	}
	if lost {
		out, _ = out.add(Amount{0, 1}) // out was halved at least once
	}
	return out, true
}
