//go:build gc && !noasm && !purego

package simd

import (
	"math/bits"
	"unsafe"
)

// foursNEON are the kernels by the logarithm of their number of columns.
var foursNEON = [...]func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr){
	spmmFours1F32NEON, spmmFours2F32NEON, spmmFours4F32NEON, spmmFours8F32NEON, spmmFours16F32NEON, spmmFours32F32NEON,
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

// The kernels compute as many columns of the product of sparse rows with x as
// their names say.
//
//	for r := range rows {
//		sum := 0.0 // for each column
//		for p := ptr[r]; p < ptr[r+1]; p += 4 {
//			var v [4]float32
//			for e := range min(4, ptr[r+1]-p) {
//				v[e] = val[p+e] * x[ind[p+e]*stride+column]
//			}
//			sum += float64((v[0] + v[1]) + (v[2] + v[3]))
//		}
//		dst[r*dstStride+column] = float32(sum)
//	}
//
// There is at least one row, and none but the rows' own entries are read.

//go:noescape
func spmmFours1F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func spmmFours2F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func spmmFours4F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func spmmFours8F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func spmmFours16F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func spmmFours32F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
