package truncated

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Where ranks share the rows of weights, sums and bounds of a row are made by the rank that has
// the row, and gathered.

// shareNeighbours counts the neighbours of all points where ranks share the weights and points
// are equal. The counts are integers, so their order does not matter.
func (op *CSR) shareNeighbours(ctx context.Context) error {
	if op.Group == nil || !op.Weights.Shared() {
		return nil
	}
	all, err := exchange.GatherEqual(ctx, op.Ranks, []float64{op.countNeighbours(op.Weights.OwnRows())})
	sum := 0.0
	for _, n := range all {
		sum += n
	}
	op.neighbours = sum / float64(op.N())
	return err
}

// sharedDoubles is doubles where ranks share the rows. A row cannot be added to there, so it
// asks its neighbours: in their order, and itself among them, the sum of a row has the bits
// that doubles gives it, because weights are the same from both sides.
func (op *Truncated) sharedDoubles(ctx context.Context) ([]float64, error) {
	out := make([]float64, op.Rows.Rows())
	from, to := op.OwnChunks()
	readers := make([]graph.RowReader, op.Workers.Count())
	more := func(g int) float64 { return float64(op.First(g+1)-op.First(g)) - 1 }
	if err := op.Workers.Do(ctx, to-from, par.Func(func(worker, chunk int) {
		if readers[worker] == nil {
			readers[worker] = op.Rows.Reader(1)
		}
		lo, hi := op.Rows.Chunk(from + chunk)
		for g := lo; g < hi && ctx.Err() == nil; g++ {
			ind, val := readers[worker].Weights(g)
			e := 0
			for ; e < len(ind) && ind[e] < uint32(g); e++ {
				out[g] += more(int(ind[e])) * float64(val[e])
			}
			out[g] += more(g)
			for ; e < len(ind); e++ {
				out[g] += more(int(ind[e])) * float64(val[e])
			}
		}
	})); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // a chunk may have been left half done
		return nil, err
	}
	return out, exchange.Gather(ctx, op.Ranks, out, op.PointBounds())
}

// WholeRows returns op with all rows of weights here, for what reads rows of any rank.
func (op *Truncated) WholeRows(ctx context.Context) (*Truncated, error) {
	if op.RankChunks == nil {
		return op, nil
	}
	shared, out := op.Rows.(storedRows), *op
	size, _ := sparse.Plain.Bytes(shared.Rows(), uint64(shared.NNZ()))
	out.Costs.ResidentBytes += size
	if err := op.options.Take(op.Called+": weights of all ranks", out.Costs.ResidentBytes); err != nil {
		return nil, err
	}
	whole, err := shared.Whole(ctx)
	if err != nil {
		return nil, err
	}
	out.Rows, out.RankChunks = storedRows{whole, shared.kernels}, nil
	return &out, nil
}
