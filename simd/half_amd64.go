//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

func singlesOfAVX2(dst []float32, half []uint16) {
	asm.SinglesAVX2(unsafe.SliceData(dst), unsafe.SliceData(half), uintptr(len(half)))
}

func singlesOfAVX512(dst []float32, half []uint16) {
	asm.SinglesAVX512(unsafe.SliceData(dst), unsafe.SliceData(half), uintptr(len(half)))
}
