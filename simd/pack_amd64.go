//go:build gc && !noasm && !purego

package simd

import "unsafe"

func packRowsAVX512(off []uint16, ptr []uint64, base, ind []uint32) {
	packAVX512(unsafe.SliceData(off), &ptr[0], uintptr(len(ptr)-1), &base[0], unsafe.SliceData(ind))
}
