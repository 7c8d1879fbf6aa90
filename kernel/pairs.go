package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/simd"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Pairs is the Gaussian kernel truncated at a radius, weights made anew for every
// product: what csr is, in a fraction of its memory, for points in 1 to 8 dimensions.
//
// The points are those of the cell list, in clusters of at most 32 with bounding
// boxes. What is kept is, for each cluster, which others have boxes within the
// radius. A product takes the distances between the points of such clusters, drops
// those beyond the radius, and multiplies the weights of the others with x: the same
// neighbours and the same weights, bit by bit, as csr has, and so the same
// certificate. With f the share of the distances that are within the radius (about
// one half in the plane where there are many neighbours, one quarter in space) a
// product takes nnz/f distances and nnz weights more than that of csr, and
// 4/(32 f) bytes a weight in place of 8.
type Pairs struct {
	truncated
	list       *pairList
	neighbours float64
}

// NewPairs builds the operator. The points are not needed afterwards.
func NewPairs(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (*Pairs, error) {
	pts, o, err := open(p, b, opt)
	if err != nil {
		return nil, err
	}
	radius := o.CutoffRadius
	if radius == 0 {
		pr, err := takeProfile(ctx, pts, o)
		if err != nil {
			return nil, err
		}
		radius = truncationRadius(pts, b, pr, o)
	}
	return newPairs(ctx, pts, b, radius, o)
}

func newPairs(ctx context.Context, p *pointSet, b Bandwidth, radius float64, o *Options) (*Pairs, error) {
	if p.d > maxDirect {
		return nil, fmt.Errorf("kernel: build pairs: %w: %d dimensions, at most %d", ErrOperator, p.d, maxDirect)
	}
	if o.Neighbours > 0 {
		return nil, fmt.Errorf("kernel: build pairs: %w: %s", ErrOperator, pairsHaveARadius)
	}
	op := &Pairs{truncated: truncated{set: o.Workers, kernels: o.Kernels, radius: radius}}
	radius = min(radius, maxRadius(b))
	complete := radius >= p.farthest()
	if complete {
		radius, op.radius = p.farthest(), math.Inf(1)
	} else {
		op.radius = radius
	}
	held := searchBytes(p.n, p.d, o) + int64(o.Workers.Workers())*pairReaderBytes(o.Columns)
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "build pairs", Need: held, Budget: o.BudgetBytes}
	}
	cl, err := newCellList(ctx, p, radius, o.Workers)
	if err != nil {
		return nil, buildError("pairs", err)
	}
	if op.list, err = newPairList(ctx, cl, b, o.BudgetBytes-held, o); err != nil {
		return nil, buildError("pairs", err)
	}
	sums, counts, err := op.list.weigh(ctx, o)
	if err != nil {
		return nil, buildError("pairs", err)
	}
	g := &graph{
		rows: op.list, sums: sums, order: cl.order, group: cl.group, radius: op.radius,
		entryRel: directRel(p.d) + 1.18*0x1p-24, // simd.Weights
		peak:     held + op.list.bytes(), distance: cl.dist2,
	}
	if complete {
		g.tail = make([]float64, cl.n)
	} else if g.tail, err = cl.tails(ctx, b, radius, counts, op.list, o); err != nil {
		return nil, buildError("pairs", err)
	}
	if err := op.adopt(ctx, g, p.n); err != nil {
		return nil, buildError("pairs", err)
	}
	if o.Isolated == Repair {
		repaired, err := g.repair(ctx, b, &op.truncated, o)
		if err != nil {
			return nil, buildError("pairs: repair", err)
		}
		if repaired != g {
			op.list.added = repaired.weights
			g = repaired
			g.sums = sums
			if err := op.adopt(ctx, g, p.n); err != nil {
				return nil, buildError("pairs: repair", err)
			}
		}
	}
	if err := op.checkPolicy("pairs", o); err != nil {
		return nil, err
	}
	op.neighbours = op.meanNeighbours(counts)
	op.cost = pairsCost(p.n, p.d, op.neighbours*float64(p.n), op.list.tested(), o)
	op.cost.PeakBytes, op.cost.ResidentBytes = g.peak, op.list.resident()+int64(p.n)*(8+4+4+4)
	return op, nil
}

// adopt takes over a graph.
func (op *Pairs) adopt(ctx context.Context, g *graph, n int) error {
	// Products are those of csr; where candidates come in batches these are added in
	// float64 and rounded once more.
	return op.settle(ctx, g, n, 5.2*0x1p-24, func(dst []float64, lo, hi int) {
		copy(dst, g.sums[lo:hi])
		if op.list.added != nil {
			more := make([]float64, hi-lo)
			op.list.added.SumRows(op.kernels, more, lo, hi)
			for i, v := range more {
				dst[i] += v
			}
		}
	})
}

