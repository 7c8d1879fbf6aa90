package kernel

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A repair gives rows that the cutoff left short the weights they need: those
// at or above a threshold that follows from the row's full degree, so that n
// weights below it add up to less than the tolerance. Weights are added to
// both rows of a pair, so the graph stays symmetric and no row's bound gets
// worse. Full degrees come from direct sums over all points; outliers are few.
//
// It counts before it fills, so the memory is known first.
type repair struct {
	g         *graph
	b         Bandwidth
	readers   []rowReader // of the workers
	missed    []int       // rows to be repaired
	threshold []float64   // of every row; +Inf for those that are not
	tail      []float64   // weight still left out, for the missed rows
}

// repair returns a graph in which the rows that need it are repaired, g itself
// if none are. Where g stores no weights, those of the graph returned are the
// weights that were added.
func (g *graph) repair(ctx context.Context, b Bandwidth, op *truncated, o *Options) (*graph, error) {
	n := g.rows.Rows()
	r := &repair{g: g, b: b, threshold: make([]float64, n), readers: make([]rowReader, o.Workers.Count())}
	for i := range n {
		r.threshold[i] = math.Inf(1)
		eta := op.cert.Eta(op.first(i))
		if math.IsInf(eta, 1) || (!o.fixed() && eta > o.Tolerance) {
			r.missed = append(r.missed, i)
		}
	}
	if len(r.missed) == 0 || o.Tolerance <= op.cert.EntryRel {
		return g, nil // nothing to do, or nothing that float32 weights could do
	}
	r.tail = make([]float64, len(r.missed))
	progress := o.progress("repair rows", 3*len(r.missed))
	pass := func(do func(worker, piece, i int)) error {
		return o.Workers.Do(ctx, len(r.missed), par.Func(func(worker, piece int) {
			if r.readers[worker] == nil {
				r.readers[worker] = g.rows.reader(1)
			}
			do(worker, piece, r.missed[piece])
			progress.Add()
		}))
	}
	// Half of the tolerance leaves room for the stored format.
	share := 0.5 * (o.Tolerance - op.cert.EntryRel) / float64(op.N())
	if err := pass(func(_, _, i int) { r.threshold[i] = max(share*r.degree(i), 0x1p-126) }); err != nil {
		return nil, err
	}
	counts := make([]uint64, n+1)
	for i := 0; g.weights != nil && i < n; i++ {
		counts[i+1] = uint64(g.weights.RowLen(i))
	}
	if err := pass(func(worker, piece, i int) {
		r.missing(r.readers[worker], i, func(j int, w float64, own, both bool) {
			if !own {
				r.tail[piece] += w * g.multiplicity(j)
				return
			}
			atomic.AddUint64(&counts[i+1], 1)
			if !both {
				atomic.AddUint64(&counts[j+1], 1)
			}
		})
	}); err != nil {
		return nil, err
	}
	ptr, ind, val, err := o.allocate(ctx, counts, g.peak)
	if err != nil {
		return nil, err
	}
	next := slices.Clone(ptr[:n])
	if g.weights != nil {
		const rowsPerPiece = 1024
		if err := o.Workers.Do(ctx, par.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
			var buffer sparse.RowBuffer
			lo, hi := par.Block(piece, n, rowsPerPiece)
			for i := lo; i < hi; i++ {
				oldInd, oldVal := g.weights.Row(i, &buffer)
				copy(ind[ptr[i]:], oldInd)
				copy(val[ptr[i]:], oldVal)
				next[i] += uint64(len(oldInd))
			}
		})); err != nil {
			return nil, err
		}
	}
	put := func(i, j int, w float64) {
		at := atomic.AddUint64(&next[i], 1) - 1
		ind[at], val[at] = uint32(j), float32(w)
	}
	if err := pass(func(worker, _, i int) {
		r.missing(r.readers[worker], i, func(j int, w float64, own, both bool) {
			if own {
				put(i, j, w)
				if !both {
					put(j, i, w)
				}
			}
		})
	}); err != nil {
		return nil, err
	}
	// Which worker came first shows only in the order within a row.
	if err := sortRows(ctx, ptr, ind, val, o.Workers); err != nil {
		return nil, err
	}
	repaired := *g
	repaired.sums, repaired.slabs = nil, nil // the weights are others, and elsewhere
	repaired.tail = slices.Clone(g.tail)
	for piece, i := range r.missed {
		repaired.tail[i] = r.tail[piece]
	}
	if repaired.weights, err = sparse.Adopt(ctx, o.Workers, o.exact(), n, n, ptr, ind, val); err != nil {
		return nil, err
	}
	size, _ := sparse.Bytes(o.exact(), n, uint64(len(ind)))
	repaired.peak = g.peak + size
	return &repaired, nil
}

// degree is the full degree of row i.
func (r *repair) degree(i int) float64 {
	sum := r.g.multiplicity(i) - 1
	for j := range r.g.rows.Rows() {
		if j != i {
			sum += r.b.Weight(r.g.distance(i, j)) * r.g.multiplicity(j)
		}
	}
	return sum
}

// missing visits the pairs of row i that the graph does not have. own says whether the
// row's threshold asks for the weight; both, whether the partner's does too
// and will add the pair from its side.
func (r *repair) missing(reader rowReader, i int, visit func(j int, w float64, own, both bool)) {
	stored, _ := reader.row(i)
	for j := range r.g.rows.Rows() {
		if len(stored) > 0 && int(stored[0]) == j {
			stored = stored[1:]
			continue
		}
		if j != i {
			w := r.b.Weight(r.g.distance(i, j))
			visit(j, w, w >= r.threshold[i], w >= r.threshold[j])
		}
	}
}

// sortRows orders rows to which workers added in any order.
func sortRows(ctx context.Context, ptr []uint64, ind []uint32, val []float32, workers *par.Workers) error {
	const rowsPerPiece = 256
	rows := len(ptr) - 1
	return workers.Do(ctx, par.Blocks(rows, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, rows, rowsPerPiece)
		var entries []uint64
		for i := lo; i < hi; i++ {
			entries = sortRow(ind[ptr[i]:ptr[i+1]], val[ptr[i]:ptr[i+1]], entries)
		}
	}))
}
