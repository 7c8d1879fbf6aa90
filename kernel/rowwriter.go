package kernel

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A rowWriter stores rows of a graph as they are found: how many entries there will
// be is not known before. They go into slabs of memory, one behind the other, and are
// handed over in pieces whose ends depend on the rows alone, so that the graph does
// not depend on who wrote which.
type rowWriter struct {
	memory   *memory
	slab              // what is behind its length is free
	begin    int      // of the piece at hand
	ptr      []uint64 // of its rows
	reusable []*slab  // those of mostSlab entries so far, which can be used again
}

// A slab is memory for columns and weights.
type slab struct {
	ind []uint32
	val []float32
}

// slabs are those of mostSlab entries that closed graphs have left. Fresh memory has
// to be cleared, which takes longer than to find the weights that go there.
var slabs sync.Pool

// newSlab returns a slab of so many entries, which may be anything.
func newSlab(size int) slab {
	if size == mostSlab {
		if s, ok := slabs.Get().(*slab); ok {
			return *s
		}
	}
	s := slab{make([]uint32, size), make([]float32, size)}
	mem.Huge(s.ind)
	mem.Huge(s.val)
	return s
}

// memory is what writers may still take, and whether they wanted more.
type memory struct {
	entry       int64 // bytes of an entry, until the matrix is made
	writers     int64
	left, taken atomic.Int64
	short       atomic.Bool
}

// take takes the memory of so many entries, if there is as much. It is never less
// than nothing in between, or writers that ask for little would be refused beside
// one that asks for too much.
func (m *memory) take(entries int) bool {
	bytes := int64(entries) * m.entry
	for {
		left := m.left.Load()
		if bytes > left {
			return false
		}
		if m.left.CompareAndSwap(left, left-bytes) {
			m.taken.Add(bytes)
			return true
		}
	}
}

// share is how many entries a writer may take without need: as memory runs out slabs
// get smaller, so that none lies idle with one writer while another wants it.
func (m *memory) share() int { return int(m.left.Load() / (2 * m.writers * m.entry)) }

const (
	entryBytes = 4 + 4
	// Slabs grow to the second of these.
	leastSlab, mostSlab = 1 << 14, 1 << 22
	// A piece ends with the row that has it reach one of these.
	pieceEntries, pieceRows = 3 << 14, 1 << 12
)

// room makes room for so many entries behind those written and returns it; nil if
// there is no memory.
func (w *rowWriter) room(n int) (ind []uint32, val []float32) {
	at := len(w.ind)
	if cap(w.ind)-at < n {
		piece := at - w.begin
		size := max(min(2*cap(w.ind), mostSlab, w.memory.share()), piece+n+leastSlab)
		if !w.memory.take(size) {
			size = piece + n
			if !w.memory.take(size) {
				w.memory.short.Store(true)
				return nil, nil
			}
		}
		next := newSlab(size)
		if size == mostSlab {
			w.reusable = append(w.reusable, &slab{next.ind, next.val})
		}
		// The piece at hand moves along.
		copy(next.ind, w.ind[w.begin:])
		copy(next.val, w.val[w.begin:])
		w.ind, w.val, w.begin, at = next.ind[:piece], next.val[:piece], 0, piece
	}
	w.ind, w.val = w.ind[:at+n], w.val[:at+n]
	return w.ind[at:], w.val[at:]
}

// free returns the memory behind the entries written. What is found there is taken by
// room.
func (w *rowWriter) free() (ind []uint32) { return w.ind[len(w.ind):cap(w.ind)] }

// rows ends rows with so many entries each, for which there was room.
func (w *rowWriter) rows(counts []uint32) {
	if len(w.ptr) == 0 {
		w.ptr = append(w.ptr, 0)
	}
	end := w.ptr[len(w.ptr)-1]
	for _, n := range counts {
		end += uint64(n)
		w.ptr = append(w.ptr, end)
	}
}

// full tells whether the piece at hand has enough.
func (w *rowWriter) full() bool {
	return len(w.ind)-w.begin >= pieceEntries || len(w.ptr) > pieceRows
}

// cut returns the piece at hand and begins another.
func (w *rowWriter) cut() sparse.Rows {
	end := len(w.ind)
	piece := sparse.Rows{Ptr: slices.Clone(w.ptr), Ind: w.ind[w.begin:end:end], Val: w.val[w.begin:end:end]}
	w.begin, w.ptr = end, w.ptr[:0]
	return piece
}
