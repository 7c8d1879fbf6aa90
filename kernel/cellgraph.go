package kernel

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// cellGraph searches with a cell list.
func cellGraph(ctx context.Context, p *pointSet, b Bandwidth, radius float64, o *Options) (*graph, error) {
	held := searchBytes(p.n, p.d, o)
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "cell list", Need: held, Budget: o.BudgetBytes}
	}
	cl, err := newCellList(ctx, p, radius, o.Workers)
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, cl.n+1)
	counting := o.progress("count neighbours", cl.pieces())
	if err := o.Workers.Do(ctx, cl.pieces(), par.Func(func(_, piece int) {
		cl.visit(piece, func(_, i int, ind []uint32, _ []float64) { counts[i+1] = uint64(len(ind)) })
		counting.add()
	})); err != nil {
		return nil, err
	}
	ptr, ind, val, err := o.allocate(counts, held)
	if err != nil {
		return nil, err
	}
	cellTail, err := cl.tails(ctx, b, radius, o.Workers)
	if err != nil {
		return nil, err
	}
	atRadius := b.Weight(radius * radius)
	tail := make([]float64, cl.n)
	filling := o.progress("fill weights", cl.pieces())
	if err := o.Workers.Do(ctx, cl.pieces(), par.Func(func(_, piece int) {
		cl.visit(piece, func(cell, i int, row []uint32, d2 []float64) {
			at, near := ptr[i], cl.multiplicity(i) // near: points known to be within the radius
			copy(ind[at:], row)
			for e, v := range d2 {
				val[at+uint64(e)] = float32(b.Weight(v))
				near += cl.multiplicity(int(row[e]))
			}
			tail[i] = max(cellTail[cell]*(1+1e-9)-atRadius*float64(near), 0)
		})
		filling.add()
	})); err != nil {
		return nil, err
	}
	weights, err := sparse.New(cl.n, cl.n, ptr, ind, val)
	if err != nil {
		return nil, err
	}
	size, _ := sparse.Bytes(cl.n, uint64(len(ind)))
	return &graph{
		weights: weights, order: cl.order, group: cl.group, tail: tail, radius: radius,
		entryRel: directRel(p.d),
		peak:     held + size,
		distance: func(i, j int) float64 { return dist2(cl.point(i), cl.point(j)) },
	}, nil
}
