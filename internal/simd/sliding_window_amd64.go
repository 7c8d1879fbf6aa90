//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

func slideWindowsAVX512(windows []Window, numbers []uint32, lo, hi uint32) {
	asm.SlideWindowsAVX512(&windows[0].From, uintptr(len(windows)), unsafe.SliceData(numbers), int(lo), int(hi))
}
