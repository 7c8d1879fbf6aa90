//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func expNegAVX2(dst, x []float32)   { asm.ExpNegF32AVX2(&dst[0], &x[0], uintptr(len(x))) }
func expNegAVX512(dst, x []float32) { asm.ExpNegF32AVX512(&dst[0], &x[0], uintptr(len(x))) }

func weightsAVX2(dst []float32, d2 []float64, gamma float64) {
	asm.WeightsF32AVX2(&dst[0], &d2[0], uintptr(len(d2)), gamma)
}

func weightsAVX512(dst []float32, d2 []float64, gamma float64) {
	asm.WeightsF32AVX512(&dst[0], &d2[0], uintptr(len(d2)), gamma)
}
