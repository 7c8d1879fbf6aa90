//go:build gc && !noasm && !purego

package simd

import "unsafe"

func slideWindowsAVX512(windows []Window, numbers []uint32, lo, hi uint32) {
	slideAVX512(&windows[0].From, uintptr(len(windows)), unsafe.SliceData(numbers), int(lo), int(hi))
}
