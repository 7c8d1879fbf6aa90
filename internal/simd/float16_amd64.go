//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

func float32sAVX2(dst []float32, half []uint16) {
	asm.Float32sAVX2(unsafe.SliceData(dst), unsafe.SliceData(half), uintptr(len(half)))
}
