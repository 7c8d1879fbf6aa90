//go:build gc && !noasm && !purego

package simd

import (
	"math/bits"
	"unsafe"
)

// spmmKernels are the generated functions of a level for a type of destination,
// by the logarithm of their number of columns; nil where the level has none of
// that width.
type spmmKernels[T float32 | float64] [6]func(dst *T, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val *float32, nnz uintptr, x *float32, stride uintptr)

// The kernels for few columns fill no more than a 256-bit register, so AVX-512
// has nothing to add to them.
var (
	sumsAVX2   = spmmKernels[float64]{spmm1F32AVX2, spmm2F32AVX2, spmm4F32AVX2, spmm8F32AVX2}
	sumsAVX512 = spmmKernels[float64]{spmm1F32AVX2, spmm2F32AVX2, spmm4F32AVX2, spmm8F32AVX512, spmm16F32AVX512, spmm32F32AVX512}
)

func mulRowsAVX2(dst []float64, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	sumsAVX2.mulRows(dst, dstStride, k, ptr, ind, val, x, stride)
}

func mulRowsAVX512(dst []float64, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	sumsAVX512.mulRows(dst, dstStride, k, ptr, ind, val, x, stride)
}

// mulRows covers the columns with the widths there are. Where that takes more
// than one group the rows are cut into panels, so that the matrix is read from
// memory once.
func (t *spmmKernels[T]) mulRows(dst []T, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	rows := len(ptr) - 1
	whole := 1<<t.widest(k) == k
	for lo, hi := 0, 0; lo < rows; lo = hi {
		hi = rows
		if !whole {
			for hi = lo + 1; hi < rows && ptr[hi+1]-ptr[lo] <= panelEntries; {
				hi++
			}
		}
		for c := 0; c < k; {
			w := t.widest(k - c)
			t[w](&dst[lo*dstStride+c], uintptr(dstStride), &ptr[lo], uintptr(hi-lo), unsafe.SliceData(ind), unsafe.SliceData(val), uintptr(len(ind)),
				unsafe.SliceData(x[min(c, len(x)):]), uintptr(stride))
			c += 1 << w
		}
	}
}

// widest returns the logarithm of the largest width of at most k columns.
func (t *spmmKernels[T]) widest(k int) int {
	w := min(bits.Len(uint(k)), len(t)) - 1
	for t[w] == nil {
		w--
	}
	return w
}
