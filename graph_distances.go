package privatemail

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Distances writes the Euclidean distance of each pair of a graph to into, in the order of its
// weights (sparse.CSR.Arrays). features must be those from which NeighbourGraph or GraphBetween
// made the graph. Where the settings standardized rows or divided them by their norms, the
// distances are between the resulting rows. Sums are in float64, and rounded once.
//
// into shares no memory with the features. The memory limit counts only the copy of such rows. Errors:
// ErrClosed, ErrSettings for no graph, ErrZeroRow, kernel.ErrShape, ErrEmpty, ErrNonFinite and
// ErrMemory, sparse.ErrAlias for into, and the error of ctx, after which into holds some of the
// distances.
func (e *Engine) Distances(ctx context.Context, graph *NeighbourGraph, features blas32.General, into []float32) (err error) {
	c, err := e.begin(ctx, "distances")
	if err != nil {
		return err
	}
	defer c.end(&err)
	if graph == nil || graph.Weights == nil {
		return fmt.Errorf("%w: no graph", ErrSettings)
	}
	weights := graph.Weights
	if err := points.CheckSize(features, weights.Cols(), features.Cols); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	if features.Cols < 1 {
		return fmt.Errorf("features: %w (%d x %d)", kernel.ErrEmpty, features.Rows, features.Cols)
	}
	if len(into) != weights.NNZ() {
		return fmt.Errorf("%w: into has room for %d distances of %d pairs", kernel.ErrShape, len(into), weights.NNZ())
	}
	if mem.Overlap(into, used(features)) {
		return fmt.Errorf("into: %w: it shares memory with the features", sparse.ErrAlias)
	}
	if graph.distances != nil {
		copy(into, graph.distances)
		return nil
	}
	s := &Settings{Graph: Graph{Standardize: graph.standardized, NormalizeRows: graph.normalized}}
	m, err := e.reserve(ctx, s.copied(features), "distances")
	if err != nil {
		return err
	}
	defer m.release()
	for m.next(ctx, &err) {
		err = e.distancesOf(ctx, weights, s, features, into)
	}
	return err
}

// distancesOf writes the distances between the rows that the settings make of the features.
func (e *Engine) distancesOf(ctx context.Context, weights *sparse.CSR, s *Settings, features blas32.General, into []float32) error {
	x, err := s.rows(features)
	if err != nil {
		return err
	}
	if err := points.CheckFinite(x); err != nil {
		return err
	}
	return e.distances(ctx, weights, x, into)
}

func (e *Engine) distances(ctx context.Context, weights *sparse.CSR, x blas32.General, into []float32) error {
	const rows = 1024
	first, at := make([]int, split.Blocks(x.Rows, rows)), 0 // where the pairs of a block begin
	for i := range x.Rows {
		if i%rows == 0 {
			first[i/rows] = at
		}
		at += weights.RowLen(i)
	}
	return e.workers.Do(ctx, len(first), par.Func(func(_, block int) {
		var buffer sparse.RowBuffer
		lo, hi := split.Block(block, x.Rows, rows)
		at := first[block]
		for i := lo; i < hi; i++ {
			columns, _ := weights.Row(i, &buffer)
			for _, j := range columns {
				into[at] = float32(distance(x, i, int(j)))
				at++
			}
		}
	}))
}

// distance returns the Euclidean distance of two rows.
func distance(x blas32.General, i, j int) float64 {
	a, b := x.Data[i*x.Stride:][:x.Cols], x.Data[j*x.Stride:][:x.Cols]
	sum := 0.0
	for c, v := range a {
		difference := float64(v) - float64(b[c])
		sum += float64(difference * difference) // the conversion forbids a fused product: the same bits everywhere
	}
	return math.Sqrt(sum)
}
