package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// CSR is the Gaussian kernel truncated at a radius, weights stored as float32.
//
// Equal points share one row of weights: with S the sums of x over the points
// equal to each distinct one, (W x)_i = (W_distinct S)_g + (S_g - x_i) for a
// point i of group g, so any number of equal points costs O(n).
type CSR struct {
	weights *sparse.CSR // between distinct points
	order   []uint32
	group   []uint32 // rows group[g] to group[g+1]-1 are equal; nil if none are
	bounds  []int    // rows of each chunk of weights
	degrees []float64
	faint   []uint32 // rows of faint degree, ascending
	radius  float64
	cert    Certificate
	cost    Cost
	set     *par.Set
	kernels *Kernels
}

// NewCSR builds the truncated operator. The points are not needed afterwards.
func NewCSR(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (*CSR, error) {
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
		radius = pr.cutoff(b, o.Tolerance, farBoundOf(pts))
	}
	return newCSR(ctx, pts, b, radius, o)
}

// farBoundOf returns what the search among points knows of those dropped. It is for
// one goroutine.
func farBoundOf(p *pointSet) farBound {
	if p.d <= maxDirect {
		return cellFar(p)
	}
	return func(_, distance float64) float64 { return distance } // all pairs are measured
}

func newCSR(ctx context.Context, p *pointSet, b Bandwidth, radius float64, o *Options) (*CSR, error) {
	g, err := searchGraph(ctx, p, b, radius, o)
	if err != nil {
		return nil, fmt.Errorf("kernel: build csr: %w", err)
	}
	op := &CSR{set: o.Workers, kernels: o.Kernels, radius: g.radius}
	if err := op.adopt(ctx, g, p.n); err != nil {
		return nil, fmt.Errorf("kernel: build csr: %w", err)
	}
	if o.Isolated == Repair {
		if g, err = g.repair(ctx, b, op, o); err != nil {
			return nil, fmt.Errorf("kernel: build csr: repair: %w", err)
		}
		if err := op.adopt(ctx, g, p.n); err != nil {
			return nil, fmt.Errorf("kernel: build csr: repair: %w", err)
		}
	}
	if err := op.halve(ctx, g, p.n, o); err != nil {
		return nil, fmt.Errorf("kernel: build csr: %w", err)
	}
	if err := op.checkPolicy(o); err != nil {
		return nil, fmt.Errorf("kernel: build csr: %w", err)
	}
	op.cost = csrCost(p.n, p.d, float64(op.weights.NNZ()), o)
	op.cost.PeakBytes = g.peak
	op.cost.NNZ = int64(op.weights.NNZ())
	op.cost.StreamedBytes += op.weights.Streamed() - 8*op.cost.NNZ - 8*int64(op.weights.Rows()+1)
	op.cost.ResidentBytes += op.weights.Size() - 8*op.cost.NNZ - 8*int64(op.weights.Rows()+1)
	return op, nil
}

// checkPolicy refuses a graph that the options do not allow.
func (op *CSR) checkPolicy(o *Options) error {
	switch {
	case o.Isolated == Fail && op.cert.Isolated > 0:
		return fmt.Errorf("%w: %d of %d rows have no neighbour within %.4g", ErrIsolated, op.cert.Isolated, op.N(), op.radius)
	case o.Isolated == Fail && o.CutoffRadius == 0 && op.cert.RowMax > o.Tolerance:
		return fmt.Errorf("%w: a row has eta %.2g, asked for %.2g", ErrTolerance, op.cert.RowMax, o.Tolerance)
	case o.Isolated == Repair && o.CutoffRadius == 0 && op.worstRepairable(o.Tolerance) > o.Tolerance:
		return fmt.Errorf("repair: %w: eta %.2g is the best float32 weights allow, asked for %.2g", ErrTolerance, op.worstRepairable(o.Tolerance), o.Tolerance)
	}
	return nil
}

// worstRepairable returns the largest eta_i of the rows whose weights are not
// so small that those below the float32 range matter at the tolerance.
func (op *CSR) worstRepairable(tolerance float64) float64 {
	worst, least := 0.0, 0x1p-125*float64(op.N())/tolerance
	for i, d := range op.degrees {
		if d >= least {
			worst = max(worst, op.cert.Eta(i))
		}
	}
	return worst
}

