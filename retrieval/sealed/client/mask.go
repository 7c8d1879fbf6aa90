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
