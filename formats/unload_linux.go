package formats

import (
	"os"
	"syscall"
	"unsafe"
)

// unload returns the whole pages of data, which must be a part of a mapped file that is
// not written to.
func unload(data []float32) {
	page, size := uintptr(os.Getpagesize()), uintptr(len(data))*unsafe.Sizeof(float32(0))
	base := unsafe.Pointer(unsafe.SliceData(data))
	skip := -uintptr(base) % page
	if size < skip+page {
		return
	}
	inside := unsafe.Slice((*byte)(unsafe.Add(base, skip)), (size-skip)/page*page)
	_ = syscall.Madvise(inside, syscall.MADV_DONTNEED) // after an error the pages stay
}
