package cells

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

const (
	// clustersPerPiece is how many clusters a worker takes at a time.
	clustersPerPiece = 512
	// A batch has at most batchPoints candidates in at most batchSpans spans, which bounds
	// the scratch memory whatever the points are. Neighbours come out the same however the
	// candidates are split into batches.
	batchPoints = 4096
	batchSpans  = 256
)

// A pass visits every distinct point and stores its neighbours with their weights.
//
// All points of a cluster are tested against the same candidates: the points of the cells
// around the cluster, without the clusters whose boxes are beyond the radius. Candidates
// come in ascending order, and so do the columns of a row of weights.
type pass struct {
	ctx       context.Context
	cl        *List
	kernels   *simd.Kernels
	gamma     float64
	scratches []*scratch
	progress  *rows.Progress
	memory    rows.Memory
	found     [][]sparse.Rows // rows found in each piece of work
	columns   [][]rows.Span   // of the candidates that the rows found were chosen from; nil for one process, which does not ask
	counts    []uint32        // number of neighbours of each point that this rank visits; of others anything
	sums      []float64       // sum of the weights of each point that this rank visits; of others 0
	sample    sample          // of the clusters
	sampled   []float64       // of each cluster of the sample how many neighbours its points have, and its seconds where there are several ranks
}

// scratch is the scratch memory of a worker.
type scratch struct {
	rows.Writer
	sweep      *Sweep
	spans      []uint32  // spans of the points of a batch: begin and end of each
	points     int       // points in the spans
	columns    rows.Span // of all candidates since the last cut
	candidates *simd.Candidates
	ind        []uint32  // neighbours found in a batch, of all points of a cluster
	d2         []float64 // their squared distances
	counts     [ClusterPoints]uint32
	stage      stage
	outInd     []uint32           // columns of a cluster whose candidates come in batches
	outVal     []float32          // weights of the same
	next       [ClusterPoints]int // where in outInd the next neighbour of each point goes
}

// A stage says what is done with the candidates of a cluster. Mostly the candidates are
// one batch, and the neighbours among them are stored at once. Otherwise the neighbours
// in all batches are counted first, so that each row of weights has its place, and the
// batches are then tested again to fill the rows.
type stage int

const (
	oneBatch stage = iota
	counting
	filling
)

// newPass returns a pass over the clusters of cl.
func newPass(ctx context.Context, cl *List, r *rows.Request) *pass {
	p := &pass{
		ctx: ctx, cl: cl, kernels: r.Kernels, gamma: r.Gamma, scratches: make([]*scratch, r.Workers.Count()),
		found: make([][]sparse.Rows, cl.workPieces()), counts: make([]uint32, cl.N), sums: make([]float64, cl.N),
	}
	mem.Huge(p.sums)
	if !r.Sharing().Alone() {
		p.columns = make([][]rows.Span, len(p.found))
	}
	return p
}

// batchOf returns how many of n points a batch has at most.
func batchOf(n int) int { return min(n, batchPoints) }

// scratchBytes is the bytes that the scratch memory of a worker takes with n points in d
// dimensions. Two things are not in it: the windows of the sweep, of which there are as
// many as rows of cells around a row, and the rows of weights that the worker stores.
func scratchBytes(n, d int) int64 {
	batch := int64(batchOf(n))
	out := ClusterPoints*batch + 2*simd.CoordinatePad
	return 2*4*batchSpans + int64((8+4)*d+4)*(batch+32) + (4+8)*out + 16*ClusterPoints + 8*rows.PieceRows + 512
}

// scratch returns the scratch memory of a worker.
func (p *pass) scratch(worker int) *scratch {
	if p.scratches[worker] == nil {
		p.scratches[worker] = newScratch(p)
	}
	return p.scratches[worker]
}

// newScratch returns scratch memory for a worker of p.
func newScratch(p *pass) *scratch {
	cl := p.cl
	batch := batchOf(cl.N)
	out := ClusterPoints*batch + simd.CoordinatePad
	return &scratch{
		Writer: rows.NewWriter(&p.memory, rows.PieceRows+ClusterPoints),
		sweep:  cl.Sweep(p.kernels), spans: make([]uint32, 0, 2*batchSpans),
		candidates: simd.NewCandidates(cl.D, batch), ind: make([]uint32, out), d2: make([]float64, out),
	}
}

// workPieces returns the number of pieces of work a pass is split into.
func (cl *List) workPieces() int { return split.Blocks(len(cl.First)-1, clustersPerPiece) }

// visitPieces lets the workers do the pieces from to to-1.
func (p *pass) visitPieces(r *rows.Request, from, to int) error {
	p.progress = r.Stage("find neighbours", to-from)
	if err := r.Workers.Do(p.ctx, to-from, par.Func(func(worker, piece int) { p.Run(worker, from+piece) })); err != nil {
		return err
	}
	return p.ctx.Err() // a piece may have been left half done
}

// Run does one piece.
func (p *pass) Run(worker, piece int) {
	cl, sc := p.cl, p.scratch(worker)
	from, to := split.Block(piece, len(cl.First)-1, clustersPerPiece)
	begin := cl.First[from]
	sc.columns = rows.NoColumns
	if !sc.sweep.Clusters(from, to, func(c int) bool {
		if !p.search(sc, c) {
			return false
		}
		if sc.Full() || c == to-1 {
			found := sc.Cut()
			end := cl.First[c+1]
			if p.columns != nil {
				p.columns[piece] = append(p.columns[piece], sc.columns)
			}
			sc.columns = rows.NoColumns
			// The weights are summed while they are in the cache.
			p.kernels.SumSparse(p.sums[begin:end], found.Ptr, found.Val)
			p.found[piece], begin = append(p.found[piece], found), end
		}
		return true
	}) {
		return
	}
	p.progress.Add()
}

