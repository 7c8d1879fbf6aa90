package privatemail

import (
	"context"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A builtGraph is the operator of some features, to be closed, and its description.
type builtGraph struct {
	iterate.Graph
	op      kernel.Operator
	x       blas32.General // the rows it was built of
	options *kernel.Options
}

// build prepares the features and builds their graph.
func (e *Engine) build(ctx context.Context, features blas32.General, labels *kernel.Labels, s *Settings) (*builtGraph, error) {
	x, opened, options, _, err := e.prepare(ctx, features, labels, s)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	op, err := opened.Build(ctx, s.Bandwidth, options)
	if err != nil {
		return nil, err
	}
	g := &builtGraph{Graph: pipeline.Describe(op, s.Bandwidth), op: op, x: x, options: options}
	g.Neighbours, g.BuildTime = s.Neighbours, time.Since(began)
	return g, nil
}

// left is what the graph leaves of the budget of its call.
func (g *builtGraph) left() int64 { return g.options.BudgetBytes - g.op.Cost().ResidentBytes }
