package mem

import (
	"syscall"
	"unsafe"
)

// madvHugepage is MADV_HUGEPAGE, which package syscall does not name.
const madvHugepage = 14

// Huge asks for large pages under s, which should not have been touched yet.
// Arrays that are read in leaps are slow on small pages, since most reads miss the
// address cache. Slices of less than 4 MiB are left alone. Without large pages the
// program only runs slower.
func Huge[T any](s []T) {
	const least, page = 4 << 20, 4 << 10
	var zero T
	size := uintptr(cap(s)) * unsafe.Sizeof(zero)
	if size < least {
		return
	}
	base := unsafe.Pointer(unsafe.SliceData(s))
	// Only whole small pages are advised: a large page may contain two slices that both ask for it.
	skip := -uintptr(base) % page
	whole := (size - skip) / page * page
	inside := unsafe.Slice((*byte)(unsafe.Add(base, skip)), whole)
	// An error means that there are no large pages, which is fine.
	_ = syscall.Madvise(inside, madvHugepage)
}