// slabs returns the memory of the rows found; nil when the matrix is in other memory.
func (p *pass) slabs(weights *sparse.CSR) (all []*rows.Slab) {
	if weights.Layout() != sparse.Plain {
		return nil
	}
	for _, sc := range p.scratches {
		if sc != nil {
			all = append(all, sc.Reusable()...)
		}
	}
	return all
}

// search finds the neighbours of the points of cluster c. It returns false where there is
// no memory for them, and where candidates come in batches, so that a piece takes its
// time, and the context has ended.
func (p *pass) search(sc *scratch, c int) bool {
	first, end := p.cl.First[c], p.cl.First[c+1]
	counts := p.counts[first:end]
	sc.stage = oneBatch
	p.visit(sc, c)
	if sc.stage == counting {
		if p.ctx.Err() != nil {
			return false
		}
		total := 0
		for i, n := range counts {
			sc.next[i], total = total, total+int(n)
		}
		if sc.outInd, sc.outVal = sc.Grow(total); len(sc.outInd) < total {
			return false
		}
		sc.stage = filling
		p.visit(sc, c)
	}
	sc.End(counts)
	return !p.memory.Short()
}

// visit collects the candidates of cluster c and tests them.
func (p *pass) visit(sc *scratch, c int) {
	sc.sweep.Candidates(c, func(from, to uint32) { p.add(sc, c, from, to) })
	p.test(sc, c)
}

// add makes the points from to to-1 candidates of cluster c. It tests the candidates of
// a batch as soon as the batch is full.
func (p *pass) add(sc *scratch, c int, from, to uint32) {
	batch := batchOf(p.cl.N)
	if from < to {
		sc.columns.Least, sc.columns.Most = min(sc.columns.Least, from), max(sc.columns.Most, to-1)
	}
	for from < to {
		last := len(sc.spans) - 1
		join := last > 0 && sc.spans[last] == from
		if sc.points == batch || !join && len(sc.spans) == cap(sc.spans) {
			if sc.stage == oneBatch { // this batch is not the only one
				sc.stage = counting
				clear(p.counts[p.cl.First[c]:p.cl.First[c+1]])
			}
			p.test(sc, c)
			join = false
		}
		end := min(to, from+uint32(batch-sc.points))
		if join {
			sc.spans[last] = end
		} else {
			sc.spans = append(sc.spans, from, end)
		}
		sc.points += int(end - from)
		from = end
	}
}

// test looks for neighbours of the points of cluster c among its candidates: all
// candidates, or the candidates of a batch.
func (p *pass) test(sc *scratch, c int) {
	cl := p.cl
	first, end := int(cl.First[c]), int(cl.First[c+1])
	alone := sc.points == 1 && sc.stage == oneBatch // the point itself
	if !alone {
		p.kernels.Collect(sc.candidates, simd.RowsOf(cl.Axis, cl.N), sc.spans)
	}
	sc.spans, sc.points = sc.spans[:0], 0
	switch {
	case alone:
		p.counts[first] = 0
	case sc.stage == oneBatch:
		p.storeAll(sc, first, end)
	case sc.stage == counting:
		p.countBatch(sc, first, end)
	default:
		p.fillBatch(sc, first, end)
	}
}

// storeAll stores the neighbours of the points from first to end-1, whose candidates are
// one batch: rows one behind the other, as they will be in the matrix.
func (p *pass) storeAll(sc *scratch, first, end int) {
	cl, counts := p.cl, p.counts[first:end]
	// Mostly the writer has free memory for all candidates, so that nothing has to move.
	out := sc.Free()
	direct := len(out) >= len(counts)*sc.candidates.Len()+simd.CoordinatePad
	if !direct {
		out = sc.ind
	}
	total := p.kernels.FindNear(out, sc.d2, counts, sc.candidates, simd.RowsOf(cl.Axis, cl.N), first, cl.Radius2)
	ind, val := sc.Grow(total)
	if len(ind) < total {
		return
	}
	if !direct {
		copy(ind, out)
	}
	p.kernels.Weights(val, sc.d2[:total], p.gamma)
}

// countBatch counts the neighbours of the points from first to end-1 in a batch.
func (p *pass) countBatch(sc *scratch, first, end int) {
	cl, counts := p.cl, sc.counts[:end-first]
	p.kernels.CountNear(counts, sc.candidates, simd.RowsOf(cl.Axis, cl.N), first, cl.Radius2)
	for i, count := range counts {
		p.counts[first+i] += count
	}
}

// fillBatch stores the neighbours of the points from first to end-1 in a batch where
// their rows go on.
func (p *pass) fillBatch(sc *scratch, first, end int) {
	cl, counts := p.cl, sc.counts[:end-first]
	p.kernels.FindNear(sc.ind, sc.d2, counts, sc.candidates, simd.RowsOf(cl.Axis, cl.N), first, cl.Radius2)
	found := 0
	for i, count := range counts {
		at, n := sc.next[i], int(count)
		copy(sc.outInd[at:], sc.ind[found:found+n])
		p.kernels.Weights(sc.outVal[at:at+n], sc.d2[found:found+n], p.gamma)
		sc.next[i] += n
		found += n
	}
}