// adopt takes over a graph: degrees, chunks and certificate follow from it.
func (op *CSR) adopt(ctx context.Context, g *graph, n int) error {
	op.weights, op.order, op.group = g.weights, g.order, g.group
	op.bounds = make([]int, op.weights.Chunks()+1)
	for c := range op.weights.Chunks() {
		lo, hi := op.weights.Chunk(c)
		op.bounds[c], op.bounds[c+1] = op.first(lo), op.first(hi)
	}
	op.cert = Certificate{Kind: DroppedMass, EntryRel: g.entryRel, Row: make([]float32, n)}
	op.degrees = make([]float64, n)
	doubles := op.doubles()
	isolated := make([]int, op.weights.Chunks())
	if err := op.set.Do(ctx, op.weights.Chunks(), par.Func(func(_, chunk int) {
		op.sumRows(chunk, g.sums, doubles)
		lo, hi := op.weights.Chunk(chunk)
		for i := lo; i < hi; i++ {
			for row := op.first(i); row < op.first(i+1); row++ {
				eta := math.Inf(1)
				if degree := op.degrees[row]; degree > 0 {
					eta = g.tail[i]*(1+1e-9)/degree + op.cert.EntryRel
				} else {
					isolated[chunk]++
				}
				op.cert.Row[row] = roundUp(eta)
			}
		}
	})); err != nil {
		return err
	}
	// simd.MulRowsF32 and the rounding of its result; where points are equal their
	// sums, in float64, are rounded too, and so is what is added to the product.
	op.cert.Rounding = 4.2 * 0x1p-24
	if op.group != nil {
		op.cert.Rounding = 6.2*0x1p-24 + float64(n)*0x1p-53
	}
	op.faint = faintRows(op.degrees)
	for _, count := range isolated {
		op.cert.Isolated += count
	}
	op.cert.rankRows()
	return nil
}

// doubles returns what equal points add to the degrees of distinct ones: the weights
// of all but one of each group. nil where no points are equal. Mostly few are, and it
// is they who tell their neighbours.
func (op *CSR) doubles() []float64 {
	if op.group == nil {
		return nil
	}
	out := make([]float64, op.weights.Rows())
	var buffer sparse.RowBuffer
	for g := range out {
		more := float64(op.first(g+1)-op.first(g)) - 1
		if more == 0 {
			continue
		}
		out[g] += more
		ind, val := op.weights.Row(g, &buffer)
		for e, j := range ind {
			out[j] += more * float64(val[e])
		}
	}
	return out
}

// sumRows sets the degrees of a chunk to W 1, summed in float64, from the sums over
// distinct points where they are known.
func (op *CSR) sumRows(chunk int, sums, doubles []float64) {
	lo, hi := op.weights.Chunk(chunk)
	first := op.first(lo)
	if sums != nil {
		copy(op.degrees[first:], sums[lo:hi])
	} else {
		op.weights.SumRows(op.kernels, op.degrees[first:][:hi-lo], lo, hi)
	}
	if doubles == nil {
		return
	}
	// From the last to the first: a group has no fewer rows than one.
	for g := hi - 1; g >= lo; g-- {
		degree := op.degrees[first+g-lo] + doubles[g]
		for row := op.first(g); row < op.first(g+1); row++ {
			op.degrees[row] = degree
		}
	}
}

// first returns the first row of distinct point g.
func (op *CSR) first(g int) int {
	if op.group == nil {
		return g
	}
	return int(op.group[g])
}

// point returns the distinct point of row i of a chunk, where points are equal.
func (op *CSR) point(chunk, i int) int {
	lo, hi := op.weights.Chunk(chunk)
	at, found := slices.BinarySearch(op.group[lo:hi], uint32(i))
	if !found {
		at-- // a row of the point before
	}
	return lo + at
}

