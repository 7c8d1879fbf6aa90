//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

// A mulSparseOffsetsKernel is a generated function for one number of columns.
type mulSparseOffsetsKernel = func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, base *uint32, off *uint16, val *float32, nnz uintptr, x *float32, stride uintptr)

// The generated functions by the logarithm of their number of columns. There are
// as many of them as with columns of 32 bits.
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

// mulSparseOffsets16AVX512 tells whether it has a kernel for k columns and the stride:
// the gathers of few columns convert their values on the way.
func mulSparseOffsets16AVX512(dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) bool {
	kernel := asm.MulSparseOffsets1F16AVX512
	switch {
	case x.Stride > gatherStride:
		return false
	case k == 1:
	case k == 2:
		kernel = asm.MulSparseOffsets2F16AVX512
	default:
		return false
	}
	kernel(&dst.Data[0], uintptr(dst.Stride), &ptr[0], uintptr(len(ptr)-1), &base[0], unsafe.SliceData(off), unsafe.SliceData(val), uintptr(len(off)),
		unsafe.SliceData(x.Data), uintptr(x.Stride))
	return true
}
