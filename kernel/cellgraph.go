package kernel

import (
	"context"
	"slices"

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
	pass := newCellPass(cl, b, o)
	// Weights are stored as they are found, so a sample must tell beforehand whether
	// there is any hope for them.
	if need := entryBytes * pass.expect(); need > 4*float64(o.BudgetBytes-held) {
		return nil, o.tooManyWeights(need + float64(held))
	}
	pass.memory.left.Store(o.BudgetBytes - held)
	pass.progress = o.progress("find neighbours", cl.workPieces())
	if err := o.Workers.Do(ctx, cl.workPieces(), pass); err != nil {
		return nil, err
	}
	if pass.memory.short.Load() {
		return nil, o.tooManyWeights(max(entryBytes*pass.expect()+float64(held), float64(o.BudgetBytes)+entryBytes))
	}
	// What converting takes beside them.
	size, _ := sparse.Bytes(o.exact(), cl.n, pass.entries())
	more := size - entryBytes*int64(pass.entries())
	if taken := held + pass.memory.taken.Load() + more; taken > o.BudgetBytes {
		return nil, o.tooManyWeights(float64(taken))
	}
	weights, err := sparse.AdoptRows(ctx, o.Workers, o.exact(), cl.n, slices.Concat(pass.pieces...))
	if err != nil {
		return nil, err
	}
	tail, err := cl.tails(ctx, b, radius, pass.counts, weights, o)
	if err != nil {
		return nil, err
	}
	return &graph{
		weights: weights, sums: pass.sums, order: cl.order, group: cl.group, tail: tail, radius: radius,
		entryRel: directRel(p.d) + 1.18*0x1p-24, // simd.Weights
		peak:     held + pass.memory.taken.Load() + more,
		distance: cl.dist2,
	}, nil
}
