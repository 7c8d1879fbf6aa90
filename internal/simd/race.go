//go:build race

package simd

import (
	"runtime"
	"unsafe"
)

// The race detector does not see what assembly reads and writes, so kernels report it.

// reads reports to the race detector that s is read.
func reads[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&s[0]), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// writes reports that s is written.
func writes[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&s[0]), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// readsSpans reports that the coordinates of the points of some spans are read, along d
// axes.
func readsSpans(d int, coords Rows[float32], spans []uint32) {
	for p := 0; p+2 <= len(spans); p += 2 {
		for a := range d {
			axis := coords.Data[a*coords.Stride:]
			reads(axis[spans[p]:max(spans[p], spans[p+1])])
		}
	}
}

// readsRows reports that some rows of the given width are read.
func readsRows(rows Rows[float32], width int, index []uint32) {
	for _, i := range index {
		reads(rows.row(int(i), width))
	}
}

// readsFirst reports that the first n rows are read, but not the gaps between them: others
// may write there.
func readsFirst[T float32 | float64](x Rows[T], n, width int) {
	for i := range n {
		reads(x.row(i, width))
	}
}

// writesFirst reports that the first n rows are written, but not the gaps between them.
func writesFirst[T float32 | float64](x Rows[T], n, width int) {
	for i := range n {
		writes(x.row(i, width))
	}
}
