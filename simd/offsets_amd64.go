//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

// shorts is a generated function for one number of columns.
type shorts = func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, base *uint32, off *uint16, val *float32, nnz uintptr, x *float32, stride uintptr)

// The generated functions by the logarithm of their number of columns. There are
// as many of them as with columns of 32 bits.
var (
	shortsAVX2   = [...]shorts{asm.SpmmShort1F32AVX2, asm.SpmmShort2F32AVX2, asm.SpmmShort4F32AVX2, asm.SpmmShort8F32AVX2, asm.SpmmShort16F32AVX2}
	shortsAVX512 = [...]shorts{asm.SpmmShort1F32AVX512, asm.SpmmShort2F32AVX512, asm.SpmmShort4F32AVX512, asm.SpmmShort8F32AVX512, asm.SpmmShort16F32AVX512, asm.SpmmShort32F32AVX512}
)

func mulOffsetsAVX2(dst []float32, dstStride, k int, ptr []uint64, base []uint32, off []uint16, val, x []float32, stride int) {
	mulShorts(shortsAVX2[:], dst, dstStride, k, ptr, base, off, val, x, stride)
}

func mulOffsetsAVX512(dst []float32, dstStride, k int, ptr []uint64, base []uint32, off []uint16, val, x []float32, stride int) {
	if stride > gatherStride {
		mulOffsetsAVX2(dst, dstStride, k, ptr, base, off, val, x, stride)
		return
	}
	mulShorts(shortsAVX512[:], dst, dstStride, k, ptr, base, off, val, x, stride)
}

// mulShorts is mulFours for offsets.
func mulShorts(t []shorts, dst []float32, dstStride, k int, ptr []uint64, base []uint32, off []uint16, val, x []float32, stride int) {
	rows := len(ptr) - 1
	whole := 1<<widest(k, len(t)) == k
	for lo, hi := 0, 0; lo < rows; lo = hi {
		if hi = rows; !whole {
			hi = panelEnd(ptr, lo)
		}
		for c := 0; c < k; {
			w := widest(k-c, len(t))
			t[w](&dst[lo*dstStride+c], uintptr(dstStride), &ptr[lo], uintptr(hi-lo), &base[lo], unsafe.SliceData(off), unsafe.SliceData(val), uintptr(len(off)),
				unsafe.SliceData(x[min(c, len(x)):]), uintptr(stride))
			c += 1 << w
		}
	}
}

// mulOffsets16AVX512 tells whether it has a kernel for k columns and the stride:
// the gathers of few columns convert their values on the way.
func mulOffsets16AVX512(dst []float32, dstStride, k int, ptr []uint64, base []uint32, off, val []uint16, x []float32, stride int) bool {
	kernel := asm.SpmmShort1F16AVX512
	switch {
	case stride > gatherStride:
		return false
	case k == 1:
	case k == 2:
		kernel = asm.SpmmShort2F16AVX512
	default:
		return false
	}
	kernel(&dst[0], uintptr(dstStride), &ptr[0], uintptr(len(ptr)-1), &base[0], unsafe.SliceData(off), unsafe.SliceData(val), uintptr(len(off)),
		unsafe.SliceData(x), uintptr(stride))
	return true
}
