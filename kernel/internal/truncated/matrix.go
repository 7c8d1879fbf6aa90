package truncated

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Matrix returns the weights as a matrix in the order of the points that the caller gave.
// Where ranks share the weights all of them call it, and each gets the whole matrix.
func (op *Truncated) Matrix(ctx context.Context) (*sparse.CSR, error) {
	op, err := op.WholeRows(ctx)
	if err != nil {
		return nil, err
	}
	n := op.N()
	ptr := make([]uint64, n+1)
	if err := op.eachRow(ctx, func(w *matrixWorker, g int) {
		size := uint64(op.First(g+1) - op.First(g))
		count := size - 1
		ind, _ := w.rows.Weights(g)
		for _, j := range ind {
			count += uint64(op.First(int(j)+1) - op.First(int(j)))
		}
		for row := op.First(g); row < op.First(g+1); row++ {
			ptr[op.given(row)+1] = count
		}
	}); err != nil {
		return nil, err
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	if err := op.checkMatrix(ptr[n]); err != nil {
		return nil, err
	}
	ind, val := make([]uint32, ptr[n]), make([]float32, ptr[n])
	if err := op.eachRow(ctx, func(w *matrixWorker, g int) {
		columns, weights := w.spread(op, g)
		for row := op.First(g); row < op.First(g+1); row++ {
			at := ptr[op.given(row)]
			copyRow(ind[at:], val[at:], columns, weights, uint32(op.given(row)))
		}
	}); err != nil {
		return nil, err
	}
	return sparse.Adopt(ctx, op.Workers, sparse.Plain, n, n, ptr, ind, val)
}

// checkMatrix refuses a matrix that does not fit in the memory limit in addition to the operator.
func (op *Truncated) checkMatrix(entries uint64) error {
	size, ok := sparse.Plain.Bytes(op.N(), entries)
	if !ok {
		size = math.MaxInt64
	}
	err := op.options.Take(op.Called+": matrix of all weights", min(size, math.MaxInt64-op.Costs.ResidentBytes)+op.Costs.ResidentBytes)
	if err != nil {
		base.Advise(err, "a smaller sigma or cutoff, or fewer equal rows, leave fewer weights")
	}
	return err
}

// given returns the caller's number of a row.
func (op *Truncated) given(row int) int {
	if op.GivenRows == nil {
		return row
	}
	return int(op.GivenRows[row])
}

// matrixWorker is the scratch memory of a worker.
type matrixWorker struct {
	rows    graph.RowReader
	ind     []uint32
	val     []float32
	entries []uint64
}

// eachRow calls visit for every distinct point; the workers share the chunks.
func (op *Truncated) eachRow(ctx context.Context, visit func(w *matrixWorker, g int)) error {
	scratch := make([]*matrixWorker, op.Workers.Count())
	err := op.Workers.Do(ctx, op.Rows.Chunks(), par.Func(func(worker, chunk int) {
		if scratch[worker] == nil {
			scratch[worker] = &matrixWorker{rows: op.Rows.Reader(1)}
		}
		lo, hi := op.Rows.Chunk(chunk)
		for g := lo; g < hi && ctx.Err() == nil; g++ {
			visit(scratch[worker], g)
		}
	}))
	if err == nil {
		err = ctx.Err() // a chunk may have been left half done
	}
	return err
}

// spread returns the weights of distinct point g with every point, equal ones and g itself
// included, by the caller's numbers in ascending order.
func (w *matrixWorker) spread(op *Truncated, g int) ([]uint32, []float32) {
	w.ind, w.val = w.ind[:0], w.val[:0]
	add := func(j int, weight float32) {
		for row := op.First(j); row < op.First(j+1); row++ {
			w.ind, w.val = append(w.ind, uint32(op.given(row))), append(w.val, weight)
		}
	}
	ind, val := w.rows.Weights(g)
	for e, j := range ind {
		add(int(j), val[e])
	}
	add(g, 1)
	w.entries = graph.SortRow(w.ind, w.val, w.entries)
	return w.ind, w.val
}

// copyRow copies a row without its own column.
func copyRow(dst []uint32, dstVal []float32, ind []uint32, val []float32, own uint32) {
	at := 0
	for e, j := range ind {
		if j != own {
			dst[at], dstVal[at] = j, val[e]
			at++
		}
	}
}
