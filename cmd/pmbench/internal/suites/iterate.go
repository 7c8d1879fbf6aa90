package suites

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/spectral"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

const iterateSteps = 5

// iterateCases measure runs of five steps on a graph that is there, whole
// embeddings, from points to result, and the eigenvectors of a graph.
func iterateCases(l *measure.Lab) (out []measure.Case) {
	for _, w := range measure.WorkerCounts() {
		n := l.Size(1_000_000)
		for _, k := range []int{2, 8} {
			out = append(out, measure.Case{
				Name: fmt.Sprintf("op=run/n=%d/nnz=%d/steps=%d/k=%d/workers=%d", n, Neighbours, iterateSteps, k, w), N: n, D: 2, K: k, Workers: w,
				Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
					return runSubject(ctx, l, n, k, w)
				},
			})
		}
		for _, e := range []struct {
			kind    string
			n, d, k int
		}{{"uniform", l.Size(200_000), 2, 2}, {"classes", l.Size(4_000), 64, 2}} {
			out = append(out, measure.Case{
				Name: fmt.Sprintf("op=embed/kind=%s/n=%d/d=%d/steps=%d/k=%d/workers=%d", e.kind, e.n, e.d, iterateSteps, e.k, w), N: e.n, D: e.d, K: e.k, Workers: w,
				Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
					return embedSubject(ctx, e.kind, e.n, e.d, e.k, w)
				},
			})
		}
		sizes := []int{l.Size(10_000), 20_000}
		if l.Small {
			sizes = sizes[:1]
		}
		for _, n := range sizes {
			out = append(out, measure.Case{
				Name: ConvergeName(n, w), N: n, D: ConvergeDimension, K: ConvergeColumns(n), Workers: w, Full: n > 10_000,
				Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
					return convergeSubject(ctx, l, n, w)
				},
			})
		}
	}
	return out
}

// The eigenvectors that are measured: of uniform points with 60 neighbours on
// average, or of the features in the folder that PM_FEATURES names.
const (
	ConvergeDimension = 6
	convergeTolerance = 1e-5
	convergeDegree    = 60
)

// ConvergeColumns is the number of eigenvectors, fewer where points are few.
func ConvergeColumns(n int) int { return min(32, n/20) }

// ConvergeName is the name of the case that computes eigenvectors.
func ConvergeName(n, workers int) string {
	kind, d := "uniform", ConvergeDimension
	if folder := os.Getenv("PM_FEATURES"); folder != "" {
		kind, d = filepath.Base(folder), FeatureDimension
	}
	return fmt.Sprintf("op=converge/kind=%s/n=%d/d=%d/degree=%d/k=%d/workers=%d", kind, n, d, convergeDegree, ConvergeColumns(n), workers)
}

// FeatureDimension is the dimension of the features of a folder once they are prepared.
const FeatureDimension = 64

// ConvergePoints returns the points whose graph is taken apart: n uniform ones,
// or the first n of a folder's features.npy as package evaluate prepares them.
func ConvergePoints(l *measure.Lab, n int) (blas32.General, error) {
	folder := os.Getenv("PM_FEATURES")
	if folder == "" {
		return synth.Uniform(n, ConvergeDimension, 1)
	}
	return measure.Shared(l, fmt.Sprint("features ", n), func() (blas32.General, error) {
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
		f, err := evaluate.Features(blas32.General{Rows: n, Cols: m.Cols, Stride: m.Cols, Data: m.Data}, all, FeatureDimension)
		if err != nil {
			return blas32.General{}, err
		}
		x := Zeros(n, FeatureDimension)
		for i, v := range f.RawMatrix().Data {
			x.Data[i] = float32(v)
		}
		return x, nil
	})
}

