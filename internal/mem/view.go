package mem

import "unsafe"

// A word is a number of 4 or 8 bytes.
type word interface {
	uint32 | float32 | int64 | float64
}

// View returns the memory of s as numbers of another type of the same size; nil for nil, and for
// another size. Both are the same memory: a number must be read as the type it was written as.
func View[T, S word](s []S) []T {
	var to T
	var from S
	if len(s) == 0 || unsafe.Sizeof(to) != unsafe.Sizeof(from) {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
