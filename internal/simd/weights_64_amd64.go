//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func weights64AVX2(dst, d2 []float64, gamma, least, most float64) {
	asm.WeightsF64AVX2(&dst[0], &d2[0], uintptr(len(d2)), gamma, least, most)
}

func weights64AVX512(dst, d2 []float64, gamma, least, most float64) {
	asm.WeightsF64AVX512(&dst[0], &d2[0], uintptr(len(d2)), gamma, least, most)
}
