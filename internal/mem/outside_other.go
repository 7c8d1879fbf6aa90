//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package mem

import "unsafe"

// Outside returns memory of zeros, at least one byte. Here it is memory of Go, which collects
// it when it is unused. It begins at a multiple of 8 bytes.
func Outside(size int) (data []byte, release func() error, err error) {
	words := make([]uint64, (size+7)/8) // as words, which are aligned
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), func() error { return nil }, nil
}
