package privatemail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// GraphBetween returns the graph between new rows, the queries, and the features: its Weights have
// a row for each query and a column for each row of the features, with the weight of the two where
// their distance is at most CutoffRadius. NeighbourGraph of all rows together would have the same
// entries, bit for bit; a query that equals a row has the weight 1 with it.
//
// It uses CutoffRadius, which is required, Bandwidth and NormalizeRows, and refuses
// other ways to choose the weights. It compares every query with every row of the features: it is for few
// queries; many are quicker as part of a NeighbourGraph. Graph has the operator csr, the bandwidth,
// the radius and the time. Errors: those of Nearest and ErrSettings.
func (e *Engine) GraphBetween(ctx context.Context, features, queries blas32.General, graph *Graph) (out *NeighbourGraph, err error) {
	c, err := e.begin(ctx, "graph")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	if err := e.alone(graphAlone); err != nil {
		return nil, err
	}
	s, err := graph.alone().withDefaults(features)
	if err != nil {
		return nil, err
	}
	if s.Standardize {
		return nil, fmt.Errorf("%w: the columns of new rows cannot be standardized separately: standardize all rows together before the call", ErrSettings)
	}
	if s.CutoffRadius == 0 {
		return nil, fmt.Errorf("%w: a graph between rows needs a cutoff radius", ErrSettings)
	}
	search := &nearestSearch{features: features, queries: queries, k: 1}
	if search.within() {
		return nil, fmt.Errorf("queries: %w", kernel.ErrEmpty)
	}
	if err := search.check(); err != nil {
		return nil, err
	}
	// Row numbers, and the memory kept for the queries.
	least := s.copied(features) + s.copied(queries) + 8*float64(features.Rows) + float64(queries.Rows)*(12*float64(queries.Cols)+72)
	m, err := e.reserveInTurn(ctx, least, s.what(features))
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = e.graphBetween(ctx, m, features, queries, &s)
	}
	return out, err
}

func (e *Engine) graphBetween(ctx context.Context, m *share, features, queries blas32.General, s *Settings) (*NeighbourGraph, error) {
	began := time.Now()
	options := new(kernel.Options)
	bandwidth, err := s.weights().Settle(ctx, nil, options) // a radius needs no sample of points
	if err == nil {
		err = bandwidth.Check()
	}
	if err != nil {
		return nil, err
	}
	x, err := s.rows(features)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	q, err := s.rows(queries)
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	settings := nearest.Settings{Workers: e.workers, Kernels: e.kernels}
	if report := e.report(ctx); report != nil {
		settings.Progress = func(done, total int) { report("find neighbours", done, total) }
	}
	need := int64(0)
	found, err := nearest.Near(ctx, q, x, options.CutoffRadius, func(neighbours int) bool {
		need = m.least + int64(neighbours)*(nearest.NeighbourBytes+8)
		return m.grow(need)
	}, settings)
	if errors.Is(err, nearest.ErrRefused) {
		return nil, &kernel.MemoryError{What: "neighbours of new rows", Need: need, Limit: m.limit}
	}
	if err != nil {
		return nil, err
	}
	weights := make([]float32, len(found.Squared))
	e.kernels.Weights(weights, found.Squared, bandwidth.Gamma())
	distances := make([]float32, len(found.Squared))
	for i, v := range found.Squared {
		distances[i] = float32(math.Sqrt(v))
	}
	matrix, err := sparse.New(q.Rows, x.Rows, found.Ptr, found.Rows, weights)
	if err != nil {
		return nil, err
	}
	return &NeighbourGraph{
		Weights:   matrix,
		Graph:     iterate.Graph{Operator: "csr", Bandwidth: bandwidth, Radius: options.CutoffRadius, BuildTime: time.Since(began)},
		distances: distances, normalized: s.NormalizeRows,
	}, nil
}
