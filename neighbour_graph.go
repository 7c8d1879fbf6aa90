package privatemail

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A NeighbourGraph is the truncated graph of features, as Embed would use it, or the graph of
// GraphBetween.
type NeighbourGraph struct {
	// Weights has the weight of rows i and j of the features at (i, j). It is symmetric
	// and has no diagonal. In the graph of GraphBetween the rows are queries.
	Weights *sparse.CSR
	// Graph describes the graph.
	Graph iterate.Graph

	standardized bool      // the columns of its rows were standardized
	normalized   bool      // its rows were divided by their norms
	distances    []float32 // of GraphBetween, in the order of the weights; nil for NeighbourGraph
}

// NeighbourGraph builds the graph of the features and returns its weights. Operator may
// be csr, which is the default, or pairs: the others have a weight for every pair.
// Errors: those of Embed.
func (e *Engine) NeighbourGraph(ctx context.Context, features blas32.General, graph *Graph) (out *NeighbourGraph, err error) {
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
	if s.Operator == "" {
		s.Operator = "csr"
	}
	if !kernel.Truncates(s.Operator) {
		return nil, fmt.Errorf("%w: operator %s: want csr or pairs for a graph of neighbours", ErrSettings, s.Operator)
	}
	m, err := e.reserveGraph(ctx, features, &s, 0)
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = e.neighbourGraph(ctx, m, features, s)
	}
	return out, err
}

func (e *Engine) neighbourGraph(ctx context.Context, m *share, features blas32.General, s Settings) (*NeighbourGraph, error) {
	g, err := e.build(ctx, m, features, nil, &s)
	if err != nil {
		return nil, err
	}
	defer g.op.Close()
	began := time.Now()
	out := &NeighbourGraph{Graph: g.Graph, standardized: s.Standardize, normalized: s.NormalizeRows}
	if out.Weights, err = g.op.(kernel.Truncated).Matrix(ctx); err != nil {
		return nil, err
	}
	out.Graph.BuildTime += time.Since(began)
	return out, nil
}
