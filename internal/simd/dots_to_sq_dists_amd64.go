//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func dotsToSqDists64AVX2(dots []float64, norm2 float64, norms2 []float64) {
	asm.DotsToSqDistsF64AVX2(&dots[0], norm2, &norms2[0], uintptr(len(dots)))
}

func dotsToSqDists64AVX512(dots []float64, norm2 float64, norms2 []float64) {
	asm.DotsToSqDistsF64AVX512(&dots[0], norm2, &norms2[0], uintptr(len(dots)))
}
