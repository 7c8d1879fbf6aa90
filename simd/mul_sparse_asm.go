//go:build (amd64 || arm64) && gc && !noasm && !purego

package simd

import "math/bits"

// widest returns the logarithm of the largest of so many widths, from 1 on and
// doubling, that is at most k.
func widest(k, widths int) int { return min(bits.Len(uint(k)), widths) - 1 }
