//go:build race

package simd

import (
	"runtime"
	"unsafe"
)

// The race detector does not see what assembly reads and writes, so kernels tell it.

// reads tells the race detector that s is read.
func reads[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&s[0]), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// writes tells it that s is written.
func writes[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&s[0]), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// readsSpans tells it that the coordinates of the points of some spans are read, along d
// axes.
func readsSpans(d int, coords Rows[float32], spans []uint32) {
	for p := 0; p+2 <= len(spans); p += 2 {
		for a := range d {
			axis := coords.Data[a*coords.Stride:]
			reads(axis[spans[p]:max(spans[p], spans[p+1])])
		}
	}
}

// readsRows tells it that some rows of the given width are read.
func readsRows(rows Rows[float32], width int, index []uint32) {
	for _, i := range index {
		reads(rows.row(int(i), width))
	}
}

// readsFirst tells it that the first n rows are read, and nothing of what lies between them:
// others may write there.
func readsFirst[T float32 | float64](x Rows[T], n, width int) {
	for i := range n {
		reads(x.row(i, width))
	}
}

// writesFirst tells it that the first n rows are written, and nothing between them.
func writesFirst[T float32 | float64](x Rows[T], n, width int) {
	for i := range n {
		writes(x.row(i, width))
	}
}
