// Package rotation has the rotation of the ranking space that rows of int8 and stored rows of
// sealed galleries go through. It is public, and part of the formats.
package rotation

import (
	"math"
	"math/bits"

	"github.com/seed-64e14a55/privatemail/internal/random"
)

// signs is the seed of the signs that Row changes.
const signs = 0x70726976_6d61696c

// Row sets dst to a row of the ranking space, rotated. Distances stay what they are,
// and the entries of a rotated row are of about one size, so that one step serves all of
// them. The rotation is orthogonal up to rounding, follows from the length of the row
// alone, and gives the same bits on every machine:
//
//	signs, a Walsh-Hadamard transform of the first p entries,
//	signs, a Walsh-Hadamard transform of the last p entries,
//
// p the largest power of two that is not above the length. dst may be row itself. A dst
// that is shorter than row is a mistake of the program, and it panics.
func Row(dst, row []float64) {
	dst = dst[:len(row)]
	copy(dst, row)
	if len(dst) == 0 {
		return
	}
	p := 1 << (bits.Len(uint(len(dst))) - 1)
	words := random.NewSplitMix64(signs)
	flipSigns(dst, words)
	hadamard(dst[:p])
	flipSigns(dst, words)
	hadamard(dst[len(dst)-p:])
}

// flipSigns changes the signs where the bits of the next words are set.
func flipSigns(v []float64, words *random.SplitMix64) {
	var word uint64
	for j := range v {
		if j%64 == 0 {
			word = words.Uint64()
		}
		v[j] = math.Float64frombits(math.Float64bits(v[j]) ^ word<<63)
		word >>= 1
	}
}

// hadamard transforms v, whose length is a power of two.
func hadamard(v []float64) {
	for half := 1; half < len(v); half *= 2 {
		for lo := 0; lo < len(v); lo += 2 * half {
			a, b := v[lo:][:half], v[lo+half:][:half]
			for j, x := range a {
				a[j], b[j] = x+b[j], x-b[j]
			}
		}
	}
	// The root of a power of two has the same bits everywhere, and nothing is added to
	// the products, so that none is fused.
	scale := 1 / math.Sqrt(float64(len(v)))
	for j := range v {
		v[j] *= scale
	}
}
