//go:build linux

package simd

import (
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// pages are mappings whose last page may not be touched, kept for reuse.
var pages struct {
	sync.Mutex
	free map[int][][]byte
}

// fenced returns n zero bytes. The memory after them may be neither read nor written.
// They start at any multiple of four bytes.
func fenced(t testing.TB, n int) []byte {
	t.Helper()
	size := syscall.Getpagesize()
	room := (n + size - 1) / size * size
	pages.Lock()
	defer pages.Unlock()
	var m []byte
	if list := pages.free[room]; len(list) > 0 {
		m, pages.free[room] = list[len(list)-1], list[:len(list)-1]
		clear(m[:room])
	} else {
		var err error
		if m, err = syscall.Mmap(-1, 0, room+size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mprotect(m[room:], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		pages.Lock()
		defer pages.Unlock()
		if pages.free == nil {
			pages.free = make(map[int][][]byte)
		}
		pages.free[room] = append(pages.free[room], m)
	})
	return m[room-n : room : room]
}

// lazily returns n bytes of zeros that take no memory until they are touched.
func lazily(t testing.TB, n uint64) []float32 {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	return unsafe.Slice((*float32)(unsafe.Pointer(&m[0])), n/4)
}
