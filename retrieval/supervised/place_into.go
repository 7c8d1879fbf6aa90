package supervised

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// PlaceInto is Place with images that go to dst, which has a row for each of rows and Columns
// columns, and shares no memory with rows. The memory limit of the Engine counts what the workers take
// for the matrix of the map. On an error dst may hold anything.
//
// Errors: those of Apply, kernel.ErrShape for dst, sparse.ErrAlias, kernel.ErrMemory,
// privatemail.ErrClosed, and that of ctx.
func (m *Map) PlaceInto(ctx context.Context, e *privatemail.Engine, dst, rows blas32.General) (err error) {
	defer par.Catch(&err)
	if err := m.Check(); err != nil {
		return err
	}
	if err := m.checkInto(dst, rows); err != nil {
		return err
	}
	return e.Reserve(ctx, m.readyBytes(), func(ctx context.Context) error {
		p, err := newPlacer(m, &dense.Core{Kernels: simd.At(e.Level())})
		if err != nil {
			return err
		}
		return p.into(ctx, e, dst, rows)
	})
}

// A Placer is a map that was made ready once, for rows that come in many calls: to make it ready takes
// longer than to place a few rows. It has a copy of the matrix, and is safe for concurrent use. The map must
// not be changed meanwhile.
type Placer struct{ placer *placer }

// Placer makes a map ready for Engines of the level of e, whose memory limit counts what that takes. Errors are
// those of Check, kernel.ErrMemory, privatemail.ErrClosed, and that of ctx.
func (m *Map) Placer(ctx context.Context, e *privatemail.Engine) (_ *Placer, err error) {
	defer par.Catch(&err)
	var p *placer
	err = e.Reserve(ctx, m.readyBytes(), func(context.Context) (err error) {
		p, err = newPlacer(m, &dense.Core{Kernels: simd.At(e.Level())})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Placer{p}, nil
}

// Level returns the level that the map was made ready for.
func (p *Placer) Level() simd.Level { return p.placer.kernels.Level() }

// PlaceInto is that of the map, with the same bits, by the workers of e, at the level that the map was made
// ready for.
func (p *Placer) PlaceInto(ctx context.Context, e *privatemail.Engine, dst, rows blas32.General) (err error) {
	defer par.Catch(&err)
	if err := p.placer.m.checkInto(dst, rows); err != nil {
		return err
	}
	return e.Reserve(ctx, 0, func(ctx context.Context) error { return p.placer.into(ctx, e, dst, rows) })
}

// checkInto refuses rows that the map does not take, and memory that does not fit their images.
func (m *Map) checkInto(dst, rows blas32.General) error {
	n, err := m.checkRows(rows)
	if err != nil {
		return err
	}
	if err := points.CheckSize(dst, n, m.Columns()); err != nil {
		return fmt.Errorf("supervised: map: images: %w", err)
	}
	if mem.Overlap(dst.Data[:(n-1)*dst.Stride+dst.Cols], rows.Data[:(n-1)*rows.Stride+rows.Cols]) {
		return fmt.Errorf("supervised: map: images: %w: they share memory with the rows", sparse.ErrAlias)
	}
	return nil
}

// readyBytes is what the matrix takes when the map is made ready.
func (m *Map) readyBytes() int64 {
	if m.A == nil {
		return 0
	}
	return mem.Saturate(8 * float64(m.Dim) * float64(m.Columns()))
}

// into places rows with the workers of an Engine.
func (p *placer) into(ctx context.Context, e *privatemail.Engine, dst, rows blas32.General) error {
	if err := p.place(ctx, e.Lend(), dst, rows); err != nil {
		return fmt.Errorf("supervised: map: %w", err)
	}
	return nil
}
