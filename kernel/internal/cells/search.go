package cells

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Search finds the neighbours of all points with a cell list.
func Search(ctx context.Context, r *rows.Request) (*rows.Result, error) {
	p, err := Prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	return p.Find(ctx)
}

// Prepared is a search by a cell list that has the list and has found nothing yet.
type Prepared struct {
	r    *rows.Request
	cl   *List
	held int64 // bytes taken beside the weights
}

// Prepare makes the cell list of a search.
func Prepare(ctx context.Context, r *rows.Request) (*Prepared, error) {
	p := r.Points
	none, _ := r.StoredBytes(p.N)
	held := max(r.Held, Bytes(p.N, p.D, r.Workers.Count())) + none
	if held > r.Memory {
		return nil, &rows.MemoryError{What: "cell list", Need: held}
	}
	cl, err := NewList(ctx, p, r.Radius, r.Workers)
	if err != nil {
		return nil, err
	}
	return &Prepared{r, cl, held}, nil
}

// Find finds the neighbours.
func (p *Prepared) Find(ctx context.Context) (*rows.Result, error) {
	r, cl, held := p.r, p.cl, p.held
	_, entry := r.StoredBytes(r.Points.N)
	pass := newPass(ctx, cl, r)
	left := r.Memory - held
	need, err := pass.need(left, entry)
	if err != nil {
		return nil, err
	}
	if need > 4*float64(left) {
		return nil, rows.TooManyWeights(need + float64(held))
	}
	pass.memory.Set(left, entry, r.Workers.Count())
	if err := pass.visitAll(r); err != nil {
		return nil, err
	}
	if pass.memory.Short() {
		return nil, rows.TooManyWeights(max(need, float64(left+entry)) + float64(held))
	}
	weights, err := sparse.AdoptRows(ctx, r.Workers, r.Layout, cl.N, slices.Concat(pass.found...))
	if err != nil {
		return nil, err
	}
	var buffer sparse.RowBuffer
	tails, err := cl.Tails(ctx, r, pass.counts, func(i int) []uint32 {
		ind, _ := weights.Row(i, &buffer)
		return ind
	})
	if err != nil {
		return nil, err
	}
	return &rows.Result{
		Weights: weights, Slabs: pass.slabs(weights), Sums: pass.sums, Order: cl.Order, Group: cl.Group, Tails: tails,
		Peak: held + pass.memory.Taken(), Distance: cl.Dist2,
	}, nil
}

// Bytes is the bytes that a search of n points in d dimensions takes beside the matrix of
// weights. Every point takes the sorted and the unsorted key and order, the coordinates
// twice, and at worst cellsPerPoint cells, or a cell and its row, and a cluster and its
// box. To this come what every search keeps of a row, and the scratch memory of the
// workers.
func Bytes(n, d, workers int) int64 {
	return int64(n)*int64(rows.RowBytes+2*(8+4)+2*(8+4+4+4)+8+4*4*d) + int64(workers)*scratchBytes(n, d)
}
