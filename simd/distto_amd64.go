//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

func sqDistsToAVX2(dst, x, rows []float32, stride int, index []uint32, limit float32) {
	asm.SqDistsToF32AVX2(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows), uintptr(stride), &index[0], uintptr(len(index)), limit)
}

func sqDistsToAVX512(dst, x, rows []float32, stride int, index []uint32, limit float32) {
	asm.SqDistsToF32AVX512(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows), uintptr(stride), &index[0], uintptr(len(index)), limit)
}
