package mem

import (
	"syscall"
	"unsafe"
)

// madvHugepage is MADV_HUGEPAGE, which package syscall does not name.
const madvHugepage = 14

// Huge asks for large pages under s, which should not have been touched yet.
// Arrays read in leaps are slow on small pages: most reads then miss the
// address cache. Slices of less than 4 MiB are left alone, and so is everything
// where the system has no such advice; nothing but time depends on it.
func Huge[T any](s []T) {
	const least, page = 4 << 20, 4 << 10
	var zero T
	size := uintptr(cap(s)) * unsafe.Sizeof(zero)
	if size < least {
		return
	}
	base := unsafe.Pointer(unsafe.SliceData(s))
	// Whole small pages: a large one may lie under two slices that both ask.
	skip := -uintptr(base) % page
	whole := (size - skip) / page * page
	inside := unsafe.Slice((*byte)(unsafe.Add(base, skip)), whole)
	// An error means that there are no large pages: that is all right.
	_ = syscall.Madvise(inside, madvHugepage)
}