// Name returns "pairs".
func (op *Pairs) Name() string { return "pairs" }

// Close lets go of the points.
func (op *Pairs) Close() error {
	*op = Pairs{}
	return nil
}

// Neighbours returns the mean number of neighbours of a point, equal points
// included.
func (op *Pairs) Neighbours() float64 { return op.neighbours }

func (op *Pairs) meanNeighbours(counts []uint32) float64 {
	sum := 0.0
	doubles := op.list.cl.doubles(op.list)
	for i, count := range counts {
		near := float64(count)
		if doubles != nil {
			near += float64(doubles[i])
		}
		if op.list.added != nil {
			near += float64(op.list.added.RowLen(i)) // few, and rarely equal to others
		}
		sum += near * float64(op.first(i+1)-op.first(i))
	}
	return sum / float64(op.N())
}

// A pairList holds, for each cluster of a cell list, the spans of points that may be
// within the radius of its own. It is the rows of weights between distinct points.
type pairList struct {
	cl      *cellList
	gamma   float64
	kernels *Kernels
	chunk   []pairChunk
	added   *sparse.CSR // weights of repaired rows beyond the radius; nil if there are none
}

// pairChunk is the list of some clusters.
type pairChunk struct {
	ptr   []uint32 // of each cluster's spans, and the end
	spans []uint32 // pairs of numbers: the first point and the one behind the last
}

// clustersPerChunk is the number of clusters of a chunk: one or two thousand points.
const clustersPerChunk = 64

func newPairList(ctx context.Context, cl *cellList, b Bandwidth, budget int64, o *Options) (*pairList, error) {
	clusters := len(cl.first) - 1
	l := &pairList{cl: cl, gamma: b.gamma, kernels: o.Kernels, chunk: make([]pairChunk, par.Blocks(clusters, clustersPerChunk))}
	sweeps := make([]*sweep, o.Workers.Workers())
	progress := o.progress("list pairs", len(l.chunk))
	var taken atomic.Int64
	err := o.Workers.Do(ctx, len(l.chunk), par.Func(func(worker, piece int) {
		if taken.Load() > budget {
			return
		}
		if sweeps[worker] == nil {
			sweeps[worker] = newSweep(cl, o.Kernels, cl.searchBands())
		}
		from, to := par.Block(piece, clusters, clustersPerChunk)
		ptr, spans := make([]uint32, 1, to-from+1), []uint32(nil)
		sweeps[worker].clusters(from, to, func(c int) bool {
			begin := len(spans)
			sweeps[worker].candidates(c, func(from, to uint32) {
				switch last := len(spans) - 1; {
				case from >= to:
				case last > begin && spans[last] == from:
					spans[last] = to
				default:
					spans = append(spans, from, to)
				}
			})
			ptr = append(ptr, uint32(len(spans)))
			return true
		})
		l.chunk[piece] = pairChunk{ptr, slices.Clip(slices.Clone(spans))}
		taken.Add(int64(4 * (len(ptr) + len(spans))))
		progress.add()
	}))
	if err != nil {
		return nil, err
	}
	if taken.Load() > budget {
		return nil, &MemoryError{What: "build pairs: list of cluster pairs", Need: saturate(float64(o.BudgetBytes-budget) + float64(taken.Load())), Budget: o.BudgetBytes}
	}
	return l, nil
}

// bytes is the memory of the list.
func (l *pairList) bytes() (sum int64) {
	for i := range l.chunk {
		sum += int64(4 * (len(l.chunk[i].ptr) + len(l.chunk[i].spans)))
	}
	return sum
}

// resident is the memory of the list and the points.
func (l *pairList) resident() int64 {
	sum := l.bytes() + int64(4*len(l.cl.axis)+4*len(l.cl.start)+4*len(l.cl.first))
	if l.added != nil {
		sum += l.added.Size()
	}
	return sum
}

// tested is the number of distances a product takes.
func (l *pairList) tested() (sum float64) {
	for c := range len(l.cl.first) - 1 {
		points, spans := l.cl.first[c+1]-l.cl.first[c], l.spans(c)
		for s := 0; s < len(spans); s += 2 {
			sum += float64(points) * float64(spans[s+1]-spans[s])
		}
	}
	return sum
}

// spans returns the candidates of cluster c.
func (l *pairList) spans(c int) []uint32 {
	chunk := &l.chunk[c/clustersPerChunk]
	at := c % clustersPerChunk
	return chunk.spans[chunk.ptr[at]:chunk.ptr[at+1]]
}

// Rows returns the number of distinct points.
func (l *pairList) Rows() int { return l.cl.n }

// Chunks returns the number of chunks.
func (l *pairList) Chunks() int { return len(l.chunk) }

