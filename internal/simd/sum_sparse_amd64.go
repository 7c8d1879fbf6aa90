//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

func sumSparseAVX2(dst []float64, ptr []uint64, val []float32) {
	asm.SumSparseF32AVX2(&dst[0], &ptr[0], uintptr(len(ptr)-1), unsafe.SliceData(val))
}
