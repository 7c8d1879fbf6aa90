package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// offsets are the columns of a part in a compact layout. Entry p of row i is in
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
func (p *part) run(i int) *wideRun {
	if lo, hi := p.entries(i); hi < lo+2 || p.short.off[hi-1] != 0 {
		return nil
	}
	return &p.short.runs[p.short.base[i-p.lo]]
}

// row returns the columns and values of a row of the run.
func (r *wideRun) row(i int) (ind []uint32, val []float32) {
	lo, hi := r.ptr[i-r.lo], r.ptr[i-r.lo+1]
	return r.ind[lo:hi:hi], r.val[lo:hi:hi]
}

// columns appends the columns of row i to ind.
func (p *part) columns(ind []uint32, i int) []uint32 {
	if run := p.run(i); run != nil {
		columns, _ := run.row(i)
		return append(ind, columns...)
	}
	lo, hi := p.entries(i)
	base := p.short.base[i-p.lo]
	for _, o := range p.short.off[lo:hi] {
		ind = append(ind, base+uint32(o))
	}
	return ind
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
func (a *CSR) compress(ctx context.Context, workers *par.Workers) (*CSR, error) {
	base, off := make([]uint32, a.rows), make([]uint16, a.nnz)
	mem.Huge(base)
	mem.Huge(off)
	var extra atomic.Int64 // bytes of wide rows
	most := int64(a.nnz)
	b, err := a.change(ctx, workers, Compact, func(p *part, zero int) {
		if extra.Load() <= most {
			p.compress(&offsets{base: base[p.lo:p.hi], off: off[zero:][:p.end()]}, &extra, most)
		}
	})
	if err == nil && extra.Load() > most {
		return nil, fmt.Errorf("sparse: compact: %w: too many rows have columns more than %d apart", ErrRange, math.MaxUint16)
	}
	return b, err
}

// compress turns the columns into offsets, for which c has room. extra counts what
// wide rows take; with more than the most allowed it gives up.
func (p *part) compress(c *offsets, extra *atomic.Int64, most int64) {
	s := simd.At(simd.Best())
	next := p.lo // the first row that is not packed yet
	pack := func(end int) { s.PackColumns(c.off, p.ptr[next-p.lo:end-p.lo+1], c.base[next-p.lo:end-p.lo], p.ind) }
	// The wide rows lie one behind the other, so that reading them is no leap
	// through memory.
	var ptr []uint64
	var ind []uint32
	type place struct{ ptr, ind int }
	var begins []place
	for i := p.lo; i < p.hi; i++ {
		lo, hi := p.entries(i)
		row := p.ind[lo:hi]
		if len(row) == 0 {
			continue
		}
		c.base[i-p.lo] = row[0]
		if row[len(row)-1]-row[0] <= math.MaxUint16 {
			continue
		}
		pack(i)
		next = i + 1
		size := int64(4*len(row) + 8)
		if n := len(c.runs); n == 0 || c.runs[n-1].hi != i {
			c.runs, begins, ptr = append(c.runs, wideRun{lo: i}), append(begins, place{len(ptr), len(ind)}), append(ptr, 0)
			size += wideRunBytes - 8
		}
		if extra.Add(size) > most {
			return
		}
		last := len(c.runs) - 1
		c.base[i-p.lo] = uint32(last)
		ind = append(ind, row...)
		ptr = append(ptr, uint64(len(ind)-begins[last].ind))
		c.runs[last].hi = i + 1
	}
	pack(p.hi)
	begins = append(begins, place{len(ptr), len(ind)})
	ptr, ind = slices.Clip(ptr), slices.Clip(ind)
	for r := range c.runs {
		run := &c.runs[r]
		run.ptr = ptr[begins[r].ptr:begins[r+1].ptr]
		run.ind = ind[begins[r].ind:begins[r+1].ind]
		run.val = p.val[p.ptr[run.lo-p.lo]:p.ptr[run.hi-p.lo]]
	}
	p.ind, p.short = nil, c
}