// Chunk returns the points of a chunk.
func (l *pairList) Chunk(c int) (lo, hi int) {
	from, to := par.Block(c, len(l.cl.first)-1, clustersPerChunk)
	return int(l.cl.first[from]), int(l.cl.first[to])
}

// weigh returns the sums of the weights of every point, and the number of its
// neighbours.
func (l *pairList) weigh(ctx context.Context, o *Options) (sums []float64, counts []uint32, err error) {
	sums, counts = make([]float64, l.cl.n), make([]uint32, l.cl.n)
	readers := make([]*pairReader, o.Workers.Workers())
	progress := o.progress("degrees", len(l.chunk))
	err = o.Workers.Do(ctx, len(l.chunk), par.Func(func(worker, piece int) {
		if readers[worker] == nil {
			readers[worker] = l.newReader(1)
		}
		r := readers[worker]
		var part [clusterPoints]float64
		from, to := par.Block(piece, len(l.cl.first)-1, clustersPerChunk)
		for c := from; c < to; c++ {
			first, end := int(l.cl.first[c]), int(l.cl.first[c+1])
			for r.start(l.spans(c)); r.next(first, end); {
				l.kernels.SumRows(part[:end-first], r.ptr[:end-first+1], r.val)
				for i := range end - first {
					sums[first+i] += part[i]
					counts[first+i] += r.counts[i]
				}
			}
		}
		progress.add()
	}))
	return sums, counts, err
}

// A pairReader makes rows of weights from a list of pairs. It is the scratch memory
// of a worker.
type pairReader struct {
	l          *pairList
	candidates *simd.Candidates
	spans      []uint32 // of candidates that next has not taken
	from       uint32   // and where it goes on in the first
	batch      []uint32 // spans of those it has
	ind        []uint32 // neighbours among them, of all points of a cluster
	d2         []float64
	val        []float32 // their weights
	counts     [clusterPoints]uint32
	ptr        [clusterPoints + 1]uint64
	part       []float32 // product of a batch
	sum        []float64 // of all batches
	rowInd     []uint32  // of one row
	rowVal     []float32
	buffer     sparse.RowBuffer
}

// pairBatch is the most candidates that are tested at a time: what is found among
// them stays in the second-level cache.
const pairBatch = 512

// pairReaderBytes is what a worker takes for k columns.
func pairReaderBytes(k int) int64 {
	return clusterPoints*pairBatch*(4+8+4) + pairBatch*(maxDirect*8+12) + clusterPoints*int64(k)*12
}

func (l *pairList) reader(k int) rowReader { return l.newReader(k) }

func (l *pairList) newReader(k int) *pairReader {
	const out = clusterPoints*pairBatch + simd.CoordinatePad
	return &pairReader{
		l: l, candidates: simd.NewCandidates(l.cl.d, pairBatch), batch: make([]uint32, 0, 2*pairBatch),
		ind: make([]uint32, out), d2: make([]float64, out), val: make([]float32, out),
		part: make([]float32, clusterPoints*k), sum: make([]float64, clusterPoints*k),
	}
}

// start makes the spans the candidates that next takes.
func (r *pairReader) start(spans []uint32) {
	if r.spans = spans; len(spans) > 0 {
		r.from = spans[0]
	}
}

// next finds the weights of points lo to hi-1, all of one cluster, with the next
// candidates, and tells whether there were any.
func (r *pairReader) next(lo, hi int) bool {
	if len(r.spans) == 0 {
		return false
	}
	r.batch = r.batch[:0]
	for room := uint32(pairBatch); len(r.spans) > 0 && room > 0; {
		to := min(r.spans[1], r.from+room)
		r.batch = append(r.batch, r.from, to)
		room -= to - r.from
		if r.from = to; to == r.spans[1] {
			r.start(r.spans[2:])
		}
	}
	cl, kernels, counts := r.l.cl, r.l.kernels, r.counts[:hi-lo]
	kernels.Collect(r.candidates, cl.axis, cl.n, r.batch)
	found := kernels.Near(r.ind, r.d2, counts, r.candidates, cl.axis, cl.n, lo, cl.radius2)
	kernels.Weights(r.val[:found], r.d2[:found], r.l.gamma)
	for i, count := range counts {
		r.ptr[i+1] = r.ptr[i] + uint64(count)
	}
	return true
}

// mul sets rows lo to hi-1 of dst, the first at its beginning, to those of W x.
func (r *pairReader) mul(dst []float32, dstStride, lo, hi, k int, x []float32, stride int) {
	first := r.l.cl.first
	c := sort.Search(len(first)-1, func(c int) bool { return int(first[c+1]) > lo })
	for at := lo; at < hi; c++ {
		end := min(int(first[c+1]), hi)
		r.product(dst[(at-lo)*dstStride:], dstStride, c, at, end, k, x, stride)
		at = end
	}
}