// ConvergeGraph returns the graph whose eigenvectors are wanted.
func ConvergeGraph(ctx context.Context, l *measure.Lab, n, workers int) (kernel.Truncated, error) {
	return measure.Shared(l, fmt.Sprint("converge ", n, " ", workers), func() (kernel.Truncated, error) {
		x, err := ConvergePoints(l, n)
		if err != nil {
			return nil, err
		}
		o := &kernel.Options{Workers: l.Workers(workers)}
		sigma, radius, err := bandwidthForDegree(ctx, x, convergeDegree, o)
		if err != nil {
			return nil, err
		}
		o.CutoffRadius = radius
		return BuildCSR(ctx, x, sigma, *o)
	})
}

// Eigenvectors returns the leading ones of a graph, and an error unless they converged.
func Eigenvectors(ctx context.Context, l *measure.Lab, op kernel.Truncated, workers int) (*spectral.Eigenvectors, error) {
	out, err := spectral.Converge(ctx, op, kernel.Step{Form: kernel.Attract},
		&spectral.ConvergeSettings{Dim: ConvergeColumns(op.N()), Tolerance: convergeTolerance, Workers: l.Workers(workers)})
	if err == nil && out.Status != iterate.Converged {
		err = fmt.Errorf("the eigenvectors did not converge in %d products", out.Products)
	}
	return out, err
}

func convergeSubject(ctx context.Context, l *measure.Lab, n, workers int) (*measure.Subject, error) {
	op, err := ConvergeGraph(ctx, l, n, workers)
	if err != nil {
		return nil, err
	}
	cost, cert := op.Cost(), op.Certificate()
	sub := &measure.Subject{Roof: measure.RoofRead, Eta: cert.RowMax, EtaP99: cert.RowP99}
	sub.Run = func(ctx context.Context) error {
		out, err := Eigenvectors(ctx, l, op, workers)
		if err != nil {
			return err
		}
		sub.NNZ = int64(out.Products) * cost.NNZ
		sub.Bytes = int64(out.Products) * spmmBytes(n, cost.NNZ, ConvergeColumns(n))
		sub.Products = out.Products
		return nil
	}
	return sub, nil
}

func runSubject(ctx context.Context, l *measure.Lab, n, k, workers int) (*measure.Subject, error) {
	op, err := uniformGraph(ctx, l, n, 2, workers)
	if err != nil {
		return nil, err
	}
	labels, err := kernel.NewLabels(labelsOf(n), kernel.EqualTable(), false)
	if err != nil {
		return nil, err
	}
	start := Block(n, k)
	x, ws := Zeros(n, k), new(iterate.Workspace)
	settings := &iterate.Settings{Steps: iterateSteps, Normalize: iterate.Frobenius, Workers: l.Workers(workers)}
	step := kernel.Step{Labels: labels, Coefficient: 0.1}
	sub := ofOperator(op, k)
	sub.NNZ *= iterateSteps
	sub.Madds *= iterateSteps
	sub.Bytes = iterateSteps * stepBytes(n, sub.NNZ/iterateSteps, k)
	sub.Run = func(ctx context.Context) error {
		copy(x.Data, start.Data)
		_, err := iterate.Run(ctx, op, x, step, settings, ws)
		return err
	}
	return sub, nil
}

func embedSubject(ctx context.Context, kind string, n, d, k, workers int) (*measure.Subject, error) {
	x, y, err := Synthetic(kind, n, d)
	if err != nil {
		return nil, err
	}
	if y == nil {
		y = labelsOf(n)
	}
	settings := &privatemail.Settings{Graph: privatemail.Graph{MeanNeighbours: Neighbours, Operator: "csr"}, Coefficient: 0.1, Dim: k, Steps: iterateSteps, Seed: 1}
	sub := &measure.Subject{Roof: measure.RoofRead, Eta: math.NaN(), EtaP99: math.NaN(), Memory: true}
	sub.Run = func(ctx context.Context) error {
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
		sub.NNZ = iterateSteps * nnz
		sub.Bytes = 4*int64(n)*int64(d) + 8*nnz + iterateSteps*stepBytes(n, nnz, k)
		sub.Eta, sub.EtaP99 = out.Graph.Certificate.RowMax, out.Graph.Certificate.RowP99
		return nil
	}
	return sub, nil
}
