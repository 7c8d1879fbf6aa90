package rows

import (
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A Writer stores rows of a graph as they are found: nobody knows beforehand how many
// entries there will be. Entries go into slabs of memory, one behind the other. Rows are
// handed over in pieces. Where a piece ends depends on the rows alone, so the graph does
// not depend on which writer wrote which rows.
type Writer struct {
	memory   *Memory
	slab     Slab     // the slab at hand; what is behind its length is free
	begin    int      // where the piece at hand begins in the slab
	ptr      []uint64 // row pointers of the piece at hand
	reusable []*Slab  // the slabs of MostSlab entries so far, which can be used again
}

// NewWriter returns a writer that takes its memory from m. Its pieces have memory for the
// given number of rows from the beginning.
func NewWriter(m *Memory, rows int) Writer { return Writer{memory: m, ptr: make([]uint64, 0, rows)} }

// A Slab is memory for columns and weights.
type Slab struct {
	ind []uint32
	val []float32
}

// free holds slabs of MostSlab entries that closed graphs have left. Go clears fresh
// memory, which takes longer than to find the weights that go there.
var free sync.Pool

// Reuse hands slabs to the next searches. Nobody may use the weights in them any more.
func Reuse(slabs []*Slab) {
	for _, s := range slabs {
		free.Put(s)
	}
}

// newSlab returns a slab of size entries. Their values may be anything.
func newSlab(size int) Slab {
	if size == MostSlab {
		if s, ok := free.Get().(*Slab); ok {
			return *s
		}
	}
	s := Slab{make([]uint32, size), make([]float32, size)}
	mem.Huge(s.ind)
	mem.Huge(s.val)
	return s
}

const (
	// EntryBytes is the bytes of an entry in a slab.
	EntryBytes = 4 + 4
	// Slabs grow to MostSlab entries, from leastSlab where nobody knows how many there will be.
	leastSlab, MostSlab = 1 << 14, 1 << 22
	// PieceEntries and PieceRows end a piece: its last row is the one at which it has so
	// many entries or rows.
	PieceEntries, PieceRows = 3 << 14, 1 << 12
)

// Grow makes n more entries part of the piece at hand and returns them for the caller to
// fill in; nil when there is no memory for them.
func (w *Writer) Grow(n int) (ind []uint32, val []float32) {
	at := len(w.slab.ind)
	if cap(w.slab.ind)-at < n {
		piece := at - w.begin
		size := max(min(max(2*cap(w.slab.ind), w.memory.first), MostSlab, w.memory.share()), piece+n+leastSlab)
		if !w.memory.Take(size) {
			size = piece + n
			if !w.memory.Take(size) {
				w.memory.Exhaust()
				return nil, nil
			}
		}
		next := newSlab(size)
		if size == MostSlab {
			w.reusable = append(w.reusable, &Slab{next.ind, next.val})
		}
		// The piece at hand moves along.
		copy(next.ind, w.slab.ind[w.begin:])
		copy(next.val, w.slab.val[w.begin:])
		w.slab.ind, w.slab.val, w.begin, at = next.ind[:piece], next.val[:piece], 0, piece
	}
	w.slab.ind, w.slab.val = w.slab.ind[:at+n], w.slab.val[:at+n]
	return w.slab.ind[at:], w.slab.val[at:]
}

// Free returns the columns of the slab that are behind the piece at hand and not in use.
// What the caller writes there is still there when Grow makes it part of the piece.
func (w *Writer) Free() (ind []uint32) { return w.slab.ind[len(w.slab.ind):cap(w.slab.ind)] }

// End ends the next len(counts) rows. Row i of them has counts[i] entries, all of which
// Grow has returned.
func (w *Writer) End(counts []uint32) {
	if len(w.ptr) == 0 {
		w.ptr = append(w.ptr, 0)
	}
	end := w.ptr[len(w.ptr)-1]
	for _, n := range counts {
		end += uint64(n)
		w.ptr = append(w.ptr, end)
	}
}

// Full reports whether the piece at hand has enough entries or rows to be cut.
func (w *Writer) Full() bool {
	return len(w.slab.ind)-w.begin >= PieceEntries || len(w.ptr) > PieceRows
}

// Cut returns the piece at hand and begins another piece.
func (w *Writer) Cut() sparse.Rows {
	end := len(w.slab.ind)
	piece := sparse.Rows{Ptr: slices.Clone(w.ptr), Ind: w.slab.ind[w.begin:end:end], Val: w.slab.val[w.begin:end:end]}
	w.begin, w.ptr = end, w.ptr[:0]
	return piece
}

// Reusable returns the slabs that the next search may use once the graph is closed.
func (w *Writer) Reusable() []*Slab { return w.reusable }
