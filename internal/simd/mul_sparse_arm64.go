//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

// mulSparseOfNEON are the kernels by the logarithm of their number of columns.
var mulSparseOfNEON = [...]func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr){
	asm.MulSparse1F32NEON, asm.MulSparse2F32NEON, asm.MulSparse4F32NEON, asm.MulSparse8F32NEON, asm.MulSparse16F32NEON,
}

// mulSparseNEON covers the columns with functions of the available widths. Where that takes
// more than one function it splits the rows into pieces, so that the matrix is read from
// memory once.
func mulSparseNEON(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	rows := len(ptr) - 1
	whole := 1<<widest(k, len(mulSparseOfNEON)) == k
	for lo, hi := 0, 0; lo < rows; lo = hi {
		if hi = rows; !whole {
			hi = pieceEnd(ptr, lo)
		}
		for c := 0; c < k; {
			w := widest(k-c, len(mulSparseOfNEON))
			mulSparseOfNEON[w](&dst.Data[lo*dst.Stride+c], uintptr(dst.Stride), &ptr[lo], uintptr(hi-lo), unsafe.SliceData(ind), unsafe.SliceData(val),
				unsafe.SliceData(x.Data[min(c, len(x.Data)):]), uintptr(x.Stride))
			c += 1 << w
		}
	}
}
