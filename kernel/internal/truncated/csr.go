package truncated

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// CSR is the Gaussian kernel truncated at a radius, weights stored as float32.
// Any number of equal points costs O(n): they share one row of weights.
type CSR struct {
	Truncated
	Weights    *sparse.CSR  // between distinct points
	Slabs      []*rows.Slab // their memory, where others can use it afterwards
	Found      rows.Stats   // what the search left
	neighbours float64      // of a point, equal points included, where ranks share the weights
}

// storedRows are the rows of a matrix.
type storedRows struct {
	*sparse.CSR
	kernels *simd.Kernels
}

// Reader returns what one worker reads rows with.
func (s storedRows) Reader(int) graph.RowReader { return &storedReader{storedRows: s} }

type storedReader struct {
	storedRows
	buffer sparse.RowBuffer
}

// Mul makes rows lo to hi-1 of W x.
func (s *storedReader) Mul(dst []float32, dstStride, lo, hi, k int, x []float32, stride int) {
	s.MulRows(s.kernels, dst, dstStride, lo, hi, k, x, stride)
}

// Weights returns the weights of row i.
func (s *storedReader) Weights(i int) ([]uint32, []float32) { return s.Row(i, &s.buffer) }

// NewCSR builds the operator csr: the Gaussian kernel truncated at a radius, with stored
// weights, or that of nearest neighbours. The points are not needed afterwards.
func NewCSR(ctx context.Context, p *rows.Points, b base.Bandwidth, radius float64, o *base.Options) (*CSR, error) {
	var g *graph.Graph
	var err error
	if o.Neighbours > 0 && p.N > 1 {
		g, err = graph.Nearest(ctx, p, b, o.Neighbours, o)
	} else {
		g, err = graph.Search(ctx, p, b, radius, o)
	}
	if err != nil {
		return nil, base.BuildError("csr", err)
	}
	op := &CSR{Found: g.Stats}
	op.begin("csr", o)
	op.Cutoff = g.Radius
	if err := op.adopt(ctx, g, p.N); err != nil {
		return nil, base.BuildError("csr", err)
	}
	if o.Isolated == base.Repair {
		if g, err = repairGraph(ctx, g, p, b, &op.Truncated, o); err != nil {
			return nil, base.BuildError("csr: repair", err)
		}
		if err := op.adopt(ctx, g, p.N); err != nil {
			return nil, base.BuildError("csr: repair", err)
		}
	}
	if err := op.halve(ctx, g, p.N, o); err != nil {
		return nil, base.BuildError("csr", err)
	}
	if err := op.checkPolicy(o); err != nil {
		return nil, err
	}
	if err := op.PlanHalo(ctx); err != nil {
		return nil, base.BuildError("csr", err)
	}
	if err := op.shareNeighbours(ctx); err != nil {
		return nil, base.BuildError("csr", err)
	}
	op.Costs = CSRCost(p.N, p.D, float64(op.Weights.NNZ()), o)
	op.Costs.PeakBytes = g.Peak
	op.Costs.NNZ = int64(op.Weights.NNZ())
	op.Costs.StreamedBytes += op.Weights.Streamed() - 8*op.Costs.NNZ - 8*int64(op.Weights.Rows()+1)
	op.Costs.ResidentBytes += op.Weights.Size() - 8*op.Costs.NNZ - 8*int64(op.Weights.Rows()+1)
	return op, nil
}

// adopt takes over a graph.
func (op *CSR) adopt(ctx context.Context, g *graph.Graph, n int) error {
	op.Weights, op.Slabs, op.Spans = g.Weights, g.Slabs, g.Spans
	g.Rows = storedRows{g.Weights, op.Kernels}
	op.RowSums = g.Sums // which the search has made for nobody else
	// simd.MulSparse and the rounding of its result.
	return op.settle(ctx, g, n, 11.2*0x1p-24, func(dst []float64, lo, hi int) {
		if g.Sums != nil {
			copy(dst, g.Sums[lo:hi])
		} else {
			op.Weights.SumRows(op.Kernels, dst, lo, hi)
		}
	})
}

// Search returns what the filters of a search by codes left; zeros when there was none.
func (op *CSR) Search() rows.Stats { return op.Found }

// Close releases the weights and leaves their memory to the next graph.
func (op *CSR) Close() error {
	rows.Reuse(op.Slabs)
	return step.Release(op)
}

// MeanNeighbours returns the mean number of neighbours of a point, equal points
// included.
func (op *CSR) MeanNeighbours() float64 {
	switch {
	case op.Group == nil:
		return float64(op.Weights.NNZ()) / float64(op.N())
	case op.Weights.Shared():
		return op.neighbours
	}
	return op.countNeighbours(0, op.Weights.Rows()) / float64(op.N())
}

// countNeighbours returns how many neighbours the given points of the distinct points lo to
// hi-1 have together.
func (op *CSR) countNeighbours(lo, hi int) (sum float64) {
	var buffer sparse.RowBuffer
	for g := lo; g < hi; g++ {
		size := float64(op.First(g+1) - op.First(g))
		sum += size * (size - 1 + op.neighboursOf(g, &buffer))
	}
	return sum
}
