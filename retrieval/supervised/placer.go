package supervised

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// placedAtOnce is how many rows a worker takes through the whole map at a time: they stay in
// its cache on the way.
const placedAtOnce = 64

// A placer is a map that is made ready once and applied to rows that come in many parts.
type placer struct {
	m           *Map
	preparation preparation
	kernels     *simd.Kernels
	affine      *dense.Affine // nil without a matrix, and for a matrix of zeros
	exp         int           // images are 2^exp times what affine makes
	memory      sync.Pool     // of *placerMemory
}

// placerMemory is what one worker needs.
type placerMemory struct {
	prepared blas32.General // nothing where rows are taken as they are
	affine   *dense.AffineMemory
}

// newPlacer makes a map ready. Errors are those of Check.
func newPlacer(m *Map, core *dense.Core) (*placer, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	p := &placer{m: m, preparation: preparation{m.Root, m.UnitRows}, kernels: core.Loops()}
	if m.A != nil {
		var err error
		a, exp := m.shrunk()
		p.exp = exp
		if a != nil {
			if p.affine, err = core.Affine(m.Mean, a); err != nil {
				return nil, fmt.Errorf("supervised: map: %w", err)
			}
		}
	}
	p.memory.New = func() any { return p.newMemory() }
	return p, nil
}

func (p *placer) newMemory() *placerMemory {
	w := new(placerMemory)
	if p.preparation != (preparation{}) {
		w.prepared = newRows(placedAtOnce, p.m.Dim)
	}
	if p.affine != nil {
		w.affine = p.affine.NewMemory()
	}
	return w
}

// place sets z to the images of rows, whose sizes fit, with the workers. The error is that of ctx,
// or a *privatemail.NonFiniteError about the first entry that is not finite.
func (p *placer) place(ctx context.Context, workers *par.Workers, z, rows blas32.General) error {
	pieces := split.Blocks(rows.Rows, placedAtOnce)
	failed := make([]error, pieces)
	err := workers.Do(ctx, pieces, par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, rows.Rows, placedAtOnce)
		w := p.memory.Get().(*placerMemory)
		defer p.memory.Put(w)
		failed[piece] = p.part(w, partOf(z, lo, hi), partOf(rows, lo, hi), lo)
	}))
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		return failed[i]
	}
	return ctx.Err()
}

// part places at most placedAtOnce rows, of which first is the number of the first.
func (p *placer) part(w *placerMemory, z, rows blas32.General, first int) error {
	for i := range rows.Rows {
		row := rowOf(rows, i)
		if !p.kernels.Finite(row) {
			j := slices.IndexFunc(row, func(v float32) bool { return v-v != 0 })
			return &points.NonFiniteError{What: "points", Row: first + i, Col: j}
		}
	}
	prepared := rows
	if w.prepared.Rows > 0 {
		prepared = partOf(w.prepared, 0, rows.Rows)
		p.preparation.rows(p.kernels, prepared, rows)
	}
	if p.affine != nil {
		if bad := p.affine.Rows(w.affine, z, prepared); bad >= 0 {
			return &points.NonFiniteError{What: "result", Row: first + bad}
		}
	} else if p.m.A != nil { // a matrix of zeros
		for i := range z.Rows {
			clear(rowOf(z, i))
		}
	}
	p.m.finish(p.kernels, z, prepared, p.exp)
	return nil
}