// product does points lo to hi-1 of cluster c.
func (r *pairReader) product(dst []float32, dstStride, c, lo, hi, k int, x []float32, stride int) {
	rows, kernels, added := hi-lo, r.l.kernels, r.l.added
	r.start(r.l.spans(c))
	r.next(lo, hi)
	if len(r.spans) == 0 && added == nil {
		kernels.MulRowsF32(dst, dstStride, k, r.ptr[:rows+1], r.ind, r.val, x, stride)
		return
	}
	part, sum := r.part[:rows*k], r.sum[:rows*k]
	clear(sum)
	add := func() {
		for i, v := range part {
			sum[i] += float64(v)
		}
	}
	for more := true; more; more = r.next(lo, hi) {
		kernels.MulRowsF32(part, k, k, r.ptr[:rows+1], r.ind, r.val, x, stride)
		add()
	}
	if added != nil {
		added.MulRows(kernels, part, k, lo, hi, k, x, stride)
		add()
	}
	for i := range rows {
		for c, v := range sum[i*k:][:k] {
			dst[i*dstStride+c] = float32(v)
		}
	}
}

// row returns the weights of distinct point i, columns ascending.
func (r *pairReader) row(i int) (ind []uint32, val []float32) {
	first := r.l.cl.first
	c := sort.Search(len(first)-1, func(c int) bool { return int(first[c+1]) > i })
	r.rowInd, r.rowVal = r.rowInd[:0], r.rowVal[:0]
	for r.start(r.l.spans(c)); r.next(i, i+1); {
		r.rowInd, r.rowVal = append(r.rowInd, r.ind[:r.ptr[1]]...), append(r.rowVal, r.val[:r.ptr[1]]...)
	}
	if r.l.added != nil {
		ind, val := r.l.added.Row(i, &r.buffer)
		for e, j := range ind {
			at, _ := slices.BinarySearch(r.rowInd, j)
			r.rowInd, r.rowVal = slices.Insert(r.rowInd, at, j), slices.Insert(r.rowVal, at, val[e])
		}
	}
	return r.rowInd, r.rowVal
}

// pairsCandidate plans the graph of csr without its weights.
const pairsHaveARadius = "the graph asked for is that of nearest neighbours; pairs are cut at a radius"

func pairsCandidate(ctx context.Context, p *pointSet, b Bandwidth, pr *profile, o *Options) Candidate {
	c := csrCandidate(ctx, p, b, pr, o)
	if p.d > maxDirect {
		return Candidate{Radius: c.Radius, Neighbours: c.Neighbours, Eta: c.Eta, Reason: fmt.Sprintf("for up to %d dimensions", maxDirect)}
	}
	if o.Neighbours > 0 {
		c.Feasible, c.Reason = false, pairsHaveARadius
		return c
	}
	nnz := c.Neighbours * float64(p.n)
	c.Cost = pairsCost(p.n, p.d, nnz, testedPairs(p.n, p.d, nnz), o)
	c.Reason = fmt.Sprintf("about %.4g neighbours a row within %.4g, weights made anew at every step", c.Neighbours, c.Radius)
	if math.IsInf(c.Radius, 1) {
		c.Reason = "every pair, weights made anew at every step"
	}
	return c
}

// testedPairs estimates how many distances a cell list takes to find so many weights,
// as the benchmarks show it: the more points there are around a cluster the better its
// box fits, and the fewer in many dimensions.
func testedPairs(n, d int, nnz float64) float64 {
	neighbours := nnz / float64(n)
	best := [...]float64{1: 0.8, 2: 0.6, 3: 0.27}[min(d, 3)] * math.Pow(0.35, float64(max(d-3, 0)))
	within := best * math.Sqrt(neighbours/(neighbours+50*float64(d-1)+1)) // the share of them within the radius
	return min(nnz/max(within, 1e-9), float64(n)*float64(n))
}

// pairsCost estimates the cost for a number of weights and of distances taken.
func pairsCost(n, d int, nnz, tested float64, o *Options) Cost {
	rows, columns := float64(n), float64(o.Columns)
	step := rows*pairRowSeconds + tested*float64(d)*pairTestSeconds + nnz*(pairWeightSeconds+columns*csrAxpySeconds) + rows*columns*csrFinishSeconds
	list := 8*tested/clusterPoints/clusterPoints + 8*rows // at most a span for each cluster that is tested
	return Cost{
		BuildSeconds: rows*sortSeconds + step, StepSeconds: step,
		ResidentBytes: saturate(rows*(4*float64(d)+8+4+4+4) + list),
		PeakBytes:     saturate(float64(searchBytes(n, d, o)) + float64(o.Workers.Workers())*float64(pairReaderBytes(o.Columns)) + list),
		StreamedBytes: saturate(rows*(4*float64(d)+8*columns+12) + list),
		Flops:         3*float64(d)*tested + nnz*(10+2*columns),
	}
}
