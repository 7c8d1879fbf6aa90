package sparse

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// A Layout is a way to store the entries of a matrix in memory. The package comment
// compares them.
type Layout int

// The layouts.
const (
	// Auto leaves the choice to the package, which chooses Plain: a product is a
	// tenth faster in Compact where no row is wide, and converting takes as long as
	// two products or more.
	Auto Layout = iota
	// Plain has columns of 32 bits and values of 32 bits: 8 bytes an entry.
	Plain
	// Compact has columns as offsets of 16 bits from a base of each row: 6 bytes an
	// entry. It keeps values as they are, so products have the same bits as in Plain.
	Compact
	// Compact16 has values of 16 bits as well: 4 bytes an entry. ValueError bounds
	// the error of that rounding.
	Compact16
)

func (l Layout) String() string {
	switch l {
	case Auto:
		return "auto"
	case Plain:
		return "plain"
	case Compact:
		return "compact"
	case Compact16:
		return "compact16"
	}
	return fmt.Sprintf("Layout(%d)", int(l))
}

// The values of Compact16.
const (
	halfRelative = 0x1p-11 // the largest relative error of a value from 2^-14 to halfMost
	halfAbsolute = 0x1p-25 // the largest absolute error of a value below 2^-14
	halfMost     = 65519   // the largest value
)

// Layout returns how the entries are stored: Plain, Compact or Compact16.
func (a *CSR) Layout() Layout { return max(a.layout, Plain) }

// ValueError bounds the error the layout adds to a value: if v was given and v' is
// stored, |v' - v| <= max(relative |v|, absolute). In Compact16 the two are 2^-11 and
// 2^-25, in the other layouts 0.
func (a *CSR) ValueError() (relative, absolute float64) {
	if a.layout != Compact16 {
		return 0, 0
	}
	return halfRelative, halfAbsolute
}

// Convert returns the matrix in the given layout. The new matrix shares with a the
// arrays that both layouts have. The workers share the work; nil stands for the caller
// alone. Compact16 rounds the values, and converting back does not undo that.
//
// Errors: ErrRange for Compact16 when a value exceeds 65519, and for both compact
// layouts when too many rows have columns more than 65535 apart, so that there is
// little to gain; kernel.ErrShape for an unknown layout; and that of ctx.
func (a *CSR) Convert(ctx context.Context, workers *par.Workers, layout Layout) (*CSR, error) {
	switch {
	case layout < Auto || layout > Compact16:
		return nil, fmt.Errorf("sparse: %w: %v", points.ErrShape, layout)
	case layout == Auto || layout == Plain:
		return a.expand(ctx, workers)
	}
	b := a
	var err error
	if b.Layout() == Plain {
		b, err = b.compress(ctx, workers)
	}
	switch {
	case err != nil:
	case layout == Compact16 && b.layout == Compact:
		b, err = b.halve(ctx, workers)
	case layout == Compact && b.layout == Compact16:
		b, err = b.widen(ctx, workers)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// change returns a matrix whose parts f makes from the parts of a. New arrays hold the
// entries of all parts one after the other. Entry e, as the row pointers of the part
// count, is at place zero+e in them.
func (a *CSR) change(ctx context.Context, workers *par.Workers, layout Layout, f func(p *part, zero int)) (*CSR, error) {
	b := *a
	b.layout, b.parts = layout, slices.Clone(a.parts)
	zero, begin := make([]int, len(b.parts)), 0
	for c := range b.parts {
		p := &b.parts[c]
		if !p.here() {
			continue
		}
		zero[c] = begin - int(p.ptr[0]) // p.ptr[0] is 0, or begin in arrays the parts share
		begin += p.nnz()
	}
	if err := workers.Do(ctx, len(b.parts), par.Func(func(_, c int) {
		if b.parts[c].here() {
			f(&b.parts[c], zero[c])
		}
	})); err != nil {
		return nil, err
	}
	if a.share == nil {
		return &b, nil
	}
	shared := *a.share
	b.share = &shared
	return &b, b.share.weigh(ctx, &b)
}

// expand returns the matrix in layout Plain.
func (a *CSR) expand(ctx context.Context, workers *par.Workers) (*CSR, error) {
	if a.Layout() == Plain {
		return a, nil
	}
	if a.layout == Compact16 {
		var err error
		if a, err = a.widen(ctx, workers); err != nil {
			return nil, err
		}
	}
	ind := make([]uint32, a.stored())
	mem.Huge(ind)
	return a.change(ctx, workers, Plain, func(p *part, zero int) {
		columns := ind[zero:][:p.end()]
		for i := p.lo; i < p.hi; i++ {
			lo, hi := p.entries(i)
			p.columns(columns[lo:lo:hi], i)
		}
		p.ind, p.short = columns, nil
	})
}

// halve rounds the values to 16 bits.
func (a *CSR) halve(ctx context.Context, workers *par.Workers) (*CSR, error) {
	half := make([]uint16, a.stored())
	mem.Huge(half)
	var large atomic.Bool
	b, err := a.change(ctx, workers, Compact16, func(p *part, zero int) {
		p.half = half[zero:][:p.end()]
		for e := p.ptr[0]; e < p.end(); e++ {
			v := p.val[e]
			if v > halfMost || v < -halfMost {
				large.Store(true)
			}
			p.half[e] = simd.Float16(v)
		}
		p.val = nil
		p.eachRun(func(run *wideRun, lo, hi uint64) {
			// Products read the values of wide rows in 32 bits.
			run.val = make([]float32, len(run.ind))
			simd.At(simd.Best()).Float32s(run.val, p.half[lo:hi])
		})
	})
	if err != nil {
		return nil, err
	}
	refused := int64(0)
	if large.Load() {
		refused = 1
	}
	if refused, err = a.share.sum(ctx, refused); err == nil && refused > 0 {
		return nil, fmt.Errorf("sparse: compact16: %w: a value exceeds %d", ErrRange, halfMost)
	}
	return b, err
}

// widen turns the values of 16 bits back into 32 bits.
func (a *CSR) widen(ctx context.Context, workers *par.Workers) (*CSR, error) {
	val := make([]float32, a.stored())
	mem.Huge(val)
	return a.change(ctx, workers, Compact, func(p *part, zero int) {
		p.val = val[zero:][:p.end()]
		simd.At(simd.Best()).Float32s(p.val[p.ptr[0]:], p.half[p.ptr[0]:])
		p.half = nil
		p.eachRun(func(run *wideRun, lo, hi uint64) { run.val = p.val[lo:hi] })
	})
}

// eachRun lets f change the runs of wide rows, in a copy: the part may share them with
// the matrix it was made of. lo and hi are the range of entries of a run.
func (p *part) eachRun(f func(run *wideRun, lo, hi uint64)) {
	short := *p.short
	short.runs = slices.Clone(short.runs)
	for r := range short.runs {
		run := &short.runs[r]
		f(run, p.ptr[run.lo-p.lo], p.ptr[run.hi-p.lo])
	}
	p.short = &short
}
