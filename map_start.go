package privatemail

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/spectral"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel"
)

const (
	sampledRows      = 20_000          // rows of the sample with which a large map begins
	sampledFrom      = 3 * sampledRows // rows from which a map is large
	sampleNeighbours = 10
)

// samplesStart reports whether the eigenvectors of n rows begin with those of a
// sample.
func (s *Settings) samplesStart(n int) bool { return n >= sampledFrom && s.Dim < sampledRows/2 }

// sampledStart returns the start for the eigenvectors of many rows: the eigenvectors of a
// sample, one row of each stretch of rows, and zero elsewhere. From a random start the
// number of products would grow with the number of rows. The sample has its own graph of
// nearest neighbours, for any graph of all rows.
func (e *Engine) sampledStart(ctx context.Context, x blas32.General, columns int, o *kernel.Options) (blas32.General, error) {
	need := 4 * (float64(x.Rows)*float64(columns) + sampledRows*float64(x.Cols))
	left, err := pipeline.Reserve(o.MaxMemory, need, fmt.Sprintf("start of %d x %d", x.Rows, columns))
	if err != nil {
		return blas32.General{}, err
	}
	if !o.Reserve(int64(need)) {
		return blas32.General{}, &kernel.MemoryError{What: "start of a map", Need: int64(need), Limit: o.MaxMemory}
	}
	rng := rand.New(rand.NewPCG(1, 4))
	rows := make([]int, sampledRows)
	sample := blas32.General{Rows: sampledRows, Cols: x.Cols, Stride: x.Cols, Data: make([]float32, sampledRows*x.Cols)}
	for s := range rows {
		lo, hi := split.Part(x.Rows, s, sampledRows), split.Part(x.Rows, s+1, sampledRows)
		rows[s] = lo + rng.IntN(hi-lo)
		copy(sample.Data[s*x.Cols:][:x.Cols], x.Data[rows[s]*x.Stride:])
	}
	own := beside(o, o.MaxMemory-left)
	own.CutoffRadius, own.Neighbours, own.SelfTuned, own.Operator = 0, sampleNeighbours, true, ""
	op, err := kernel.Build(ctx, sample, kernel.Gamma(1), own)
	if err != nil {
		return blas32.General{}, err
	}
	defer op.Close()
	run := e.convergeSettings(ctx, &Settings{Dim: columns, StopTolerance: 1e-4}, beside(own, op.Cost().ResidentBytes))
	run.UnitRows = false
	found, err := spectral.Converge(ctx, op, kernel.Step{Form: kernel.Attract}, run)
	if err != nil {
		return blas32.General{}, err
	}
	start := blas32.General{Rows: x.Rows, Cols: columns, Stride: columns, Data: make([]float32, x.Rows*columns)}
	for s, i := range rows {
		copy(start.Data[i*columns:][:columns], found.Points.Data[s*found.Points.Stride:][:columns])
	}
	return start, nil
}
