package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
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
func (c *contest) embeddings(ctx context.Context, n int) error {
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
		var matches []*match
		for _, w := range workerCounts() {
			name := fmt.Sprintf("op=embedding/kind=%s/n=%d/d=%d/nearest=%d/k=%d/workers=%d", set.kind, n, set.d, embeddingNeighbours, convergeColumns(n), w)
			if c.pattern == nil || c.pattern.MatchString(name) {
				matches = append(matches, &match{ratio: Ratio{Suite: "iterate", Case: name, N: n, D: set.d, K: convergeColumns(n), Workers: w, Level: level()}})
			}
		}
		if len(matches) == 0 {
			continue
		}
		x, err := set.points()
		if err != nil {
			return err
		}
		share := func(done float64) float64 { return (float64(i) + done/float64(len(matches))) / float64(len(sets)) }
		if err := c.embedding(ctx, x, matches, share); err != nil {
			return err
		}
	}
	return nil
}

// embedding plays the matches on points.
func (c *contest) embedding(ctx context.Context, x blas32.General, matches []*match, share func(done float64) float64) error {
	data := filepath.Join(c.folder, "rows")
	if err := writeFile(data, func(w io.Writer) error {
		return writeLittle(w, []uint64{uint64(x.Rows), uint64(x.Cols), embeddingNeighbours}, x.Data)
	}); err != nil {
		return err
	}
	rivals, err := c.rivals(ctx, "embedding", data)
	defer closeRivals(rivals)
	if err != nil {
		return err
	}
	for j, m := range matches {
		workers, k := c.lab.workers(m.ratio.Workers), m.ratio.K
		op, err := nearestGraph(ctx, x, workers)
		if err != nil {
			return err
		}
		m.k, m.most, m.ratio.NNZ = k, maxEmbeddingDifference, op.Cost().NNZ
		var values []float64
		var residual, theirResidual float64
		m.ours = func(ctx context.Context) error {
			op, err := nearestGraph(ctx, x, workers)
			if err != nil {
				return err
			}
			defer op.Close()
			out, err := iterate.Converge(ctx, op, kernel.Step{Form: kernel.Attract}, &iterate.ConvergeSettings{Columns: k, Tolerance: convergeTolerance, Workers: workers})
			if err != nil {
				return err
			}
			if out.Status != iterate.Converged {
				return fmt.Errorf("no convergence in %d products", out.Products)
			}
			values, residual = out.Values, slices.Max(out.Residuals)
			return nil
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
		err = c.play(ctx, m, rivals, func(round int) float64 {
			return share(float64(j) + float64(round)/float64(c.rounds))
		})
		op.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// nearestGraph returns the graph of nearest neighbours with weights that round to 1 where
// neighbours are at most a few units apart, as in all sets measured here.
func nearestGraph(ctx context.Context, x blas32.General, workers *kernel.Workers) (*kernel.CSR, error) {
	return kernel.NewCSR(ctx, x, kernel.Gamma(1e-10), &kernel.Options{Neighbours: embeddingNeighbours, Workers: workers})
}

// inOrder returns rows of k numbers, given in the order of the points, in that of the
// operator.
func inOrder(op *kernel.CSR, rows []float32, k int) []float32 {
	order := op.Order()
	if order == nil {
		return rows
	}
	out := make([]float32, 0, len(rows))
	for _, given := range order {
		out = append(out, rows[int(given)*k:][:k]...)
	}
	return out
}
