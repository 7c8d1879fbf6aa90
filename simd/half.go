package simd

import "sync"

// Float32s converts numbers of 16 bits, which Float16 makes, as Float32 does. dst
// is as long as half.
func (s *Kernels) Float32s(dst []float32, half []uint16) {
	if len(dst) != len(half) {
		panic("simd: singles: lengths differ")
	}
	reads(half)
	writes(dst)
	s.singles(dst, half)
}

func singlesGo(dst []float32, half []uint16) {
	for e, h := range half {
		dst[e] = Float32(h)
	}
}

// mulPanels16 converts the values of some rows into the first-level cache, where
// the kernels for values of 32 bits find them.
func (s *Kernels) mulPanels16(dst []float32, dstStride, k int, ptr []uint64, base []uint32, off, val []uint16, x []float32, stride int) {
	room := panelRooms.Get().(*panelRoom)
	for lo, hi := 0, 0; lo < len(ptr)-1; lo = hi {
		hi = panelEnd(ptr, lo)
		first, n := ptr[lo], int(ptr[hi]-ptr[lo])
		room.ptr = room.ptr[:0]
		for _, p := range ptr[lo : hi+1] {
			room.ptr = append(room.ptr, p-first)
		}
		if cap(room.val) < n {
			room.val = make([]float32, max(n, panelEntries))
		}
		values := room.val[:n]
		s.singles(values, val[first:][:n])
		s.mulOffsets(dst[lo*dstStride:], dstStride, k, room.ptr, base[lo:hi], off[first:][:n], values, x, stride)
	}
	panelRooms.Put(room)
}

// A panelRoom holds what is converted of a panel.
type panelRoom struct {
	ptr []uint64
	val []float32
}

var panelRooms = sync.Pool{New: func() any { return new(panelRoom) }}
