package privatemail

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Extend places new rows, the queries, in an embedding of the features: into gets, for each
// query, the mean of the embedding's rows of its k nearest rows of the features, with the weights
//
//	w_j = exp(-(r_j / r)^2),
//
// r_j their distances and r the distance of the last. Where all of them equal the query their
// weights are equal. k = 10 is a good number. The memory limit counts into, which has a row for each
// query and as many columns as the embedding, and shares no memory with the other matrices. On an
// error it is unchanged.
//
// Errors: those of Nearest, and sparse.ErrAlias for into.
func (e *Engine) Extend(ctx context.Context, features, embedding, queries blas32.General, k int, into blas32.General) (err error) {
	c, err := e.begin(ctx, "extend")
	if err != nil {
		return err
	}
	defer c.end(&err)
	s := &nearestSearch{features: features, queries: queries, k: k}
	if err := s.checkExtend(embedding, into); err != nil {
		return err
	}
	m, err := e.reserveInTurn(ctx, s.bytes()+4*float64(into.Rows)*float64(into.Cols), s.what())
	if err != nil {
		return err
	}
	defer m.release()
	for m.next(ctx, &err) {
		var index []int
		var squared []float64
		if index, squared, err = e.nearestAmong(ctx, s); err == nil {
			err = e.mix(ctx, embedding, into, k, index, squared)
		}
	}
	return err
}

// checkExtend refuses matrices that do not fit each other.
func (s *nearestSearch) checkExtend(embedding, into blas32.General) error {
	if s.within() {
		return fmt.Errorf("queries: %w", kernel.ErrEmpty)
	}
	if err := s.check(); err != nil {
		return err
	}
	if err := points.CheckSize(embedding, s.features.Rows, embedding.Cols); err != nil {
		return fmt.Errorf("embedding: %w", err)
	}
	if err := points.CheckFinite(embedding); err != nil {
		return fmt.Errorf("embedding: %w", err)
	}
	if embedding.Cols < 1 || into.Data == nil {
		return fmt.Errorf("%w: an embedding of %d columns, and an into of %d x %d", kernel.ErrShape, embedding.Cols, into.Rows, into.Cols)
	}
	if err := pipeline.CheckInto(into, s.queries.Rows, embedding.Cols); err != nil {
		return err
	}
	for _, other := range []blas32.General{s.features, embedding, s.queries} {
		if mem.Overlap(used(into), used(other)) {
			return fmt.Errorf("into: %w: it shares memory with the features, the embedding or the queries", sparse.ErrAlias)
		}
	}
	return nil
}

// mix writes the weighted means of rows of the embedding. It ignores cancellation, so that into
// is never half written: it takes far less time than the search.
func (e *Engine) mix(ctx context.Context, embedding, into blas32.General, k int, index []int, squared []float64) error {
	const rows = 256
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.workers.Do(context.WithoutCancel(ctx), split.Blocks(into.Rows, rows), par.Func(func(_, block int) {
		lo, hi := split.Block(block, into.Rows, rows)
		sum := make([]float64, into.Cols)
		for i := lo; i < hi; i++ {
			clear(sum)
			total, far := 0.0, squared[(i+1)*k-1]
			for at := i * k; at < (i+1)*k; at++ {
				w := localWeight(squared[at], far)
				total += w
				for c, v := range embedding.Data[index[at]*embedding.Stride:][:embedding.Cols] {
					sum[c] += w * float64(v)
				}
			}
			for c, v := range sum {
				into.Data[i*into.Stride+c] = float32(v / total)
			}
		}
	}))
}

// localWeight returns the weight exp(-squared/far) of a neighbour for a row that takes its place
// from neighbours. far is the squared distance of the last of them, so the scale follows the
// place. Where it is 0 all neighbours are equal to the row and count alike.
func localWeight(squared, far float64) float64 {
	if far == 0 {
		return 1
	}
	return math.Exp(-squared / far)
}
