//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

func packRowsAVX512(off []uint16, ptr []uint64, base, ind []uint32) {
	asm.PackAVX512(unsafe.SliceData(off), &ptr[0], uintptr(len(ptr)-1), &base[0], unsafe.SliceData(ind))
}
