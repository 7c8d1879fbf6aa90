//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

func sqDistsAVX2(dst, x []float32, rows Rows[float32], index []uint32, limit float32) {
	asm.SqDistsF32AVX2(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows.Data), uintptr(rows.Stride), &index[0], uintptr(len(index)), limit)
}

func sqDistsAVX512(dst, x []float32, rows Rows[float32], index []uint32, limit float32) {
	asm.SqDistsF32AVX512(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows.Data), uintptr(rows.Stride), &index[0], uintptr(len(index)), limit)
}
