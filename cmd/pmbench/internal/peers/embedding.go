package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

const (
	// mostEmbeddedRows keeps a round of the peer within two minutes.
	mostEmbeddedRows = 20_000
	// embeddingNeighbours is how many nearest neighbours of each point are in the graph.
	embeddingNeighbours = 32
	// maxEmbeddingDifference is what a Rayleigh quotient may be off by. The graphs have
	// the same pairs and not the same weights: a pair of which one is among the nearest
	// of the other, and not the other way round, counts 1 with us and 1/2 with them.
	maxEmbeddingDifference = 0.1
)

// embeddings plays whole spectral embeddings, from points to eigenvectors, of at most n
// points.
func (c *contest) embeddings(ctx context.Context, n int, work measure.Portion) error {
	n = min(n, mostEmbeddedRows)
	hard := suites.SearchSet{Kind: "hard", N: n, D: 64}
	sets := []struct {
		kind   string
		d      int
		points func() (blas32.General, error)
	}{
		{"uniform", suites.ConvergeDimension, func() (blas32.General, error) { return suites.ConvergePoints(c.lab, n) }},
		{hard.Kind, hard.D, hard.Points},
	}
	if folder := os.Getenv("PM_FEATURES"); folder != "" {
		n = min(n, mostEigenRows)
		sets = sets[:1]
		sets[0].kind, sets[0].d = filepath.Base(folder), suites.FeatureDimension
	}
	for i, set := range sets {
		k := suites.ConvergeColumns(n)
		matches := c.matches(record.Ratio{Suite: "iterate", N: n, D: set.d, K: k}, func(w int) string {
			return fmt.Sprintf("op=embedding/kind=%s/n=%d/d=%d/nearest=%d/k=%d/workers=%d", set.kind, n, set.d, embeddingNeighbours, k, w)
		})
		if len(matches) == 0 {
			continue
		}
		x, err := set.points()
		if err != nil {
			return err
		}
		if err := c.embedding(ctx, x, matches, work.Piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}

// embedding plays the matches on points.
func (c *contest) embedding(ctx context.Context, x blas32.General, matches []*match, work measure.Portion) error {
	op, err := nearestGraph(ctx, x, c.lab.Workers(measure.AllWorkers())) // to hold theirs against
	if err != nil {
		return err
	}
	defer op.Close()
	for _, m := range matches {
		k, workers := m.ratio.K, m.ratio.Workers
		var values []float64
		var residual, theirResidual float64
		m.ratio.NNZ, m.most = op.Cost().NNZ, maxEmbeddingDifference
		m.ours = func(ctx context.Context) error {
			op, err := nearestGraph(ctx, x, c.lab.Workers(workers))
			if err != nil {
				return err
			}
			defer op.Close()
			out, err := suites.Eigenvectors(ctx, c.lab, op, workers)
			if err == nil {
				values, residual = out.Values, slices.Max(out.Residuals)
			}
			return err
		}
		m.differ = func(file string) (float64, error) {
			theirs, err := readFloats(file, x.Rows*k+1)
			if err != nil {
				return 0, err
			}
			theirResidual = float64(theirs[x.Rows*k])
			return eigenDifference(ctx, op, inOrder(op, theirs[:x.Rows*k], k), values)
		}
		m.residuals = func() (ours, theirs float64) { return residual, theirResidual }
	}
	return c.playAll(ctx, "embedding", func(file string) error {
		return writeLittle(file, []uint64{uint64(x.Rows), uint64(x.Cols), embeddingNeighbours}, x.Data)
	}, matches, work)
}

// nearestGraph returns the graph of nearest neighbours with weights that round to 1 where
// neighbours are at most a few units apart, as in all sets measured here.
func nearestGraph(ctx context.Context, x blas32.General, workers *par.Workers) (kernel.Truncated, error) {
	return suites.BuildCSR(ctx, x, kernel.Gamma(1e-10), kernel.Options{Neighbours: embeddingNeighbours, Workers: workers})
}

// inOrder returns rows of k numbers, given in the order of the points, in that of the
// operator.
func inOrder(op kernel.Truncated, rows []float32, k int) []float32 {
	out := make([]float32, 0, len(rows))
	for row := range op.N() {
		out = append(out, rows[int(suites.Given(op, row))*k:][:k]...)
	}
	return out
}
