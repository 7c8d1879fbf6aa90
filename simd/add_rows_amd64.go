//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/simd/internal/asm"

func addRowsAVX2(dst, v, x []float64, stride int) {
	asm.AddRowsF64AVX2(&dst[0], uintptr(len(dst)), &v[0], uintptr(len(v)), &x[0], uintptr(stride))
}

func addRowsAVX512(dst, v, x []float64, stride int) {
	asm.AddRowsF64AVX512(&dst[0], uintptr(len(dst)), &v[0], uintptr(len(v)), &x[0], uintptr(stride))
}
