package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// offsets are the columns of a matrix in a compact layout. Entry p of row i is in
// column base[i] + off[p], where base[i] is the first column of the row, unless
// the row is wide: its columns reach further than 16 bits do. Then base[i] is the
// number of the run it belongs to and its offsets are 0, which no row of two
// entries or more has at its end otherwise.
type offsets struct {
	base []uint32
	off  []uint16
	runs []wideRun // in the order of their rows
}

// A wideRun is a run of wide rows, lo to hi-1, as a small matrix in layout Plain.
type wideRun struct {
	lo, hi int
	ptr    []uint64
	ind    []uint32
	val    []float32
}

// wideRunBytes is what a run takes beside its entries, of one row.
const wideRunBytes = 2*8 + 3*24 + 2*8

// run returns the run of row i, nil if the row is not wide.
func (a *CSR) run(i int) *wideRun {
	c := a.short
	if lo, hi := a.ptr[i], a.ptr[i+1]; hi < lo+2 || c.off[hi-1] != 0 {
		return nil
	}
	return &c.runs[c.base[i]]
}

// row returns the columns and values of a row of the run.
func (r *wideRun) row(i int) (ind []uint32, val []float32) {
	lo, hi := r.ptr[i-r.lo], r.ptr[i-r.lo+1]
	return r.ind[lo:hi:hi], r.val[lo:hi:hi]
}

// columns appends the columns of row i to ind.
func (a *CSR) columns(ind []uint32, i int) []uint32 {
	if run := a.run(i); run != nil {
		columns, _ := run.row(i)
		return append(ind, columns...)
	}
	base := a.short.base[i]
	for _, o := range a.short.off[a.ptr[i]:a.ptr[i+1]] {
		ind = append(ind, base+uint32(o))
	}
	return ind
}

// column returns the column of entry p, which is one of row i.
func (a *CSR) column(i int, p uint64) uint32 {
	if a.short == nil {
		return a.ind[p]
	}
	if run := a.run(i); run != nil {
		return run.ind[run.ptr[i-run.lo]+p-a.ptr[i]]
	}
	return a.short.base[i] + uint32(a.short.off[p])
}

// pieces cuts rows lo to hi-1 where wide rows begin and end, and calls f with
// each piece; run is nil for rows that are not wide.
func (c *offsets) pieces(lo, hi int, f func(lo, hi int, run *wideRun)) {
	r := 0
	if len(c.runs) > 0 {
		r = sort.Search(len(c.runs), func(r int) bool { return c.runs[r].hi > lo })
	}
	for lo < hi {
		if r == len(c.runs) || c.runs[r].lo >= hi {
			f(lo, hi, nil)
			return
		}
		run := &c.runs[r]
		if run.lo > lo {
			f(lo, run.lo, nil)
			lo = run.lo
		}
		end := min(hi, run.hi)
		f(lo, end, run)
		lo = end
		r++
	}
}

// compress turns the columns into offsets, in one pass. It takes 2 bytes an entry
// and 4 a row, and at most 1 byte an entry more for wide rows: where they take
// more there is little to gain, and it returns ErrRange.
func (a *CSR) compress(ctx context.Context, set *Workers) error {
	c := &offsets{base: make([]uint32, a.rows), off: make([]uint16, len(a.ind))}
	mem.Huge(c.base)
	mem.Huge(c.off)
	runs := make([][]wideRun, a.Chunks())
	var extra atomic.Int64
	err := set.Do(ctx, a.Chunks(), par.Func(func(_, chunk int) {
		if extra.Load() <= int64(len(a.ind)) {
			runs[chunk] = a.compressChunk(c, chunk, &extra)
		}
	}))
	if err != nil {
		return err
	}
	if extra.Load() > int64(len(a.ind)) {
		return fmt.Errorf("sparse: compact: %w: too many rows have columns more than %d apart", ErrRange, math.MaxUint16)
	}
	c.runs = slices.Concat(runs...)
	for r, run := range c.runs {
		for i := run.lo; i < run.hi; i++ {
			c.base[i] = uint32(r)
		}
	}
	a.ind, a.short = nil, c
	return nil
}

// compressChunk fills in the rows of a chunk and returns its wide ones. extra
// counts what those take.
func (a *CSR) compressChunk(c *offsets, chunk int, extra *atomic.Int64) (runs []wideRun) {
	lo, hi := a.Chunk(chunk)
	s := simd.At(simd.Best())
	next := lo // the first row that is not packed yet
	pack := func(end int) { s.Pack(c.off, a.ptr[next:end+1], c.base[next:end], a.ind) }
	// The wide rows of a chunk lie one behind the other, so that reading them is
	// no leap through memory.
	var ptr []uint64
	var ind []uint32
	type place struct{ ptr, ind int }
	var begins []place
	for i := lo; i < hi; i++ {
		row := a.ind[a.ptr[i]:a.ptr[i+1]]
		if len(row) == 0 {
			continue
		}
		c.base[i] = row[0]
		if row[len(row)-1]-row[0] <= math.MaxUint16 {
			continue
		}
		pack(i)
		next = i + 1
		size := int64(4*len(row) + 8)
		if n := len(runs); n == 0 || runs[n-1].hi != i {
			runs, begins, ptr = append(runs, wideRun{lo: i}), append(begins, place{len(ptr), len(ind)}), append(ptr, 0)
			size += wideRunBytes - 8
		}
		if extra.Add(size) > int64(len(a.ind)) {
			return nil
		}
		last := len(runs) - 1
		ind = append(ind, row...)
		ptr = append(ptr, uint64(len(ind)-begins[last].ind))
		runs[last].hi = i + 1
	}
	pack(hi)
	begins = append(begins, place{len(ptr), len(ind)})
	ptr, ind = slices.Clip(ptr), slices.Clip(ind)
	for r := range runs {
		run := &runs[r]
		run.ptr = ptr[begins[r].ptr:begins[r+1].ptr]
		run.ind = ind[begins[r].ind:begins[r+1].ind]
		run.val = a.val[a.ptr[run.lo]:a.ptr[run.hi]:a.ptr[run.hi]]
	}
	return runs
}
