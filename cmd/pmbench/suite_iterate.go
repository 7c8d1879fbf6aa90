package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

const iterateSteps = 5

// iterateCases measure runs of five steps on a graph that is there, and whole
// embeddings, from points to result.
func iterateCases(l *lab) (out []benchCase) {
	for _, w := range workerCounts() {
		n := l.size(1_000_000)
		for _, k := range []int{2, 8} {
			out = append(out, benchCase{
				name: fmt.Sprintf("op=run/n=%d/nnz=%d/steps=%d/k=%d/workers=%d", n, neighbours, iterateSteps, k, w), n: n, d: 2, k: k, workers: w,
				setup: func(ctx context.Context, l *lab) (*subject, error) { return runSubject(ctx, l, n, k, w) },
			})
		}
		for _, e := range []struct {
			kind    string
			n, d, k int
		}{{"uniform", l.size(200_000), 2, 2}, {"classes", l.size(4_000), 64, 2}} {
			out = append(out, benchCase{
				name: fmt.Sprintf("op=embed/kind=%s/n=%d/d=%d/steps=%d/k=%d/workers=%d", e.kind, e.n, e.d, iterateSteps, e.k, w), n: e.n, d: e.d, k: e.k, workers: w,
				setup: func(ctx context.Context, l *lab) (*subject, error) {
					return embedSubject(ctx, e.kind, e.n, e.d, e.k, w)
				},
			})
		}
	}
	return out
}

func runSubject(ctx context.Context, l *lab, n, k, workers int) (*subject, error) {
	op, err := l.operator(ctx, n, 2, workers)
	if err != nil {
		return nil, err
	}
	labels, err := kernel.NewLabels(labelsOf(n), kernel.EqualTable(), false)
	if err != nil {
		return nil, err
	}
	start := block(n, k)
	x, ws := zeros(n, k), new(iterate.Workspace)
	settings := &iterate.Settings{Steps: iterateSteps, Normalize: iterate.Frobenius, Workers: l.workers(workers)}
	step := kernel.Step{Labels: labels, Coefficient: 0.1}
	sub := ofOperator(op, k)
	sub.nnz *= iterateSteps
	sub.madds *= iterateSteps
	sub.bytes = iterateSteps * stepBytes(n, sub.nnz/iterateSteps, k)
	sub.run = func(ctx context.Context) error {
		copy(x.Data, start.Data)
		_, err := iterate.Run(ctx, op, x, step, settings, ws)
		return err
	}
	return sub, nil
}

func embedSubject(ctx context.Context, kind string, n, d, k, workers int) (*subject, error) {
	source, err := points.KindNamed(kind)
	if err != nil {
		return nil, err
	}
	x, y, err := source.Make(points.Request{N: n, D: d, Seed: 1})
	if err != nil {
		return nil, err
	}
	if y == nil {
		y = labelsOf(n)
	}
	settings := &privatemail.Settings{MeanDegree: neighbours, Operator: "csr", Coefficient: 0.1, Columns: k, Steps: iterateSteps, Seed: 1}
	sub := &subject{roof: roofRead, eta: math.NaN(), etaP99: math.NaN(), memory: true}
	sub.run = func(ctx context.Context) error {
		e, err := privatemail.New(privatemail.WithWorkers(workers))
		if err != nil {
			return err
		}
		defer e.Close()
		out, err := e.Embed(ctx, x, slices.Clone(y), settings)
		if err != nil {
			return err
		}
		nnz := out.Graph.Cost.NNZ
		sub.nnz = iterateSteps * nnz
		sub.bytes = 4*int64(n)*int64(d) + 8*nnz + iterateSteps*stepBytes(n, nnz, k)
		sub.eta, sub.etaP99 = out.Graph.Certificate.RowMax, out.Graph.Certificate.RowP99
		return nil
	}
	return sub, nil
}
