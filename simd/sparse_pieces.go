package simd

import "sync"

// A piece is a run of rows of a sparse matrix that is read more than once. It has at most
// pieceRows rows and, unless it is one row, at most pieceEntries entries, whose columns and
// values, 16 KiB, stay in the first-level cache.
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

// mulSparseOffsets16InPieces converts the values of one piece after the other into the
// first-level cache, where the kernels for values of 32 bits find them.
func (s *Kernels) mulSparseOffsets16InPieces(dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) {
	room := pieceRooms.Get().(*pieceRoom)
	for lo, hi := 0, 0; lo < len(ptr)-1; lo = hi {
		hi = pieceEnd(ptr, lo)
		first, n := ptr[lo], int(ptr[hi]-ptr[lo])
		room.ptr = room.ptr[:0]
		for _, p := range ptr[lo : hi+1] {
			room.ptr = append(room.ptr, p-first)
		}
		if cap(room.val) < n {
			room.val = make([]float32, max(n, pieceEntries))
		}
		values := room.val[:n]
		s.float32s(values, val[first:][:n])
		s.mulSparseOffsets(dst.from(lo), k, room.ptr, base[lo:hi], off[first:][:n], values, x)
	}
	pieceRooms.Put(room)
}

// A pieceRoom holds what is converted of a piece.
type pieceRoom struct {
	ptr []uint64
	val []float32
}

var pieceRooms = sync.Pool{New: func() any { return new(pieceRoom) }}
