package sparse

import (
	"context"
	"fmt"
	"math"
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
	// Auto leaves the choice to the package. It is Plain: decoding takes longer
	// than what is saved takes to read, as far as was measured.
	Auto Layout = iota
	// Plain has columns of 32 bits and values of 32 bits: 8 bytes an entry.
	Plain
	// Compact has differences of columns, of 16 bits each: 6 bytes an entry.
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

// LayoutNamed returns the layout with the given name.
func LayoutNamed(name string) (Layout, error) {
	for l := Auto; l <= Compact16; l++ {
		if l.String() == name {
			return l, nil
		}
	}
	return Auto, fmt.Errorf("sparse: no layout %q; there are auto, plain, compact and compact16", name)
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
	case a.deltas == nil:
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
// have in common. Work is shared out to the set (nil: the
// caller alone). To Compact16 values are rounded, and ErrRange is returned if one
// exceeds 65519; nothing brings the others back. ErrRange is also returned for a
// matrix of 2^32 or more far columns, which has no compact form.
func (a *CSR) Convert(ctx context.Context, set *Workers, layout Layout) (*CSR, error) {
	if layout < Auto || layout > Compact16 {
		return nil, fmt.Errorf("sparse: %w: %v", ErrShape, layout)
	}
	if layout == Auto || layout == Plain {
		return a.expand(ctx, set)
	}
	b := *a
	if b.deltas == nil {
		if err := b.compress(ctx, set); err != nil {
			return nil, err
		}
	}
	switch {
	case layout == Compact16 && b.half == nil:
		if err := b.halve(ctx, set); err != nil {
			return nil, err
		}
	case layout == Compact && b.half != nil:
		b.val = make([]float32, len(b.half))
		mem.Huge(b.val)
		err := b.each(ctx, set, func(lo, hi uint64) {
			for p := lo; p < hi; p++ {
				b.val[p] = simd.Float32(b.half[p])
			}
		})
		b.half = nil
		return &b, err
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
	if a.deltas == nil {
		return &b, nil
	}
	b.ind, b.deltas, b.half = make([]uint32, a.NNZ()), nil, nil
	mem.Huge(b.ind)
	if a.half != nil {
		b.val = make([]float32, a.NNZ())
		mem.Huge(b.val)
	}
	return &b, set.Do(ctx, a.Chunks(), par.Func(func(_, chunk int) {
		lo, hi := a.Chunk(chunk)
		for i := lo; i < hi; i++ {
			from, to := a.ptr[i], a.ptr[i+1]
			a.deltas.Columns(b.ind[from:from:to], i, from, to)
			for p := from; p < to && a.half != nil; p++ {
				b.val[p] = simd.Float32(a.half[p])
			}
		}
	}))
}

// compress turns the columns into differences. It takes 2 bytes an entry and 8 a
// row beside what there is.
func (a *CSR) compress(ctx context.Context, set *Workers) error {
	// Far differences of each chunk, then of those before it.
	before := make([]uint64, a.Chunks()+1)
	err := set.Do(ctx, a.Chunks(), par.Func(func(_, chunk int) {
		lo, hi := a.Chunk(chunk)
		before[chunk+1] = countFar(a.ind[a.ptr[lo]:a.ptr[hi]], a.columnBefore(a.ptr[lo]))
	}))
	if err != nil {
		return err
	}
	for c := range a.Chunks() {
		before[c+1] += before[c]
	}
	far := before[a.Chunks()]
	if far > math.MaxUint32 {
		return fmt.Errorf("sparse: compact: %w: %d columns are far from those before them", ErrRange, far)
	}
	d := &simd.Deltas{Words: make([]int16, len(a.ind)), Far: make([]uint32, far), Rows: make([]simd.DeltaRow, a.rows)}
	mem.Huge(d.Words)
	mem.Huge(d.Rows)
	err = set.Do(ctx, a.Chunks(), par.Func(func(_, chunk int) {
		lo, hi := a.Chunk(chunk)
		next, column := before[chunk], a.columnBefore(a.ptr[lo])
		for i := lo; i < hi; i++ {
			d.Rows[i] = simd.DeltaRow{Column: column, Far: uint32(next)}
			from, to := a.ptr[i], a.ptr[i+1]
			words := d.Words[from:to]
			for e, j := range a.ind[from:to] {
				step := j - column
				column = j
				if isFar(step) {
					d.Far[next] = step - farStep
					next++
					step = farStep
				}
				words[e] = int16(step)
			}
		}
	}))
	if err != nil {
		return err
	}
	a.ind, a.deltas = nil, d
	return nil
}

// farStep is simd.FarDelta mod 2^32.
const farStep = 1<<32 - 1<<15

// isFar tells whether a difference is no number of 16 bits, or the mark of such.
func isFar(step uint32) bool { return step+(1<<15-1) >= 1<<16-1 }

func countFar(ind []uint32, column uint32) (n uint64) {
	for _, j := range ind {
		if isFar(j - column) {
			n++
		}
		column = j
	}
	return n
}

// columnBefore returns the column of the entry before p, 0 before the first.
func (a *CSR) columnBefore(p uint64) uint32 {
	if p == 0 {
		return 0
	}
	return a.ind[p-1]
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
	return nil
}