// csrCost estimates the cost for a number of stored weights.
func csrCost(n, d int, nnz float64, o *Options) Cost {
	c := Cost{StepSeconds: nnz*(csrEntrySeconds+float64(o.Columns)*csrAxpySeconds) + float64(n)*float64(o.Columns)*csrFinishSeconds, Flops: 2 * nnz * float64(o.Columns)}
	if d <= maxDirect {
		c.BuildSeconds = float64(n)*sortSeconds + nnz*(cellPairSeconds*float64(min(int(1)<<d, 64))+weightSeconds)
	} else {
		pairs, passes := float64(n)*float64(n)/2, 2.0
		if nnz >= float64(n)*float64(n-1) {
			passes = 1 // every pair: nothing to count
		}
		c.BuildSeconds = pairs*(passes*float64(d)*distanceSeconds+denseExpSeconds) + nnz*entrySeconds
	}
	rows := float64(n)
	c.StreamedBytes = saturate(8*nnz + rows*(8*float64(o.Columns)+12))
	c.ResidentBytes = saturate(8*nnz + rows*(8+4+8+4+4))
	entry, row := 8.0, 8.0 // sparse.Bytes
	if o.exact() == sparse.Compact {
		entry, row = 11, 12
	}
	slack := 0.0
	if d <= maxDirect { // slabs that are not full, and pieces that moved from one to the next
		workers := float64(o.Workers.Workers())
		slack = pieceEntries * entry * workers
		entry *= 1 + min(1, mostSlab*workers/max(nnz, 1)) + float64(pieceEntries)/mostSlab
	}
	c.PeakBytes = saturate(entry*nnz + float64(searchBytes(n, d, o)) + row*rows + slack)
	c.NNZ = saturate(nnz)
	return c
}

// saturate converts a size to an int64, the largest where it does not fit: an
// impossible size must not come out small.
func saturate(v float64) int64 {
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}

// Name returns "csr".
func (op *CSR) Name() string { return "csr" }

// N returns the number of points.
func (op *CSR) N() int { return len(op.degrees) }

// Order returns the given row of each row of the operator.
func (op *CSR) Order() []uint32 { return op.order }

// Degrees returns W 1.
func (op *CSR) Degrees() []float64 { return op.degrees }

// Radius returns the cutoff, +Inf where every pair has a weight.
func (op *CSR) Radius() float64 { return op.radius }

// Certificate bounds the weight beyond the cutoff.
func (op *CSR) Certificate() Certificate { return op.cert }

// Cost returns what the operator takes.
func (op *CSR) Cost() Cost { return op.cost }

// Close releases the weights.
func (op *CSR) Close() error {
	*op = CSR{}
	return nil
}

// Apply sets dst = W x.
func (op *CSR) Apply(ctx context.Context, dst, x blas32.General) error {
	d, in := block32(dst), block32(x)
	if err := checkPair(op.N(), d, in); err != nil {
		return err
	}
	pass := newCSRPass(op, in.cols)
	if err := pass.run(ctx, d, in, nil); err != nil {
		return err
	}
	if pass.nonFinite.Load() {
		return checkFinite("x", in)
	}
	return nil
}

// Step sets dst to the iterate after x.
func (op *CSR) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	d, in := block32(dst), block32(x)
	if err := checkPair(op.N(), d, in); err != nil {
		return err
	}
	if err := st.begin(s, op.degrees, op.bounds, in.cols); err != nil {
		return err
	}
	pass, ok := st.operator.(*csrPass)
	if !ok || pass.op != op || pass.k != in.cols {
		pass = newCSRPass(op, in.cols)
		st.operator = pass
	}
	pass.tables.set(st)
	pass.grow(&st.partials)
	if err := pass.run(ctx, d, in, st); err != nil {
		return err
	}
	st.end()
	return nil
}

// Neighbours returns the mean number of neighbours of a point, equal points
// included.
func (op *CSR) Neighbours() float64 {
	if op.group == nil {
		return float64(op.weights.NNZ()) / float64(op.N())
	}
	sum := 0.0
	var buffer sparse.RowBuffer
	for g := range op.weights.Rows() {
		size := float64(op.first(g+1) - op.first(g))
		near := size - 1
		ind, _ := op.weights.Row(g, &buffer)
		for _, j := range ind {
			near += float64(op.first(int(j)+1) - op.first(int(j)))
		}
		sum += size * near
	}
	return sum / float64(op.N())
}
