package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// csr is the Gaussian kernel truncated at a radius, weights stored as float32.
// Any number of equal points costs O(n): they share one row of weights.
type csr struct {
	truncated
	weights    *sparse.CSR  // between distinct points
	slabs      []*rows.Slab // their memory, where others can use it afterwards
	found      rows.Stats   // what the search left
	neighbours float64      // of a point, equal points included, where ranks share the weights
}

// SearchStats say how many pairs the filters of a search by codes left. A search for
// nearest neighbours counts all points, not distinct ones, and a pair from either side; a
// pair that it looks at twice counts twice, and Measured leaves out the points that the
// search of a point begins with.
type SearchStats struct {
	// Depth is the number of entries of a code.
	Depth int
	// Pairs counts the pairs of distinct points. Compared counts those whose codes were
	// compared, because one point was near to the ball of the other. Measured counts
	// those whose distance was measured, because their codes were near. Found counts
	// those within the radius.
	Pairs, Compared, Measured, Found int64
}

// storedRows are the rows of a matrix.
type storedRows struct {
	*sparse.CSR
	kernels *simd.Kernels
}

func (s storedRows) reader(int) rowReader { return &storedReader{storedRows: s} }

type storedReader struct {
	storedRows
	buffer sparse.RowBuffer
}

func (s *storedReader) mul(dst []float32, dstStride, lo, hi, k int, x []float32, stride int) {
	s.MulRows(s.kernels, dst, dstStride, lo, hi, k, x, stride)
}

func (s *storedReader) row(i int) ([]uint32, []float32) { return s.Row(i, &s.buffer) }

// NewCSR builds the operator csr: the Gaussian kernel truncated at a radius, with stored
// weights, or that of nearest neighbours. The points are not needed afterwards.
func NewCSR(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Truncated, error) {
	pts, o, err := open(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	radius, err := pts.cutoff(ctx, b, o)
	if err != nil {
		return nil, err
	}
	return orNil[Truncated](newCSR(ctx, pts.rows, b, radius, o))
}

func newCSR(ctx context.Context, p *rows.Points, b Bandwidth, radius float64, o *Options) (*csr, error) {
	var g *graph
	var err error
	if o.Neighbours > 0 && p.N > 1 {
		g, err = nearestGraph(ctx, p, b, o.Neighbours, o)
	} else {
		g, err = searchGraph(ctx, p, b, radius, o)
	}
	if err != nil {
		return nil, buildError("csr", err)
	}
	op := &csr{found: g.Stats}
	op.begin("csr", o)
	op.radius = g.radius
	if err := op.adopt(ctx, g, p.N); err != nil {
		return nil, buildError("csr", err)
	}
	if o.Isolated == Repair {
		if g, err = g.repair(ctx, p, b, &op.truncated, o); err != nil {
			return nil, buildError("csr: repair", err)
		}
		if err := op.adopt(ctx, g, p.N); err != nil {
			return nil, buildError("csr: repair", err)
		}
	}
	if err := op.halve(ctx, g, p.N, o); err != nil {
		return nil, buildError("csr", err)
	}
	if err := op.checkPolicy(o); err != nil {
		return nil, err
	}
	if err := op.planHalo(ctx); err != nil {
		return nil, buildError("csr", err)
	}
	if err := op.shareNeighbours(ctx); err != nil {
		return nil, buildError("csr", err)
	}
	op.cost = csrCost(p.N, p.D, float64(op.weights.NNZ()), o)
	op.cost.PeakBytes = g.Peak
	op.cost.NNZ = int64(op.weights.NNZ())
	op.cost.StreamedBytes += op.weights.Streamed() - 8*op.cost.NNZ - 8*int64(op.weights.Rows()+1)
	op.cost.ResidentBytes += op.weights.Size() - 8*op.cost.NNZ - 8*int64(op.weights.Rows()+1)
	return op, nil
}

// adopt takes over a graph.
func (op *csr) adopt(ctx context.Context, g *graph, n int) error {
	op.weights, op.slabs, op.spans = g.Weights, g.Slabs, g.Spans
	g.rows = storedRows{g.Weights, op.kernels}
	op.degrees = g.Sums // which the search has made for nobody else
	// simd.MulSparse and the rounding of its result.
	return op.settle(ctx, g, n, 11.2*0x1p-24, func(dst []float64, lo, hi int) {
		if g.Sums != nil {
			copy(dst, g.Sums[lo:hi])
		} else {
			op.weights.SumRows(op.kernels, dst, lo, hi)
		}
	})
}

// Search returns what the filters of a search by codes left; zeros when there was none.
func (op *csr) Search() SearchStats {
	s := &op.found
	return SearchStats{Depth: s.Depth, Pairs: s.Pairs, Compared: s.Compared, Measured: s.Measured, Found: s.Found}
}

// Close releases the weights and leaves their memory to the next graph.
func (op *csr) Close() error {
	rows.Reuse(op.slabs)
	return release(op)
}

// MeanNeighbours returns the mean number of neighbours of a point, equal points
// included.
func (op *csr) MeanNeighbours() float64 {
	switch {
	case op.group == nil:
		return float64(op.weights.NNZ()) / float64(op.N())
	case op.weights.Shared():
		return op.neighbours
	}
	return op.countNeighbours(0, op.weights.Rows()) / float64(op.N())
}

// countNeighbours returns how many neighbours the given points of the distinct points lo to
// hi-1 have together.
func (op *csr) countNeighbours(lo, hi int) (sum float64) {
	var buffer sparse.RowBuffer
	for g := lo; g < hi; g++ {
		size := float64(op.first(g+1) - op.first(g))
		sum += size * (size - 1 + op.neighboursOf(g, &buffer))
	}
	return sum
}
