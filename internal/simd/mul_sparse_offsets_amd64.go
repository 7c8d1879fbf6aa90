//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

// A mulSparseOffsetsKernel is a generated function for one number of columns.
type mulSparseOffsetsKernel = func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, base *uint32, off *uint16, val *float32, nnz uintptr, x *float32, stride uintptr)

// The generated functions by the logarithm of their number of columns. There are as
// many as for columns of 32 bits.
var (
	mulSparseOffsetsOfAVX2   = [...]mulSparseOffsetsKernel{asm.MulSparseOffsets1F32AVX2, asm.MulSparseOffsets2F32AVX2, asm.MulSparseOffsets4F32AVX2, asm.MulSparseOffsets8F32AVX2, asm.MulSparseOffsets16F32AVX2, asm.MulSparseOffsets32F32AVX2}
	mulSparseOffsetsOfAVX512 = [...]mulSparseOffsetsKernel{asm.MulSparseOffsets1F32AVX512, asm.MulSparseOffsets2F32AVX512, asm.MulSparseOffsets4F32AVX512, asm.MulSparseOffsets8F32AVX512, asm.MulSparseOffsets16F32AVX512, asm.MulSparseOffsets32F32AVX512}
)

func mulSparseOffsetsAVX2(dst Rows[float32], k int, ptr []uint64, base []uint32, off []uint16, val []float32, x Rows[float32]) {
	mulSparseOffsetsInWidths(mulSparseOffsetsOfAVX2[:], dst, k, ptr, base, off, val, x)
}

func mulSparseOffsetsAVX512(dst Rows[float32], k int, ptr []uint64, base []uint32, off []uint16, val []float32, x Rows[float32]) {
	if x.Stride > gatherStride {
		mulSparseOffsetsAVX2(dst, k, ptr, base, off, val, x)
		return
	}
	mulSparseOffsetsInWidths(mulSparseOffsetsOfAVX512[:], dst, k, ptr, base, off, val, x)
}

// mulSparseOffsetsInWidths is mulSparseInWidths for offsets.
func mulSparseOffsetsInWidths(t []mulSparseOffsetsKernel, dst Rows[float32], k int, ptr []uint64, base []uint32, off []uint16, val []float32, x Rows[float32]) {
	rows := len(ptr) - 1
	whole := 1<<widest(k, len(t)) == k
	for lo, hi := 0, 0; lo < rows; lo = hi {
		if hi = rows; !whole {
			hi = pieceEnd(ptr, lo)
		}
		for c := 0; c < k; {
			w := widest(k-c, len(t))
			t[w](&dst.Data[lo*dst.Stride+c], uintptr(dst.Stride), &ptr[lo], uintptr(hi-lo), &base[lo], unsafe.SliceData(off), unsafe.SliceData(val), uintptr(len(off)),
				unsafe.SliceData(x.Data[min(c, len(x.Data)):]), uintptr(x.Stride))
			c += 1 << w
		}
	}
}

// The generated functions for values of 16 bits, which convert them on the way. They
// exist for one and two columns.
var (
	mulSparseOffsets16OfAVX2   = [...]mulSparseOffsets16Kernel{asm.MulSparseOffsets1F16AVX2, asm.MulSparseOffsets2F16AVX2}
	mulSparseOffsets16OfAVX512 = [...]mulSparseOffsets16Kernel{asm.MulSparseOffsets1F16AVX512, asm.MulSparseOffsets2F16AVX512}
)

type mulSparseOffsets16Kernel = func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, base *uint32, off *uint16, val *uint16, nnz uintptr, x *float32, stride uintptr)

func mulSparseOffsets16AVX2(dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) bool {
	return mulSparseOffsets16InOne(mulSparseOffsets16OfAVX2[:], dst, k, ptr, base, off, val, x)
}

func mulSparseOffsets16AVX512(dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) bool {
	if x.Stride > gatherStride {
		return mulSparseOffsets16AVX2(dst, k, ptr, base, off, val, x)
	}
	return mulSparseOffsets16InOne(mulSparseOffsets16OfAVX512[:], dst, k, ptr, base, off, val, x)
}

// mulSparseOffsets16InOne calls the function of t for k columns, and reports whether there is one.
func mulSparseOffsets16InOne(t []mulSparseOffsets16Kernel, dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) bool {
	if k > len(t) {
		return false
	}
	t[k-1](&dst.Data[0], uintptr(dst.Stride), &ptr[0], uintptr(len(ptr)-1), &base[0], unsafe.SliceData(off), unsafe.SliceData(val), uintptr(len(off)),
		unsafe.SliceData(x.Data), uintptr(x.Stride))
	return true
}
