package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

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
func (c *contest) embeddings(ctx context.Context, n int, work portion) error {
	n = min(n, mostEmbeddedRows)
	hard := searchSet{"hard", n, 64}
	sets := []struct {
		kind   string
		d      int
		points func() (blas32.General, error)
	}{
		{"uniform", convergeDimension, func() (blas32.General, error) { return c.lab.convergePoints(n) }},
		{hard.kind, hard.d, hard.points},
	}
	if folder := os.Getenv("PM_FEATURES"); folder != "" {
		n = min(n, mostEigenRows)
		sets = sets[:1]
		sets[0].kind, sets[0].d = filepath.Base(folder), featureDimension
	}
	for i, set := range sets {
		k := convergeColumns(n)
		matches := c.matches(Ratio{Suite: "iterate", N: n, D: set.d, K: k}, func(w int) string {
			return fmt.Sprintf("op=embedding/kind=%s/n=%d/d=%d/nearest=%d/k=%d/workers=%d", set.kind, n, set.d, embeddingNeighbours, k, w)
		})
		if len(matches) == 0 {
			continue
		}
		x, err := set.points()
		if err != nil {
			return err
		}
		if err := c.embedding(ctx, x, matches, work.piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}

// embedding plays the matches on points.
func (c *contest) embedding(ctx context.Context, x blas32.General, matches []*match, work portion) error {
	op, err := nearestGraph(ctx, x, c.lab.workers(allWorkers())) // to hold theirs against
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
			op, err := nearestGraph(ctx, x, c.lab.workers(workers))
			if err != nil {
				return err
			}
			defer op.Close()
			out, err := c.lab.eigenvectors(ctx, op, workers)
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
	return buildCSR(ctx, x, kernel.Gamma(1e-10), kernel.Options{Neighbours: embeddingNeighbours, Workers: workers})
}

// inOrder returns rows of k numbers, given in the order of the points, in that of the
// operator.
func inOrder(op kernel.Truncated, rows []float32, k int) []float32 {
	out := make([]float32, 0, len(rows))
	for row := range op.N() {
		out = append(out, rows[int(given(op, row))*k:][:k]...)
	}
	return out
}
