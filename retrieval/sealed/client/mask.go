package client

import (
	"math"
	"math/bits"
)

// The functions of this file have no branch and no index. They are what the client computes with
// where the time must not depend on a secret. Masks are all ones for yes and 0 for no.

// less returns a mask: whether a is below b.
func less(a, b uint64) uint64 {
	_, borrow := bits.Sub64(a, b, 0)
	return -borrow
}

// equal returns a mask: whether a is b.
func equal(a, b uint32) uint32 {
	return -uint32((uint64(a^b) - 1) >> 63)
}

// larger returns the larger of two numbers, of which none is negative or NaN.
func larger(a, b float64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	return math.Float64frombits(choose(less(x, y), y, x))
}

// dropSmall returns x, and 0 where x is below least in size.
func dropSmall(x, least float64) float64 {
	b := math.Float64bits(x)
	return math.Float64frombits(b &^ less(b&^(1<<63), math.Float64bits(least)))
}

// nearestWhole returns x rounded to a whole number, in the middle to the even one, modulo 2^32. x
// is below 2^50 in size: then the sum has no room for what is behind the point, and ends with
// the bits of the whole number.
func nearestWhole(x float64) uint32 {
	return uint32(math.Float64bits(x + 3<<51))
}

// choose returns a where the mask is set and b elsewhere.
func choose[T uint32 | uint64](mask, a, b T) T { return b ^ mask&(a^b) }

// order returns a number that grows with x, which is not NaN.
func order(x float64) uint64 {
	b := math.Float64bits(x)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// unorder returns the x of order.
func unorder(key uint64) float64 {
	return math.Float64frombits(key ^ (uint64(int64(^key)>>63) | 1<<63))
}
