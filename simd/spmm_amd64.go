//go:build gc && !noasm && !purego

package simd

import (
	"math/bits"
	"unsafe"
)

// fours is a generated function for one number of columns.
type fours = func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val *float32, nnz uintptr, x *float32, stride uintptr)

// foursKernels are the generated functions of a level with a float32
// destination, by the logarithm of their number of columns; nil where the level
// has none of that width.
type foursKernels [6]fours

var (
	foursAVX2   = foursKernels{spmmFours1F32AVX2, spmmFours2F32AVX2, spmmFours4F32AVX2, spmmFours8F32AVX2, spmmFours16F32AVX2}
	foursAVX512 = foursKernels{spmmFours1F32AVX512, spmmFours2F32AVX512, spmmFours4F32AVX512, spmmFours8F32AVX512, spmmFours16F32AVX512, spmmFours32F32AVX512}
)

func mulRowsF32AVX2(dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	foursAVX2.mulRows(dst, dstStride, k, ptr, ind, val, x, stride)
}

func mulRowsF32AVX512(dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	foursAVX512.mulRows(dst, dstStride, k, ptr, ind, val, x, stride)
}

// mulRows covers the columns with the widths there are. Where that takes more
// than one group the rows are cut into panels, so that the matrix is read from
// memory once.
func (t *foursKernels) mulRows(dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	if 1<<t.widest(k) == k {
		t.panel(dst, dstStride, k, ptr, ind, val, x, stride)
		return
	}
	for lo, hi := 0, 0; lo < len(ptr)-1; lo = hi {
		hi = panelEnd(ptr, lo)
		t.panel(dst[lo*dstStride:], dstStride, k, ptr[lo:hi+1], ind, val, x, stride)
	}
}

// panel multiplies rows with all columns, width by width.
func (t *foursKernels) panel(dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	for c := 0; c < k; {
		w := t.widest(k - c)
		t[w](&dst[c], uintptr(dstStride), &ptr[0], uintptr(len(ptr)-1), unsafe.SliceData(ind), unsafe.SliceData(val), uintptr(len(ind)),
			unsafe.SliceData(x[min(c, len(x)):]), uintptr(stride))
		c += 1 << w
	}
}

// widest returns the logarithm of the largest width of at most k columns.
func (t *foursKernels) widest(k int) int {
	w := min(bits.Len(uint(k)), len(t)) - 1
	for t[w] == nil {
		w--
	}
	return w
}
