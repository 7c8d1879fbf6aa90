package supervised

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/simd"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// PlaceInto is Place with images that go to dst, which has a row for each of rows and Columns
// columns, and shares no memory with rows. The budget of the Engine counts what the workers take
// for the matrix of the map. On an error dst may hold anything.
//
// Errors: those of Apply, points.ErrShape for dst, sparse.ErrAlias, kernel.ErrMemory,
// privatemail.ErrClosed and ErrReentrant, and that of ctx.
func (m *Map) PlaceInto(ctx context.Context, e *privatemail.Engine, dst, rows blas32.General) (err error) {
	defer par.Catch(&err)
	if err := m.Check(); err != nil {
		return err
	}
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
	matrix := 0.0
	if m.A != nil {
		matrix = 8 * float64(m.Dim) * float64(m.Columns())
	}
	return e.Reserve(ctx, mem.Saturate(matrix), func(ctx context.Context) error {
		p, err := newPlacer(m, &dense.Core{Workers: e.Lend(), Kernels: simd.At(e.Level())})
		if err != nil {
			return err
		}
		if err := p.place(ctx, dst, rows); err != nil {
			return fmt.Errorf("supervised: map: %w", err)
		}
		return nil
	})
}
