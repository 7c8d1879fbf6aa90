package truncated

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/tree"
	"github.com/seed-64e14a55/privatemail/par"
)

// A repair gives rows that miss the tolerance the weights they need, in a graph that
// follows from the tolerance: those at or above a
// threshold that follows from the row's degree with every pair, so that n weights below
// it add up to less than the tolerance. Weights are added to both rows of a pair, so the
// graph stays symmetric and no row's bound gets worse.
//
// The degree is at least the weight of the nearest point, so the threshold is at least a
// known share of it: points farther away than a reach that follows from the nearest are
// below, and count with what they could weigh at most. An index of the points finds those
// within the reach.
//
// It counts before it fills, so the memory is known first.
type repair struct {
	g         *graph.Graph
	b         base.Bandwidth
	o         *base.Options
	progress  *rows.Progress
	readers   []graph.RowReader // of the workers
	missed    []int             // rows to be repaired
	threshold []float64         // of every row; +Inf for those that are not repaired
	tail      []float64         // weight still left out, for the missed rows
	points    int               // equal ones included
	index     *tree.Index
	reach2    []float64  // squared reach of the missed rows
	near      [][]uint32 // of the workers: points within the reach of a row
}

// repairGraph returns a graph in which the rows that need it are repaired, g itself
// if none are. Where g stores no weights, those of the graph returned are the
// weights that were added.
func repairGraph(ctx context.Context, g *graph.Graph, p *rows.Points, b base.Bandwidth, op *Truncated, o *base.Options) (*graph.Graph, error) {
	if o.Fixed() {
		return mendGraph(ctx, g, p, b, op, o)
	}
	r := newRepair(g, b, op, o)
	if len(r.missed) == 0 || o.Tolerance <= op.Cert.EntryRel {
		return g, nil // nothing to do, or nothing that float32 weights could do
	}
	// The other half of the tolerance is for the stored format.
	share := 0.5 * (o.Tolerance - op.Cert.EntryRel) / float64(op.N())
	held := mem.Saturate(float64(g.Peak) + float64(tree.IndexBytes(p.N, p.D)))
	err := o.Take("repair rows: index of the points", held)
	if err != nil {
		return nil, err
	}
	if r.index, err = g.Index(ctx, p, o.Workers); err != nil {
		return nil, err
	}
	if err := r.each(ctx, func(worker, piece, i int) {
		// A little farther, so that rounding keeps no weight from a row that its partner
		// leaves to it.
		reach := min(math.Sqrt(r.index.Nearest(i)-math.Log(share)/b.Gamma()), b.MaxRadius()) * (1 + 1e-9)
		r.reach2[piece] = reach * reach
		r.threshold[i] = max(share*r.degree(worker, piece, i), 0x1p-126)
	}); err != nil {
		return nil, err
	}
	counts, err := r.count(ctx)
	if err != nil {
		return nil, err
	}
	request := graph.RequestOf(o, nil, b, g.Radius)
	arrays, err := request.Allocate(ctx, counts, held)
	if err != nil {
		return nil, graph.SearchError(o, err)
	}
	if err := r.fill(ctx, arrays); err != nil {
		return nil, err
	}
	repaired, err := g.Extended(ctx, arrays, held, o)
	if err != nil {
		return nil, err
	}
	for piece, i := range r.missed {
		repaired.Tails[i] = r.tail[piece]
	}
	return repaired, nil
}

// newRepair finds the rows to be repaired.
func newRepair(g *graph.Graph, b base.Bandwidth, op *Truncated, o *base.Options) *repair {
	n := g.Rows.Rows()
	r := &repair{g: g, b: b, o: o, points: op.N(), threshold: make([]float64, n), readers: make([]graph.RowReader, o.Workers.Count())}
	for i := range n {
		r.threshold[i] = math.Inf(1)
		eta := op.Cert.Eta(op.First(i))
		if eta > o.Tolerance {
			r.missed = append(r.missed, i)
		}
	}
	r.tail, r.reach2 = make([]float64, len(r.missed)), make([]float64, len(r.missed))
	r.near = make([][]uint32, o.Workers.Count())
	r.progress = o.Stage("repair rows", 3*len(r.missed))
	return r
}

// each calls do for every row to be repaired: piece is the row's place in r.missed, and i
// the row.
func (r *repair) each(ctx context.Context, do func(worker, piece, i int)) error {
	return r.o.Workers.Do(ctx, len(r.missed), par.Func(func(worker, piece int) {
		if r.readers[worker] == nil {
			r.readers[worker] = r.g.Rows.Reader(1)
		}
		do(worker, piece, r.missed[piece])
		r.progress.Add()
	}))
}

// count returns the number of entries of the repaired graph, that of row i at i+1, and
// sets the tails of the repaired rows.
func (r *repair) count(ctx context.Context) ([]uint64, error) {
	g := r.g
	counts := g.StoredCounts()
	return counts, r.each(ctx, func(worker, piece, i int) {
		// Whatever is beyond the reach weighs less than a point there.
		r.tail[piece] = float64(r.points) * r.b.Weight(r.reach2[piece]) * (1 + 1e-9)
		r.missing(worker, piece, i, func(j int, w float64, own, both bool) {
			if !own {
				r.tail[piece] += w * g.Multiplicity(j)
				return
			}
			atomic.AddUint64(&counts[i+1], 1)
			if !both {
				atomic.AddUint64(&counts[j+1], 1)
			}
		})
	})
}

// fill writes the stored weights and those that are added to the arrays.
func (r *repair) fill(ctx context.Context, a rows.Arrays) error {
	next, err := r.g.CopyStored(ctx, a, r.o.Workers)
	if err != nil {
		return err
	}
	put := func(i, j int, w float64) {
		at := atomic.AddUint64(&next[i], 1) - 1
		a.Ind[at], a.Val[at] = uint32(j), float32(w)
	}
	if err := r.each(ctx, func(worker, piece, i int) {
		r.missing(worker, piece, i, func(j int, w float64, own, both bool) {
			if own {
				put(i, j, w)
				if !both {
					put(j, i, w)
				}
			}
		})
	}); err != nil {
		return err
	}
	// Which worker came first shows only in the order within a row.
	return graph.SortRows(ctx, a, r.o.Workers)
}

// within returns the points within the reach of row i, ascending, until the worker calls
// it again.
func (r *repair) within(worker, piece, i int) []uint32 {
	near := r.index.Within(r.near[worker][:0], i, r.reach2[piece])
	slices.Sort(near)
	r.near[worker] = near
	return near
}

// degree is the degree of row i with every point within its reach.
func (r *repair) degree(worker, piece, i int) float64 {
	sum := r.g.Multiplicity(i) - 1
	for _, j := range r.within(worker, piece, i) {
		sum += r.b.Weight(r.g.Distance(i, int(j))) * r.g.Multiplicity(int(j))
	}
	return sum
}

// missing calls visit for each pair of row i within its reach that the graph lacks. own: the threshold of
// row i asks for the weight. both: the threshold of the partner does, too, so the partner
// adds the pair from its side.
func (r *repair) missing(worker, piece, i int, visit func(j int, w float64, own, both bool)) {
	stored, _ := r.readers[worker].Weights(i)
	for _, j := range r.within(worker, piece, i) {
		for len(stored) > 0 && stored[0] < j {
			stored = stored[1:]
		}
		if len(stored) > 0 && stored[0] == j {
			continue
		}
		w := r.b.Weight(r.g.Distance(i, int(j)))
		visit(int(j), w, w >= r.threshold[i], w >= r.threshold[j])
	}
}
