package peers

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// iterate plays the eigenvectors of a graph, and those of points.
func (c *contest) iterate(ctx context.Context, n int, work measure.Portion) error {
	if err := c.eigenvectors(ctx, min(n, mostEigenRows), work.Piece(0, 2)); err != nil {
		return err
	}
	return c.embeddings(ctx, n, work.Piece(1, 2))
}

// eigenvectors plays the leading eigenvectors of a graph.
func (c *contest) eigenvectors(ctx context.Context, n int, work measure.Portion) error {
	k := suites.ConvergeColumns(n)
	matches := c.matches(record.Ratio{Suite: "iterate", N: n, D: suites.ConvergeDimension, K: k}, func(w int) string { return suites.ConvergeName(n, w) })
	if len(matches) == 0 {
		return nil
	}
	for _, m := range matches {
		op, err := suites.ConvergeGraph(ctx, c.lab, n, m.ratio.Workers)
		if err != nil {
			return err
		}
		var values []float64
		m.ratio.NNZ, m.most = op.Cost().NNZ, maxEigenDifference
		m.ours = func(ctx context.Context) error {
			out, err := suites.Eigenvectors(ctx, c.lab, op, m.ratio.Workers)
			if err == nil {
				values = out.Values
			}
			return err
		}
		m.differ = func(file string) (float64, error) {
			theirs, err := readFloats(file, n*k)
			if err != nil {
				return 0, err
			}
			return eigenDifference(ctx, op, theirs, values)
		}
	}
	return c.playAll(ctx, "iterate", func(file string) error {
		op, err := suites.ConvergeGraph(ctx, c.lab, n, matches[0].ratio.Workers)
		if err != nil {
			return err
		}
		a, err := suites.WeightsOf(ctx, op)
		if err != nil {
			return err
		}
		return writeGraph(file, a)
	}, matches, work)
}

// eigenDifference is how far the Rayleigh quotients y'W y / y'D y of the columns
// of theirs, n x k in the operator's order, are from the eigenvalues.
func eigenDifference(ctx context.Context, op kernel.Truncated, theirs []float32, values []float64) (float64, error) {
	n, k := op.N(), len(values)
	y := blas32.General{Rows: n, Cols: k, Stride: k, Data: theirs}
	wy := suites.Zeros(n, k)
	if err := op.Apply(ctx, wy, y); err != nil {
		return 0, err
	}
	worst := 0.0
	for j, value := range values {
		above, below := 0.0, 0.0
		for i, d := range op.Degrees() {
			v := float64(y.Data[i*k+j])
			above += v * float64(wy.Data[i*k+j])
			below += d * v * v
		}
		worst = max(worst, math.Abs(above/below-value)) // max keeps a NaN
	}
	return worst, nil
}

const (
	// mostEigenRows keeps a round of the peer within seconds on generated points.
	mostEigenRows = 10_000
	// maxEigenDifference is what a Rayleigh quotient may be off by: with a
	// residual of r it is off by r^2 over a gap.
	maxEigenDifference = 1e-4
)
