//go:build gc && !noasm && !purego

package simd

import (
	"math"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

// A mulSparseKernel is a generated function for one number of columns.
type mulSparseKernel = func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val *float32, nnz uintptr, x *float32, stride uintptr)

// The generated functions of a level with a float32 destination, by the logarithm
// of their number of columns.
var (
	mulSparseOfAVX2   = [...]mulSparseKernel{asm.MulSparse1F32AVX2, asm.MulSparse2F32AVX2, asm.MulSparse4F32AVX2, asm.MulSparse8F32AVX2, asm.MulSparse16F32AVX2, asm.MulSparse32F32AVX2}
	mulSparseOfAVX512 = [...]mulSparseKernel{asm.MulSparse1F32AVX512, asm.MulSparse2F32AVX512, asm.MulSparse4F32AVX512, asm.MulSparse8F32AVX512, asm.MulSparse16F32AVX512, asm.MulSparse32F32AVX512}
)

func mulSparseAVX2(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	mulSparseInWidths(mulSparseOfAVX2[:], dst, k, ptr, ind, val, x)
}

// gatherStride is the largest stride of x that the gathers of AVX-512 accept: they
// multiply it, in bytes, as a number of 32 bits.
const gatherStride = math.MaxUint32 / 4

func mulSparseAVX512(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	if x.Stride > gatherStride {
		mulSparseAVX2(dst, k, ptr, ind, val, x)
		return
	}
	mulSparseInWidths(mulSparseOfAVX512[:], dst, k, ptr, ind, val, x)
}

// mulSparseInWidths covers the columns with functions of the available widths. Where that
// takes more than one function it splits the rows into pieces, so that the matrix is read
// from memory once.
func mulSparseInWidths(t []mulSparseKernel, dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	rows := len(ptr) - 1
	whole := 1<<widest(k, len(t)) == k
	for lo, hi := 0, 0; lo < rows; lo = hi {
		if hi = rows; !whole {
			hi = pieceEnd(ptr, lo)
		}
		for c := 0; c < k; {
			w := widest(k-c, len(t))
			t[w](&dst.Data[lo*dst.Stride+c], uintptr(dst.Stride), &ptr[lo], uintptr(hi-lo), unsafe.SliceData(ind), unsafe.SliceData(val), uintptr(len(ind)),
				unsafe.SliceData(x.Data[min(c, len(x.Data)):]), uintptr(x.Stride))
			c += 1 << w
		}
	}
}
