//go:build gc && !noasm && !purego

package simd

import (
	"math/bits"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

// foursNEON are the kernels by the logarithm of their number of columns.
var foursNEON = [...]func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr){
	asm.SpmmFours1F32NEON, asm.SpmmFours2F32NEON, asm.SpmmFours4F32NEON, asm.SpmmFours8F32NEON, asm.SpmmFours16F32NEON, asm.SpmmFours32F32NEON,
}

// neonPanelEntries is the number of entries whose columns and values, 16 KiB,
// stay in the first-level cache from one group of columns of x to the next.
const neonPanelEntries = 1 << 11

// mulRowsF32NEON covers the columns with the widths there are. Where that takes
// more than one group the rows are cut into panels, so that the matrix is read
// from memory once.
func mulRowsF32NEON(dst []float32, dstStride, k int, ptr []uint64, ind []uint32, val, x []float32, stride int) {
	widest := func(k int) int { return min(bits.Len(uint(k)), len(foursNEON)) - 1 }
	rows := len(ptr) - 1
	whole := 1<<widest(k) == k
	for lo, hi := 0, 0; lo < rows; lo = hi {
		hi = rows
		if !whole {
			for hi = lo + 1; hi < rows && ptr[hi+1]-ptr[lo] <= neonPanelEntries; {
				hi++
			}
		}
		for c := 0; c < k; {
			w := widest(k - c)
			foursNEON[w](&dst[lo*dstStride+c], uintptr(dstStride), &ptr[lo], uintptr(hi-lo), unsafe.SliceData(ind), unsafe.SliceData(val),
				unsafe.SliceData(x[min(c, len(x)):]), uintptr(stride))
			c += 1 << w
		}
	}
}
