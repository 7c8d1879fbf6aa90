//go:build gc && !noasm && !purego

package simd

import "unsafe"

func slideWindowsAVX512(windows []Window, numbers []uint32, lo, hi int) {
	slideAVX512(&windows[0].From, uintptr(len(windows)), unsafe.SliceData(numbers), lo, hi)
}
