package kernel

import (
	"context"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// exact is the layout weights are built in: as asked for, but never rounded,
// because repairs and bounds start from the weights themselves.
func (o *Options) exact() sparse.Layout {
	if o.Layout == sparse.Compact16 {
		return sparse.Compact
	}
	return o.Layout
}

// halve stores the weights of g in 16 bits if that is asked for. What rounding
// can take from a row is bounded as the weights left out are.
func (op *CSR) halve(ctx context.Context, g *graph, n int, o *Options) error {
	if o.Layout != sparse.Compact16 {
		return nil
	}
	rounded := *g
	rounded.entryRel += halfRelative
	rounded.tail = make([]float64, len(g.tail))
	for i := range rounded.tail {
		// A weight below the normal range is off by an absolute number, and there
		// are as many of them as neighbours at most, equal points included.
		rounded.tail[i] = g.tail[i] + halfAbsolute*op.neighboursOf(i)
	}
	var err error
	if rounded.weights, err = g.weights.Convert(ctx, o.Workers, sparse.Compact16); err != nil {
		return err
	}
	return op.adopt(ctx, &rounded, n)
}

// halfRelative and halfAbsolute are sparse.CSR.ValueError of Compact16; the
// first relative to the rounded weight, not to the weight.
const (
	halfRelative = 0x1p-11 * (1 + 0x1p-10)
	halfAbsolute = 0x1p-25
)

// neighboursOf returns how many points have a weight with distinct point i.
func (op *CSR) neighboursOf(i int) float64 {
	if op.group == nil {
		return float64(op.weights.RowLen(i))
	}
	ind, _ := op.weights.Row(i, nil)
	count := 0
	for _, j := range ind {
		count += op.first(int(j)+1) - op.first(int(j))
	}
	return float64(count)
}
