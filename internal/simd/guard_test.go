package simd

import (
	"flag"
	"testing"
	"unsafe"
)

// qemu 7.2 reads the whole vector of a masked load, unlike processors.
var fence = flag.Bool("fence", true, "end slices where memory may not be touched; false for emulators that fault in masked loads")

// canary surrounds the slices that kernels write to.
const canary = 0xa5

// guarded returns a slice of n numbers, as close as possible before memory that may not
// be touched, with canaries before it that are checked at the end of the test.
func guarded[T any](t testing.TB, n int) []T {
	t.Helper()
	var zero T
	const before = 64
	size := before + n*int(unsafe.Sizeof(zero))
	var raw []byte
	if *fence {
		raw = fenced(t, size)
	} else {
		raw = withCanaries(t, size)
	}
	for i := range raw[:before] {
		raw[i] = canary
	}
	t.Cleanup(func() {
		for _, b := range raw[:before] {
			if b != canary {
				t.Error("a kernel wrote before its slice")
				return
			}
		}
	})
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&raw[before])), n)
}

// withCanaries returns n zero bytes followed by canaries that are checked at the end of
// the test. It does not detect reads beyond the bytes.
func withCanaries(t testing.TB, n int) []byte {
	t.Helper()
	raw := make([]byte, n+64)
	for i := range raw[n:] {
		raw[n+i] = canary
	}
	t.Cleanup(func() {
		for _, b := range raw[n:] {
			if b != canary {
				t.Error("a kernel wrote after its slice")
				return
			}
		}
	})
	return raw[:n:n]
}
