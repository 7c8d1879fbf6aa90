package sparse

import "sort"

// offsets are the columns of a part in a compact layout. Entry p of row i is in
// column base[i] + off[p], where base[i] is the first column of the row, unless
// the row is wide: its columns reach further than 16 bits do. Then base[i] is the
// number of the run it belongs to and all its offsets are 0. A row of two entries or
// more that is not wide has a last offset above 0.
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

// wideRunBytes is the memory of a run of one row, without its entries.
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

// pieces splits rows lo to hi-1 where wide rows begin and end, and calls f with
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
