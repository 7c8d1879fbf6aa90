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
	held int64 // bytes taken in addition to the weights
}

// Prepare makes the cell list of a search.
func Prepare(ctx context.Context, r *rows.Request) (*Prepared, error) {
	p := r.Points
	none, _ := r.StoredBytes(p.N)
	held := max(r.Held, Bytes(p.N, p.D, r.Workers.Count())) + none
	if err := r.TakeEqual(ctx, "cell list", held); err != nil {
		return nil, err
	}
	cl, err := NewList(ctx, p, r.Radius, r.Workers, r.Ranks)
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
	need, err := pass.need(r, r.Memory-held, entry)
	if err != nil {
		return nil, err
	}
	ranks := r.Sharing()
	need = need.of(ranks.Size())
	// Where the sample is sharp, weights that may not fit are refused now. Otherwise only those
	// that cannot fit are.
	refused := need.Least * float64(entry)
	if need.Sharp() {
		refused = rows.TightBytes(need.Most, float64(entry), r.Workers.Count())
	}
	if refused > float64(r.Memory-held) {
		return nil, rows.TooManyWeights(max(need.Mean*float64(entry), refused) + float64(held)) // on every rank
	}
	expected := rows.SlabBytes(need.Most, float64(entry), r.Workers.Count())
	if err := pass.memory.Begin(ctx, r, held, expected, entry); err != nil {
		return nil, err
	}
	shares := pass.shares(ranks)
	if err := pass.visitPieces(r, shares[ranks.Rank()], shares[ranks.Rank()+1]); err != nil {
		return nil, err
	}
	peak, err := r.Largest(ctx, "", held+pass.memory.Taken(), pass.memory.Err(need.Mean*float64(entry)))
	if err != nil {
		return nil, err
	}
	weights, err := sparse.AdoptShared(ctx, r.Workers, ranks, r.Layout, cl.N, slices.Concat(pass.found...))
	if err != nil {
		return nil, err
	}
	tails, err := pass.tails(ctx, r, weights)
	if err != nil {
		return nil, err
	}
	return &rows.Result{
		Weights: weights, Spans: slices.Concat(pass.columns...), Slabs: pass.slabs(weights), Sums: pass.sums, Order: cl.Order, Group: cl.Group, Tails: tails,
		Peak: peak, Distance: cl.Dist2,
	}, nil
}

// Bytes is the bytes that a search of n points in d dimensions takes in addition to the matrix of
// weights, at the worst of three times. While points are sorted, a point takes a key and
// an order, sorted and unsorted, or counters of cells. While equal points are collapsed, it takes
// its coordinates twice. While neighbours are found, it takes its coordinates, a cluster
// and its box, and what every search keeps of a row. All the time a point takes its order,
// and at worst cellsPerPoint cells, or a cell and its row. To this comes the scratch
// memory of the workers.
func Bytes(n, d, workers int) int64 {
	const (
		listed  = 4 + 4 + 4 + 8     // a cell: its start, its number along the last axis, and its row with a key
		counted = 4 * cellsPerPoint // the starts of all cells, or as many counters
	)
	sorting := max(2*(8+4)+listed, 4+4+2*counted)
	collapsing := 4 + max(listed, counted) + 2*4*d + 4
	finding := rows.RowBytes + max(listed+4, counted+counted) + 4*d + (4 + 2*4*d) // cells have the number of a cluster each
	return int64(n)*int64(max(sorting, collapsing, finding)) + int64(workers)*scratchBytes(n, d)
}
