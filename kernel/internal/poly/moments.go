package poly

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// momentChunks is the number of chunks in which second moments of d coordinates
// are summed: they take d^2 numbers each.
func momentChunks(d int) float64 { return float64(max(4, min(64, 1<<24/(d*d)))) }

// momentRows is the number of rows of second moments made at a time.
const momentRows = 64

// secondForms returns upper bounds of y_i' C y_i - |y_i|^4, the sum of (y_i.y_j)^2 over
// j != i, for all rows.
func (fr *polyFrame) secondForms(ctx context.Context, o *base.Options) ([]float64, error) {
	if fr.single {
		return newPolyMoments(fr, fr.load32, fr.kernels.Dots, 0x1p-24, o).forms(ctx)
	}
	return newPolyMoments(fr, fr.Load64, fr.kernels.Dots64, 0x1p-53, o).forms(ctx)
}

// polyMoments makes the second moments C = sum_j y_j y_j' of a frame, and the forms
// y_i' C y_i.
type polyMoments[E rows.Float] struct {
	fr      *polyFrame
	load    func(dst []E, lo, hi int) // writes rows of the frame
	dots    func(dst, a, b simd.Rows[E], na, nb, d int)
	unit    float64 // rounding of E
	o       *base.Options
	scratch []momentScratch[E]
}

// momentScratch is the scratch memory of a worker.
type momentScratch[E rows.Float] struct{ panel, turned, part []E }

func newPolyMoments[E rows.Float](fr *polyFrame, load func(dst []E, lo, hi int), dots func(dst, a, b simd.Rows[E], na, nb, d int), unit float64, o *base.Options) *polyMoments[E] {
	m := &polyMoments[E]{fr: fr, load: load, dots: dots, unit: unit, o: o, scratch: make([]momentScratch[E], o.Workers.Count())}
	d := fr.p.D
	for i := range m.scratch {
		m.scratch[i] = momentScratch[E]{make([]E, polyPanel*d), make([]E, polyPanel*d), make([]E, max(momentRows*d, polyPanel*d))}
	}
	return m
}

// sum returns C, its upper half.
func (m *polyMoments[E]) sum(ctx context.Context) ([]float64, error) {
	n, d := m.fr.p.N, m.fr.p.D
	rows := max(polyPanel, split.Blocks(split.Blocks(n, int(momentChunks(d))), polyPanel)*polyPanel)
	chunks := split.Blocks(n, rows)
	partial := make([]float64, chunks*d*d)
	progress := m.o.Stage("second moments", m.o.OwnPieces(chunks))
	if err := m.o.Share(ctx, chunks, func(worker, chunk int) {
		sum := partial[chunk*d*d:][:d*d]
		from, end := split.Block(chunk, n, rows)
		for lo := from; lo < end; lo += polyPanel {
			m.addPanel(&m.scratch[worker], sum, lo, min(polyPanel, end-lo))
		}
		progress.Add()
	}); err != nil {
		return nil, err
	}
	if err := base.GatherPieces(ctx, m.o, partial, chunks, func(chunk int) int { return chunk * d * d }); err != nil {
		return nil, err
	}
	moments := partial[:d*d]
	for chunk := 1; chunk < chunks; chunk++ {
		for i, v := range partial[chunk*d*d:][:d*d] {
			moments[i] += v
		}
	}
	return moments, nil
}

// addPanel adds the products of count rows, from lo on, to the upper half of sum.
func (m *polyMoments[E]) addPanel(s *momentScratch[E], sum []float64, lo, count int) {
	d := m.fr.p.D
	m.load(s.panel, lo, lo+count)
	for i := range count {
		for c, v := range s.panel[i*d:][:d] {
			s.turned[c*polyPanel+i] = v
		}
	}
	for a := 0; a < d; a += momentRows {
		tall, wide := min(momentRows, d-a), d-a
		turned := simd.RowsOf(s.turned[a*polyPanel:], polyPanel)
		m.dots(simd.RowsOf(s.part, wide), turned, turned, tall, wide, count)
		for i := range tall {
			to := sum[(a+i)*d+a:][:wide]
			for j, v := range s.part[i*wide:][:wide] {
				to[j] += float64(v)
			}
		}
	}
}

// forms returns the bounds of all rows.
func (m *polyMoments[E]) forms(ctx context.Context) ([]float64, error) {
	n, d := m.fr.p.N, m.fr.p.D
	moments, err := m.sum(ctx)
	if err != nil {
		return nil, err
	}
	both := make([]E, d*d)
	for a := range d {
		for b := a; b < d; b++ {
			both[a*d+b], both[b*d+a] = E(moments[a*d+b]), E(moments[a*d+b])
		}
	}
	// Rounding: a chain of a panel, one rounding of C, a chain of d; all relative to
	// the sum of (|y_i|.|y_j|)^2 by coordinates, which is at most |y_i|^2 sum |y_j|^2.
	trace := 0.0
	for _, v := range m.fr.norm2 {
		trace += v
	}
	slack := trace * (m.unit*float64(polyPanel+d+16) + float64(n+d)*0x1p-53) * 1.01
	forms := make([]float64, n)
	bounds := polyBounds(n, 1)
	progress := m.o.Stage("bounds", m.o.OwnPieces(len(bounds)-1))
	if err := m.o.Share(ctx, len(bounds)-1, func(worker, chunk int) {
		for lo, end := bounds[chunk], bounds[chunk+1]; lo < end; lo += polyPanel {
			m.boundPanel(&m.scratch[worker], forms, both, slack, lo, min(polyPanel, end-lo))
		}
		progress.Add()
	}); err != nil {
		return nil, err
	}
	return forms, base.GatherRows(ctx, m.o, forms, bounds, 1)
}

// boundPanel sets the forms of count rows, from lo on, given both halves of C.
func (m *polyMoments[E]) boundPanel(s *momentScratch[E], forms []float64, both []E, slack float64, lo, count int) {
	d, norm2 := m.fr.p.D, m.fr.norm2
	m.load(s.panel, lo, lo+count)
	m.dots(simd.RowsOf(s.part, d), simd.RowsOf(s.panel, d), simd.RowsOf(both, d), count, d, d)
	for i := range count {
		sum := 0.0
		y := s.panel[i*d:][:d]
		for c, v := range s.part[i*d:][:d] {
			sum += float64(v) * float64(y[c])
		}
		// The row itself is not among its neighbours.
		self := norm2[lo+i] * norm2[lo+i] * (1 - 1e-12)
		forms[lo+i] = max(sum-self, 0) + slack*norm2[lo+i]
	}
}
