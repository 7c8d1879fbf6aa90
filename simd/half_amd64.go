//go:build gc && !noasm && !purego

package simd

import "unsafe"

func singlesOfAVX2(dst []float32, half []uint16) {
	singlesAVX2(unsafe.SliceData(dst), unsafe.SliceData(half), uintptr(len(half)))
}

func singlesOfAVX512(dst []float32, half []uint16) {
	singlesAVX512(unsafe.SliceData(dst), unsafe.SliceData(half), uintptr(len(half)))
}
