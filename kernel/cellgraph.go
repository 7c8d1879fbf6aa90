package kernel

import (
	"context"

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
	pass := &cellPass{cl: cl, kernels: o.Kernels, gamma: b.gamma, rooms: make([]*cellRoom, o.Workers.Workers()), counts: counts[1:]}
	pass.progress = o.progress("count neighbours", cl.pieces())
	if err := o.Workers.Do(ctx, cl.pieces(), pass); err != nil {
		return nil, err
	}
	ptr, ind, val, err := o.allocate(ctx, counts, held)
	if err != nil {
		return nil, err
	}
	pass.ptr, pass.ind, pass.val = ptr, ind, val
	pass.progress = o.progress("fill weights", cl.pieces())
	if err := o.Workers.Do(ctx, cl.pieces(), pass); err != nil {
		return nil, err
	}
	weights, err := sparse.Adopt(ctx, o.Workers, o.exact(), cl.n, cl.n, ptr, ind, val)
	if err != nil {
		return nil, err
	}
	tail, err := cl.tails(ctx, b, radius, weights, o.Workers)
	if err != nil {
		return nil, err
	}
	size, _ := sparse.Bytes(o.exact(), cl.n, uint64(len(ind)))
	return &graph{
		weights: weights, order: cl.order, group: cl.group, tail: tail, radius: radius,
		entryRel: directRel(p.d) + 1.18*0x1p-24, // simd.Weights
		peak:     held + size,
		distance: cl.dist2,
	}, nil
}
