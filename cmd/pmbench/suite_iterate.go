package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

const iterateSteps = 5

// iterateCases measure runs of five steps on a graph that is there, whole
// embeddings, from points to result, and the eigenvectors of a graph.
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
		sizes := []int{l.size(10_000), 20_000}
		if l.small {
			sizes = sizes[:1]
		}
		for _, n := range sizes {
			out = append(out, benchCase{
				name: convergeName(n, w), n: n, d: convergeDimension, k: convergeColumns(n), workers: w, full: n > 10_000,
				setup: func(ctx context.Context, l *lab) (*subject, error) { return convergeSubject(ctx, l, n, w) },
			})
		}
	}
	return out
}

// The eigenvectors that are measured: of uniform points with 60 neighbours on
// average, or of the features in the folder that PM_FEATURES names.
const (
	convergeDimension = 6
	convergeTolerance = 1e-5
	convergeDegree    = 60
)

// convergeColumns is the number of eigenvectors, fewer where points are few.
func convergeColumns(n int) int { return min(32, n/20) }

func convergeName(n, workers int) string {
	kind, d := "uniform", convergeDimension
	if folder := os.Getenv("PM_FEATURES"); folder != "" {
		kind, d = filepath.Base(folder), featureDimension
	}
	return fmt.Sprintf("op=converge/kind=%s/n=%d/d=%d/degree=%d/k=%d/workers=%d", kind, n, d, convergeDegree, convergeColumns(n), workers)
}

// featureDimension is the dimension of the features of a folder once they are prepared.
const featureDimension = 64

// convergePoints returns the points whose graph is taken apart: n uniform ones,
// or the first n of a folder's features.npy as package evaluate prepares them.
func (l *lab) convergePoints(n int) (blas32.General, error) {
	folder := os.Getenv("PM_FEATURES")
	if folder == "" {
		return synth.Uniform(n, convergeDimension, 1)
	}
	return shared(l, fmt.Sprint("features ", n), func() (blas32.General, error) {
		m, err := formats.ReadMatrix(filepath.Join(folder, "features.npy"))
		if err != nil {
			return blas32.General{}, err
		}
		defer m.Close()
		if m.Rows < n {
			return blas32.General{}, fmt.Errorf("%s has %d rows, want %d", folder, m.Rows, n)
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		f, err := evaluate.Features(blas32.General{Rows: n, Cols: m.Cols, Stride: m.Cols, Data: m.Data}, all, featureDimension)
		if err != nil {
			return blas32.General{}, err
		}
		x := zeros(n, featureDimension)
		for i, v := range f.RawMatrix().Data {
			x.Data[i] = float32(v)
		}
		return x, nil
	})
}

// convergeOperator returns the graph whose eigenvectors are wanted.
func (l *lab) convergeOperator(ctx context.Context, n, workers int) (kernel.Truncated, error) {
	return shared(l, fmt.Sprint("converge ", n, " ", workers), func() (kernel.Truncated, error) {
		x, err := l.convergePoints(n)
		if err != nil {
			return nil, err
		}
		o := &kernel.Options{Workers: l.workers(workers)}
		sigma, radius, err := bandwidthForDegree(ctx, x, convergeDegree, o)
		if err != nil {
			return nil, err
		}
		o.CutoffRadius = radius
		return buildCSR(ctx, x, sigma, *o)
	})
}

// eigenvectors returns the leading ones of a graph, and an error unless they converged.
func (l *lab) eigenvectors(ctx context.Context, op kernel.Truncated, workers int) (*iterate.Eigenvectors, error) {
	out, err := iterate.Converge(ctx, op, kernel.Step{Form: kernel.Attract},
		&iterate.ConvergeSettings{Columns: convergeColumns(op.N()), Tolerance: convergeTolerance, Workers: l.workers(workers)})
	if err == nil && out.Status != iterate.Converged {
		err = fmt.Errorf("the eigenvectors did not converge in %d products", out.Products)
	}
	return out, err
}

func convergeSubject(ctx context.Context, l *lab, n, workers int) (*subject, error) {
	op, err := l.convergeOperator(ctx, n, workers)
	if err != nil {
		return nil, err
	}
	cost, cert := op.Cost(), op.Certificate()
	sub := &subject{roof: roofRead, eta: cert.RowMax, etaP99: cert.RowP99}
	sub.run = func(ctx context.Context) error {
		out, err := l.eigenvectors(ctx, op, workers)
		if err != nil {
			return err
		}
		sub.nnz = int64(out.Products) * cost.NNZ
		sub.bytes = int64(out.Products) * spmmBytes(n, cost.NNZ, convergeColumns(n))
		sub.products = out.Products
		return nil
	}
	return sub, nil
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
	x, y, err := synthetic(kind, n, d)
	if err != nil {
		return nil, err
	}
	if y == nil {
		y = labelsOf(n)
	}
	settings := &privatemail.Settings{MeanNeighbours: neighbours, Operator: "csr", Coefficient: 0.1, Columns: k, Steps: iterateSteps, Seed: 1}
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
