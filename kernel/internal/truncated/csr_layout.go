package truncated

import (
	"context"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// halve rounds the weights of g to 16 bits if the options ask for it. The rounding is
// added to the bounds of the rows.
func (op *CSR) halve(ctx context.Context, g *graph.Graph, n int, o *base.Options) error {
	if o.Layout != sparse.Compact16 {
		return nil
	}
	weights, err := g.Weights.Convert(ctx, o.Workers, sparse.Compact16)
	if err != nil {
		return err
	}
	relative, absolute := weights.ValueError()
	rounded := *g
	rounded.Weights, rounded.Sums = weights, nil
	rounded.EntryRel += relative * (1 + 2*relative) // of the rounded weight, not of the weight
	rounded.Tails = make([]float64, len(g.Tails))
	var buffer sparse.RowBuffer
	lo, hi := weights.OwnRows()
	for i := lo; i < hi; i++ {
		// A weight below the normal range is off by an absolute number, and there
		// are as many of them as neighbours at most, equal points included.
		rounded.Tails[i-lo] = g.Tails[i-lo] + absolute*op.neighboursOf(i, &buffer)
	}
	return op.adopt(ctx, &rounded, n)
}

// neighboursOf returns how many points have a weight with distinct point i.
func (op *CSR) neighboursOf(i int, buffer *sparse.RowBuffer) float64 {
	if op.Group == nil {
		return float64(op.Weights.RowLen(i))
	}
	ind, _ := op.Weights.Row(i, buffer)
	count := 0
	for _, j := range ind {
		count += op.First(int(j)+1) - op.First(int(j))
	}
	return float64(count)
}
