package privatemail

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A builtGraph is the operator of some features, with its description. It must be
// closed.
type builtGraph struct {
	iterate.Graph
	op      kernel.Operator
	x       blas32.General // the rows it was built from
	options *kernel.Options
}

// build prepares the features and builds their graph.
func (e *Engine) build(ctx context.Context, m *share, features blas32.General, labels *kernel.Labels, s *Settings) (*builtGraph, error) {
	p, err := e.prepare(ctx, m, features, labels, s)
	if err != nil {
		return nil, err
	}
	op, graph, err := pipeline.Build(ctx, p.opened, s.Bandwidth, p.options)
	if err != nil {
		return nil, err
	}
	graph.Neighbours = s.Neighbours
	return &builtGraph{Graph: graph, op: op, x: p.x, options: p.options}, nil
}

// beside returns the options of work that runs while the graph and that many more
// bytes are held. Its memory is part of the bytes of steps.
func (g *builtGraph) beside(bytes int64) *kernel.Options {
	return beside(g.options, g.op.Cost().ResidentBytes+bytes)
}

// beside returns the options of work that runs while that many bytes are held.
func beside(o *kernel.Options, held int64) *kernel.Options {
	out := *o
	out.MaxMemory = max(o.MaxMemory-held, 1)
	out.Reserve = func(bytes int64) bool { return o.Reserve(held + bytes) }
	return &out
}
