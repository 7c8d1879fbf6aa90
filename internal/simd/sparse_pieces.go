package simd

import "sync"

// A piece is a run of rows of a sparse matrix that is read more than once. It has at most
// pieceRows rows and, unless it is a single row, at most pieceEntries entries. Their
// columns and values, 16 KiB, stay in the first-level cache.
const (
	pieceEntries = 1 << 11
	pieceRows    = 1 << 10
)

// pieceEnd returns the end of the piece that begins with row lo.
func pieceEnd(ptr []uint64, lo int) int {
	most := min(len(ptr)-1, lo+pieceRows)
	hi := lo + 1
	for hi < most && ptr[hi+1]-ptr[lo] <= pieceEntries {
		hi++
	}
	return hi
}

// mulSparseOffsets16InPieces converts the values of one piece at a time into the
// first-level cache, and calls the kernels for values of 32 bits.
func (s *Kernels) mulSparseOffsets16InPieces(dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) {
	scratch := pieceScratches.Get().(*pieceScratch)
	for lo, hi := 0, 0; lo < len(ptr)-1; lo = hi {
		hi = pieceEnd(ptr, lo)
		first, n := ptr[lo], int(ptr[hi]-ptr[lo])
		scratch.ptr = scratch.ptr[:0]
		for _, p := range ptr[lo : hi+1] {
			scratch.ptr = append(scratch.ptr, p-first)
		}
		if cap(scratch.val) < n {
			scratch.val = make([]float32, max(n, pieceEntries))
		}
		values := scratch.val[:n]
		s.float32s(values, val[first:][:n])
		s.mulSparseOffsets(dst.from(lo), k, scratch.ptr, base[lo:hi], off[first:][:n], values, x)
	}
	pieceScratches.Put(scratch)
}

// A pieceScratch holds the converted values of a piece.
type pieceScratch struct {
	ptr []uint64
	val []float32
}

var pieceScratches = sync.Pool{New: func() any { return new(pieceScratch) }}
