//go:build gc && !noasm && !purego

package simd

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

// fours is a generated function for one number of columns.
type fours = func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val *float32, nnz uintptr, x *float32, stride uintptr)

// The generated functions of a level with a float32 destination, by the logarithm
// of their number of columns.
var (
	foursAVX2   = [...]fours{asm.SpmmFours1F32AVX2, asm.SpmmFours2F32AVX2, asm.SpmmFours4F32AVX2, asm.SpmmFours8F32AVX2, asm.SpmmFours16F32AVX2}
	foursAVX512 = [...]fours{asm.SpmmFours1F32AVX512, asm.SpmmFours2F32AVX512, asm.SpmmFours4F32AVX512, asm.SpmmFours8F32AVX512, asm.SpmmFours16F32AVX512, asm.SpmmFours32F32AVX512}
)

func mulRowsF32AVX2(dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	mulFours(foursAVX2[:], dst, dstStride, k, ptr, ind, val, x, stride)
}

// gatherStride is the largest stride of x that the gathers of AVX-512 take: they
// multiply 32 bits, in bytes.
const gatherStride = math.MaxUint32 / 4

func mulRowsF32AVX512(dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	if stride > gatherStride {
		mulRowsF32AVX2(dst, dstStride, k, ptr, ind, val, x, stride)
		return
	}
	mulFours(foursAVX512[:], dst, dstStride, k, ptr, ind, val, x, stride)
}

// mulFours covers the columns with the widths there are. Where that takes more
// than one group the rows are cut into panels, so that the matrix is read from
// memory once.
func mulFours(t []fours, dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	rows := len(ptr) - 1
	whole := 1<<widest(k, len(t)) == k
	for lo, hi := 0, 0; lo < rows; lo = hi {
		if hi = rows; !whole {
			hi = panelEnd(ptr, lo)
		}
		for c := 0; c < k; {
			w := widest(k-c, len(t))
			t[w](&dst[lo*dstStride+c], uintptr(dstStride), &ptr[lo], uintptr(hi-lo), unsafe.SliceData(ind), unsafe.SliceData(val), uintptr(len(ind)),
				unsafe.SliceData(x[min(c, len(x)):]), uintptr(stride))
			c += 1 << w
		}
	}
}

// widest returns the logarithm of the largest of so many widths, from 1 on and
// doubling, that is at most k.
func widest(k, widths int) int { return min(bits.Len(uint(k)), widths) - 1 }
