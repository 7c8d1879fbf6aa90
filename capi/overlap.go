//go:build cgo

package main

import (
	"errors"
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"
)

// errOverlap reports results that share memory with something else.
var errOverlap = errors.New("they share memory")

// A span is memory of the caller, from begin to before end, and its name.
type span struct {
	name       string
	begin, end uintptr
}

// spanOf returns the memory of a slice.
func spanOf[T any](name string, s []T) span {
	var entry T
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return span{name, begin, begin + uintptr(len(s))*unsafe.Sizeof(entry)}
}

// spanOfRows returns the memory of a matrix, including gaps between its rows.
func spanOfRows(name string, m blas32.General) span { return spanOf(name, m.Data) }

// meets reports whether two spans share memory.
func (s span) meets(o span) bool { return s.begin < o.end && o.begin < s.end }

// checkOverlap refuses results that share memory with each other or with rows that are read,
// since a function reads rows while it writes others.
func checkOverlap(written, read []span) error {
	for i, w := range written {
		for _, o := range append(written[i+1:len(written):len(written)], read...) {
			if w.meets(o) {
				return overlapping(w.name, o.name)
			}
		}
	}
	return nil
}

func overlapping(written, other string) error {
	return fmt.Errorf("%w: %s and %s", errOverlap, written, other)
}
