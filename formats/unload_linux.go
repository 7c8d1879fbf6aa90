package formats

import (
	"os"
	"syscall"
	"unsafe"
)

// unload gives the whole pages under data back, which must be a part of a mapped file that
// nobody writes to.
func unload(data []float32) {
	page, size := uintptr(os.Getpagesize()), uintptr(len(data))*unsafe.Sizeof(float32(0))
	base := unsafe.Pointer(unsafe.SliceData(data))
	skip := -uintptr(base) % page
	if size < skip+page {
		return
	}
	inside := unsafe.Slice((*byte)(unsafe.Add(base, skip)), (size-skip)/page*page)
	_ = syscall.Madvise(inside, syscall.MADV_DONTNEED) // an error means that the pages stay
}
