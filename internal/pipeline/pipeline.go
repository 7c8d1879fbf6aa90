// Package pipeline takes points to an embedding: a graph, steps over it and a
// description of both. Package privatemail does so with features, package post
// with a release.
package pipeline

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// An Embedding is the outcome of a run.
type Embedding struct {
	// Points is the embedding, a row for each row of the features.
	Points *mat.Dense
	Graph  Graph
	// Status and Trace tell how the run went.
	Status iterate.Status
	Trace  []iterate.Record
}

// Graph describes the graph an embedding was made with.
type Graph struct {
	Operator    string
	Bandwidth   kernel.Bandwidth
	Radius      float64            // cutoff; +Inf where every pair has a weight
	Neighbours  float64            // mean number of neighbours a row has a weight for
	MeanDegree  float64            // mean row sum of the weights
	Certificate kernel.Certificate // its rows in the order of the features
	Cost        kernel.Cost
	BuildTime   time.Duration
	StepTime    time.Duration // all steps together
}

// Reach says how far the weights of a graph go: a bandwidth, or the mean number
// of neighbours a row should have, and where weights are cut.
type Reach struct {
	Bandwidth    kernel.Bandwidth
	MeanDegree   float64
	CutoffWeight float64
}

// Check refuses numbers outside their range; the error is iterate.ErrSettings.
// That nothing is given is left to the caller, who may have a default.
func (r *Reach) Check() error {
	switch {
	case r.Bandwidth != kernel.Bandwidth{} && r.MeanDegree != 0:
		return fmt.Errorf("%w: both a bandwidth and a mean degree are given", iterate.ErrSettings)
	case r.MeanDegree < 0 || math.IsNaN(r.MeanDegree):
		return fmt.Errorf("%w: mean degree %g", iterate.ErrSettings, r.MeanDegree)
	case r.CutoffWeight != 0 && !(r.CutoffWeight > 0 && r.CutoffWeight < 1):
		return fmt.Errorf("%w: cutoff weight %g, want a number between 0 and 1", iterate.ErrSettings, r.CutoffWeight)
	}
	return nil
}

// Settle returns the bandwidth and puts the cutoff into the options, unless they
// force an operator without one: then a mean degree decides the bandwidth alone, and
// weights below the cutoff have their place in the full kernel.
func (r *Reach) Settle(ctx context.Context, p *kernel.Points, o *kernel.Options) (b kernel.Bandwidth, err error) {
	switch {
	case r.MeanDegree > 0:
		b, radius, err := p.BandwidthForDegree(ctx, r.MeanDegree, r.CutoffWeight, o)
		if kernel.Truncates(o.Operator) {
			o.CutoffRadius = radius
		}
		return b, err
	case r.CutoffWeight > 0:
		if err := r.Bandwidth.Check(); err != nil {
			return b, err
		}
		o.CutoffRadius = r.Bandwidth.Radius(r.CutoffWeight)
	}
	return r.Bandwidth, nil
}

// Embed builds the graph of p and takes steps over it from x, a contiguous
// matrix that it leaves at the last iterate.
func Embed(ctx context.Context, p *kernel.Points, b kernel.Bandwidth, o *kernel.Options, x blas32.General, step kernel.Step, run *iterate.Settings) (*Embedding, error) {
	began := time.Now()
	op, err := p.Build(ctx, b, o)
	if err != nil {
		return nil, err
	}
	defer op.Close()
	out := &Embedding{Graph: Describe(op, b)}
	out.Graph.BuildTime = time.Since(began)

	began = time.Now()
	result, err := iterate.Run(ctx, op, x, step, run, nil)
	if err != nil {
		return nil, err
	}
	out.Graph.StepTime = time.Since(began)
	out.Status, out.Trace = result.Status, result.Trace
	out.Points = mat.NewDense(x.Rows, x.Cols, nil)
	raw := out.Points.RawMatrix()
	for i, v := range x.Data { // both are contiguous
		raw.Data[i] = float64(v)
	}
	return out, nil
}

// Describe summarises an operator.
func Describe(op kernel.Operator, b kernel.Bandwidth) Graph {
	g := Graph{Operator: op.Name(), Bandwidth: b, Radius: math.Inf(1), Neighbours: float64(op.N() - 1), Certificate: op.Certificate(), Cost: op.Cost()}
	for _, d := range op.Degrees() {
		g.MeanDegree += d / float64(op.N())
	}
	if t, ok := op.(kernel.Truncated); ok {
		g.Radius, g.Neighbours = t.Radius(), t.MeanNeighbours()
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
