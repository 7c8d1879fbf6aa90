//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

func sqDists64AVX2(dst []float64, x []float32, rows Rows[float32], index []uint32) {
	asm.SqDistsF64AVX2(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows.Data), uintptr(rows.Stride), &index[0], uintptr(len(index)))
}

func sqDists64AVX512(dst []float64, x []float32, rows Rows[float32], index []uint32) {
	asm.SqDistsF64AVX512(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows.Data), uintptr(rows.Stride), &index[0], uintptr(len(index)))
}
