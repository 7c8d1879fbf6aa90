// Package pipeline turns points into an iterate.Embedding: it settles the bandwidth,
// builds the graph, takes the steps and describes both. Package privatemail uses it for
// features, package post for a release.
package pipeline

import (
	"context"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Build builds the graph of p and describes it. The operator must be closed.
func Build(ctx context.Context, p *kernel.Points, b kernel.Bandwidth, o *kernel.Options) (kernel.Operator, iterate.Graph, error) {
	began := time.Now()
	op, err := p.Build(ctx, b, o)
	if err != nil {
		return nil, iterate.Graph{}, err
	}
	g := Describe(op, b)
	g.BuildTime = time.Since(began)
	return op, g, nil
}

// Steps takes steps over a graph from x. The last iterate goes to Into of run if that is set;
// otherwise to x, a contiguous matrix, and to Points.
func Steps(ctx context.Context, op kernel.Operator, g iterate.Graph, x blas32.General, step kernel.Step, run *iterate.Settings) (*iterate.Embedding, error) {
	began := time.Now()
	result, err := iterate.Run(ctx, op, x, step, run, nil)
	if err != nil {
		return nil, err
	}
	g.StepTime = time.Since(began)
	out := &iterate.Embedding{Graph: g, Status: result.Status, Trace: result.Trace}
	if run.Into.Data == nil {
		out.Points = Widen(x)
	}
	return out, nil
}

// Widen returns a contiguous matrix in float64.
func Widen(x blas32.General) *mat.Dense {
	out := mat.NewDense(x.Rows, x.Cols, nil)
	raw := out.RawMatrix()
	for i, v := range x.Data {
		raw.Data[i] = float64(v)
	}
	return out
}

// Components returns the sizes of the parts of a graph that no weight connects, without
// isolated rows, the largest first. An operator that has every pair is one part.
func Components(ctx context.Context, op kernel.Operator) ([]int, error) {
	if c, ok := op.(interface {
		Components(context.Context) ([]int, error)
	}); ok {
		return c.Components(ctx)
	}
	return []int{op.N() - op.Certificate().Isolated}, nil
}

// Describe summarises an operator. Its certificate's rows are put in the order of the
// points.
func Describe(op kernel.Operator, b kernel.Bandwidth) iterate.Graph {
	g := iterate.Graph{
		Operator: op.Name(), Bandwidth: b, Radius: math.Inf(1), MeanNeighbours: float64(op.N() - 1),
		Certificate: op.Certificate(), Cost: op.Cost(),
	}
	for _, d := range op.Degrees() {
		g.MeanDegree += d / float64(op.N())
	}
	if t, ok := op.(kernel.Truncated); ok {
		g.Radius, g.MeanNeighbours = t.Radius(), t.MeanNeighbours()
	}
	if order := op.Order(); order != nil && g.Certificate.Row != nil {
		row := make([]float32, len(order))
		for i, given := range order {
			row[given] = g.Certificate.Row[i]
		}
		g.Certificate.Row = row
	}
	return g
}
