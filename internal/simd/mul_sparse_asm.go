//go:build (amd64 || arm64) && gc && !noasm && !purego

package simd

import "math/bits"

// widest returns the logarithm of the largest width that is at most k. The widths are
// 1, 2, 4 and so on, and widths says how many there are.
func widest(k, widths int) int { return min(bits.Len(uint(k)), widths) - 1 }
