//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

func packColumnsAVX512(off []uint16, ptr []uint64, base, ind []uint32) {
	asm.PackColumnsAVX512(unsafe.SliceData(off), &ptr[0], uintptr(len(ptr)-1), &base[0], unsafe.SliceData(ind))
}
