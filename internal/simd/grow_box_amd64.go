//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func growBoxAVX2(lo, hi, x []float32) {
	n := len(x) &^ 31
	if n > 0 {
		asm.GrowBoxF32AVX2(&lo[0], &hi[0], &x[0], uintptr(n))
	}
	growBoxGo(lo[n:], hi[n:], x[n:])
}
