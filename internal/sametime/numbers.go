package sametime

import (
	"math"
	"math/bits"
)

// Less returns a mask that says whether a is below b.
func Less(a, b uint64) uint64 {
	_, borrow := bits.Sub64(a, b, 0)
	return -borrow
}

// Equal returns a mask that says whether a equals b.
func Equal(a, b uint32) uint32 {
	return -uint32((uint64(a^b) - 1) >> 63)
}

// Choose returns a if the mask is set, and b otherwise.
func Choose[T uint32 | uint64](mask, a, b T) T { return b ^ mask&(a^b) }

// Larger returns the larger of two numbers, neither of which is negative or NaN.
func Larger(a, b float64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	return math.Float64frombits(Choose(Less(x, y), y, x))
}

// Clamp returns x, or most with the sign of x if x is larger than most in magnitude. x is not
// NaN, and most is not negative.
func Clamp(x, most float64) float64 {
	b, limit := math.Float64bits(x), math.Float64bits(most)
	size := b &^ (1 << 63)
	return math.Float64frombits(Choose(Less(limit, size), limit, size) | b&(1<<63))
}

// DropSmall returns x, or 0 if x is below least in magnitude.
func DropSmall(x, least float64) float64 {
	b := math.Float64bits(x)
	return math.Float64frombits(b &^ Less(b&^(1<<63), math.Float64bits(least)))
}

// DropSubnormal returns x, or 0 if x is subnormal or a negative zero.
func DropSubnormal(x float32) float32 {
	const sign, least = 1 << 31, 1 << 23 // the bits of the least normal number
	b := math.Float32bits(x)
	return math.Float32frombits(b &^ uint32(Less(uint64(b&^sign), least)))
}

// NearestWhole returns x rounded to a whole number, ties to even, modulo 2^32. x is below 2^50
// in magnitude: then the sum has no bits for the fraction, and its last bits are those of the
// whole number.
func NearestWhole(x float64) uint32 {
	return uint32(math.Float64bits(x + 3<<51))
}

// Order returns a number that increases with x. x is not NaN.
func Order(x float64) uint64 {
	b := math.Float64bits(x)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// Unorder is the inverse of Order.
func Unorder(key uint64) float64 {
	return math.Float64frombits(key ^ (uint64(int64(^key)>>63) | 1<<63))
}
