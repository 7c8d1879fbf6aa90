//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func addRowsAVX2(dst, v []float64, x Rows[float64]) {
	asm.AddRowsF64AVX2(&dst[0], uintptr(len(dst)), &v[0], uintptr(len(v)), &x.Data[0], uintptr(x.Stride))
}

func addRowsAVX512(dst, v []float64, x Rows[float64]) {
	asm.AddRowsF64AVX512(&dst[0], uintptr(len(dst)), &v[0], uintptr(len(v)), &x.Data[0], uintptr(x.Stride))
}
