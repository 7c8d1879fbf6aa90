package sparse

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// A Layout is a way to keep the entries of a matrix in memory. The package
// comment compares them.
type Layout int

// The layouts.
const (
	// Auto leaves the choice to the package. It is Plain: a product gains
	// a tenth in Compact where no row is wide, and converting takes as long as two
	// products or more.
	Auto Layout = iota
	// Plain has columns of 32 bits and values of 32 bits: 8 bytes an entry.
	Plain
	// Compact has columns as offsets of 16 bits from a base of each row: 6 bytes an
	// entry.
	// Values are kept as they are, so products have the same bits as in Plain.
	Compact
	// Compact16 has values of 16 bits as well: 4 bytes an entry. ValueError has
	// the error that makes.
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

// The largest errors of Compact16: relative to a value from 2^-14 to 65519, and
// absolute below.
const (
	halfRelative = 0x1p-11
	halfAbsolute = 0x1p-25
	halfMost     = 65519
)

// Layout returns how the entries are kept: Plain, Compact or Compact16.
func (a *CSR) Layout() Layout {
	switch {
	case a.short == nil:
		return Plain
	case a.half != nil:
		return Compact16
	}
	return Compact
}

// ValueError bounds what the layout adds to the error of values: a stored value
// v' of a given one v has |v' - v| <= max(relative |v|, absolute). Both are 0 but
// in Compact16, where they are 2^-11 and 2^-25.
func (a *CSR) ValueError() (relative, absolute float64) {
	if a.half == nil {
		return 0, 0
	}
	return halfRelative, halfAbsolute
}

// Convert returns the matrix in the given layout, which shares with a what they
// have in common. Work is shared out to the set (nil: the caller alone). To
// Compact16 values are rounded, and ErrRange is returned if one exceeds 65519;
// nothing brings the others back. ErrRange is also returned for a matrix with
// columns more than 65535 apart in so many rows that there is little to gain.
func (a *CSR) Convert(ctx context.Context, set *Workers, layout Layout) (*CSR, error) {
	switch {
	case layout < Auto || layout > Compact16:
		return nil, fmt.Errorf("sparse: %w: %v", ErrShape, layout)
	case layout == Auto || layout == Plain:
		return a.expand(ctx, set)
	}
	b := *a
	if b.short == nil {
		if err := b.compress(ctx, set); err != nil {
			return nil, err
		}
	}
	var err error
	switch {
	case layout == Compact16 && b.half == nil:
		err = b.halve(ctx, set)
	case layout == Compact && b.half != nil:
		err = b.widen(ctx, set)
	}
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// each runs f on the entries of every chunk.
func (a *CSR) each(ctx context.Context, set *Workers, f func(lo, hi uint64)) error {
	return set.Do(ctx, a.Chunks(), par.Func(func(_, chunk int) {
		lo, hi := a.Chunk(chunk)
		f(a.ptr[lo], a.ptr[hi])
	}))
}

// expand returns the matrix in layout Plain.
func (a *CSR) expand(ctx context.Context, set *Workers) (*CSR, error) {
	b := *a
	if a.short == nil {
		return &b, nil
	}
	b.ind, b.short, b.half = make([]uint32, a.NNZ()), nil, nil
	mem.Huge(b.ind)
	if a.half != nil {
		b.val = make([]float32, a.NNZ())
		mem.Huge(b.val)
	}
	err := set.Do(ctx, a.Chunks(), par.Func(func(_, chunk int) {
		lo, hi := a.Chunk(chunk)
		for i := lo; i < hi; i++ {
			a.columns(b.ind[a.ptr[i]:a.ptr[i]:a.ptr[i+1]], i)
		}
		if a.half != nil {
			from, to := a.ptr[lo], a.ptr[hi]
			simd.At(simd.Best()).Singles(b.val[from:to], a.half[from:to])
		}
	}))
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// halve rounds the values to 16 bits.
func (a *CSR) halve(ctx context.Context, set *Workers) error {
	half := make([]uint16, len(a.val))
	mem.Huge(half)
	var large atomic.Bool
	err := a.each(ctx, set, func(lo, hi uint64) {
		for p := lo; p < hi; p++ {
			v := a.val[p]
			if v > halfMost || v < -halfMost {
				large.Store(true)
			}
			half[p] = simd.Float16(v)
		}
	})
	if err == nil && large.Load() {
		err = fmt.Errorf("sparse: compact16: %w: a value exceeds %d", ErrRange, halfMost)
	}
	if err != nil {
		return err
	}
	a.val, a.half = nil, half
	a.eachRun(func(run *wideRun) {
		// Products take them as they are, so they are kept in 32 bits.
		run.val = make([]float32, len(run.ind))
		simd.At(simd.Best()).Singles(run.val, half[a.ptr[run.lo]:a.ptr[run.hi]])
	})
	return nil
}

// widen keeps rounded values in 32 bits.
func (a *CSR) widen(ctx context.Context, set *Workers) error {
	half := a.half
	a.val, a.half = make([]float32, len(half)), nil
	mem.Huge(a.val)
	err := a.each(ctx, set, func(lo, hi uint64) { simd.At(simd.Best()).Singles(a.val[lo:hi], half[lo:hi]) })
	a.eachRun(func(run *wideRun) { run.val = a.val[a.ptr[run.lo]:a.ptr[run.hi]] })
	return err
}

// eachRun changes the wide rows of a matrix that shares them with another.
func (a *CSR) eachRun(f func(run *wideRun)) {
	short := *a.short
	short.runs = slices.Clone(short.runs)
	for r := range short.runs {
		f(&short.runs[r])
	}
	a.short = &short
}
