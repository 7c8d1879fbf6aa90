package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// compress turns the columns into offsets, in one pass. It takes 2 bytes an entry and 4
// a row, and at most 1 byte an entry more for wide rows: if they need more there is
// little to gain, and it returns ErrRange.
func (a *CSR) compress(ctx context.Context, workers *par.Workers) (*CSR, error) {
	first, last := a.OwnRows()
	base, off := make([]uint32, last-first), make([]uint16, a.stored())
	mem.Huge(base)
	mem.Huge(off)
	var extra atomic.Int64 // bytes of wide rows
	most := int64(a.nnz)
	b, err := a.change(ctx, workers, Compact, func(p *part, zero int) {
		if extra.Load() <= most {
			p.compress(&offsets{base: base[p.lo-first : p.hi-first], off: off[zero:][:p.end()]}, &extra, most)
		}
	})
	if err != nil {
		return nil, err
	}
	// All ranks decide the same, as one process would.
	taken, err := a.share.sum(ctx, extra.Load())
	if err == nil && taken > most {
		return nil, fmt.Errorf("sparse: compact: %w: too many rows have columns more than %d apart", ErrRange, math.MaxUint16)
	}
	return b, err
}

// compress turns the columns into offsets, for which c has room. extra counts the bytes
// of wide rows; compress gives up when they exceed most.
func (p *part) compress(c *offsets, extra *atomic.Int64, most int64) {
	s := simd.At(simd.Best())
	next := p.lo // the first row not packed yet
	pack := func(end int) { s.PackColumns(c.off, p.ptr[next-p.lo:end-p.lo+1], c.base[next-p.lo:end-p.lo], p.ind) }
	var wide wideRows
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
		if extra.Add(wide.bytes(i, row)) > most {
			return
		}
		wide.add(i, row)
		c.base[i-p.lo] = uint32(len(wide.runs) - 1)
	}
	pack(p.hi)
	c.runs = wide.finish(p)
	p.ind, p.short = nil, c
}

// wideRows collects the wide rows of a part. They lie one after the other, so that they
// are read in order; begins says where each run begins.
type wideRows struct {
	runs   []wideRun
	begins []place
	ptr    []uint64
	ind    []uint32
}

// A place is a position in the row pointers and in the columns of wideRows.
type place struct{ ptr, ind int }

// startsRun reports whether row i begins a run. Rows come in ascending order.
func (w *wideRows) startsRun(i int) bool { return len(w.runs) == 0 || w.runs[len(w.runs)-1].hi != i }

// bytes returns the bytes that row i will take.
func (w *wideRows) bytes(i int, columns []uint32) int64 {
	size := int64(4*len(columns) + 8)
	if w.startsRun(i) {
		size += wideRunBytes - 8
	}
	return size
}

// add appends row i.
func (w *wideRows) add(i int, columns []uint32) {
	if w.startsRun(i) {
		w.runs = append(w.runs, wideRun{lo: i})
		w.begins = append(w.begins, place{len(w.ptr), len(w.ind)})
		w.ptr = append(w.ptr, 0)
	}
	last := len(w.runs) - 1
	w.ind = append(w.ind, columns...)
	w.ptr = append(w.ptr, uint64(len(w.ind)-w.begins[last].ind))
	w.runs[last].hi = i + 1
}

// finish gives each run its arrays. The values are those of the part.
func (w *wideRows) finish(p *part) []wideRun {
	begins := append(w.begins, place{len(w.ptr), len(w.ind)})
	ptr, ind := slices.Clip(w.ptr), slices.Clip(w.ind)
	for r := range w.runs {
		run := &w.runs[r]
		run.ptr = ptr[begins[r].ptr:begins[r+1].ptr]
		run.ind = ind[begins[r].ind:begins[r+1].ind]
		run.val = p.val[p.ptr[run.lo-p.lo]:p.ptr[run.hi-p.lo]]
	}
	return w.runs
}
