package kernel

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// cellGraph searches with a cell list.
func cellGraph(ctx context.Context, p *rows.Points, b Bandwidth, radius float64, o *Options) (*graph, error) {
	rows, entry := o.storedBytes(p.N)
	held := searchBytes(p.N, p.D, o) + rows
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "build csr: cell list", Need: held, Budget: o.BudgetBytes}
	}
	cl, err := newCellList(ctx, p, radius, o.Workers)
	if err != nil {
		return nil, err
	}
	pass := newCellPass(ctx, cl, b, o)
	left := o.BudgetBytes - held
	// Weights are stored as they are found, so a sample must tell beforehand whether
	// there is any hope for them.
	need := 0.0
	if n := float64(cl.n); n*(n-1)*float64(entry) > float64(left) {
		entries, err := pass.expect()
		if err != nil {
			return nil, err
		}
		if need = entries * float64(entry); need > 4*float64(left) {
			return nil, o.tooManyWeights(need + float64(held))
		}
	}
	pass.memory.entry, pass.memory.writers = entry, int64(o.Workers.Count())
	pass.memory.left.Store(left)
	pass.progress = o.progress("find neighbours", cl.workPieces())
	if err := o.Workers.Do(ctx, cl.workPieces(), pass); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // a piece may have been left half done
	}
	if pass.memory.short.Load() {
		return nil, o.tooManyWeights(max(need, float64(left+entry)) + float64(held))
	}
	weights, err := sparse.AdoptRows(ctx, o.Workers, o.exact(), cl.n, slices.Concat(pass.pieces...))
	if err != nil {
		return nil, err
	}
	tail, err := cl.tails(ctx, b, radius, pass.counts, storedRows{weights, o.Kernels}, o)
	if err != nil {
		return nil, err
	}
	return &graph{
		weights: weights, slabs: pass.slabs(weights), sums: pass.sums, order: cl.order, group: cl.group, tail: tail, radius: radius,
		entryRel: foundRel(p.D),
		peak:     held + pass.memory.taken.Load(),
		distance: cl.dist2,
	}, nil
}
