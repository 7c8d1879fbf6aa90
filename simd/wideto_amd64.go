//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

func wideDistsToAVX2(dst []float64, x, rows []float32, stride int, index []uint32) {
	asm.WideDistsToF32AVX2(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows), uintptr(stride), &index[0], uintptr(len(index)))
}

func wideDistsToAVX512(dst []float64, x, rows []float32, stride int, index []uint32) {
	asm.WideDistsToF32AVX512(&dst[0], unsafe.SliceData(x), uintptr(len(x)), unsafe.SliceData(rows), uintptr(stride), &index[0], uintptr(len(index)))
}
