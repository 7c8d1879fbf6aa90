//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func finiteAVX2(x []float32) bool {
	n := len(x) &^ 31
	if n > 0 && asm.LargestBitsF32AVX2(&x[0], uintptr(n)) >= infinite {
		return false
	}
	return finiteGo(x[n:])
}
