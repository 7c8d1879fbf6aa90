package simd

import "sync"

// Deltas are the columns of a sparse matrix as differences of 16 bits, entry by
// entry across all rows: that of entry p is
//
//	ind[p] - ind[p-1]   mod 2^32
//
// and is the word itself, a signed number, or FarDelta. Then the rest, the
// difference less FarDelta mod 2^32, is the next number of Far.
type Deltas struct {
	Words []int16    // of all entries
	Far   []uint32   // the rests, in the order of the entries
	Rows  []DeltaRow // of all rows
}

// A DeltaRow says where a row begins.
type DeltaRow struct {
	Column uint32 // of the entry before the row; any number before the first
	Far    uint32 // numbers of Far that belong to rows before
}

// FarDelta is the word of a difference whose rest is in Deltas.Far.
const FarDelta = -1 << 15

// MulDeltas is MulRowsF32 for a matrix whose columns are Deltas, from row lo on:
// the same sums, with the same bits at every level. The values are val or, where
// half is not nil, the numbers of 16 bits in half, which Float16 makes; they are
// converted to float32, which is exact, before they are multiplied.
func (s *Kernels) MulDeltas(dst []float32, dstStride, k int, ptr []uint64, c *Deltas, lo int, val []float32, half []uint16, x []float32, stride int) {
	values := len(val)
	if half != nil {
		values = len(half)
	}
	if !checkMulRows(len(dst), dstStride, k, ptr, len(c.Words), values, len(x), stride) {
		return
	}
	c.check(lo, len(ptr)-1)
	writes(dst[:(len(ptr)-2)*dstStride+k])
	// Panel by panel into the first-level cache. Sums wait for the columns for so
	// long that decoding row by row, in the loop that multiplies, takes longer.
	room := panelRooms.Get().(*panelRoom)
	for from, to := 0, 0; from < len(ptr)-1; from = to {
		to = panelEnd(ptr, from)
		room.decode(s, ptr[from:to+1], c, lo+from, val, half)
		s.mulRowsF32(dst[from*dstStride:], dstStride, k, room.ptr, room.ind, room.val, x, stride)
	}
	room.val = nil
	panelRooms.Put(room)
}

func (c *Deltas) check(lo, rows int) {
	if lo < 0 || lo > len(c.Rows)-rows || int64(c.Rows[lo+rows-1].Far) > int64(len(c.Far)) {
		panic("simd: mul deltas: rows beyond the differences")
	}
}

// Decode calls f with pieces of a run of rows in plain form, row pointers,
// columns and values as MulRowsF32 takes them, that are good until f returns:
// from row lo on, whose row pointers are given. row counts from 0.
func (s *Kernels) Decode(ptr []uint64, c *Deltas, lo int, val []float32, half []uint16, f func(row int, ptr []uint64, ind []uint32, val []float32)) {
	if len(ptr) < 2 {
		return
	}
	c.check(lo, len(ptr)-1)
	room := panelRooms.Get().(*panelRoom)
	for from, to := 0, 0; from < len(ptr)-1; from = to {
		to = panelEnd(ptr, from)
		room.decode(s, ptr[from:to+1], c, lo+from, val, half)
		f(from, room.ptr, room.ind, room.val)
	}
	room.val = nil
	panelRooms.Put(room)
}

// A panel has at most panelEntries entries, whose columns and values, 16 KiB,
// stay in the first-level cache, or is one row; and at most panelRows rows.
const (
	panelEntries = 1 << 11
	panelRows    = 1 << 10
)

// panelEnd returns the end of the panel that begins with row lo.
func panelEnd(ptr []uint64, lo int) int {
	most := min(len(ptr)-1, lo+panelRows)
	hi := lo + 1
	for hi < most && ptr[hi+1]-ptr[lo] <= panelEntries {
		hi++
	}
	return hi
}

// A panelRoom holds a decoded panel.
type panelRoom struct {
	ptr    []uint64
	ind    []uint32
	val    []float32 // the matrix's own or the converted ones
	single []float32
}

var panelRooms = sync.Pool{New: func() any { return new(panelRoom) }}

func (r *panelRoom) decode(s *Kernels, ptr []uint64, c *Deltas, lo int, val []float32, half []uint16) {
	const slack = 16 // columns are written in whole vectors
	first := ptr[0]
	n := int(ptr[len(ptr)-1] - first)
	r.ptr = r.ptr[:0]
	for _, p := range ptr {
		r.ptr = append(r.ptr, p-first)
	}
	if cap(r.ind) < n+slack {
		r.ind = make([]uint32, max(n, panelEntries)+slack)
		r.single = make([]float32, max(n, panelEntries))
	}
	r.ind = r.ind[:n]
	if n > 0 {
		s.columns(r.ind, c, first, c.Rows[lo])
	}
	if half == nil {
		r.val = val[first:][:n]
		return
	}
	r.val = r.single[:n]
	s.singles(r.val, half[first:][:n])
}

// Columns appends the columns of row i, whose entries are lo to hi-1, to ind.
func (c *Deltas) Columns(ind []uint32, i int, lo, hi uint64) []uint32 {
	at := c.Rows[i]
	for _, w := range c.Words[lo:hi] {
		at.Column += uint32(int32(w))
		if w == FarDelta {
			at.Column += c.Far[at.Far]
			at.Far++
		}
		ind = append(ind, at.Column)
	}
	return ind
}

// columnsGo is the reference: the columns of the entries from p on, where at is
// before the first. There may be written up to 16 numbers behind them.
func columnsGo(ind []uint32, c *Deltas, p uint64, at DeltaRow) {
	for e, w := range c.Words[p:][:len(ind)] {
		at.Column += uint32(int32(w))
		if w == FarDelta {
			at.Column += c.Far[at.Far]
			at.Far++
		}
		ind[e] = at.Column
	}
}

func singlesGo(dst []float32, half []uint16) {
	for e, h := range half {
		dst[e] = Float32(h)
	}
}
