package pairwise

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/par"
)

// densePass is the pass of dense: games of blocks against blocks make W x, chunks of its
// rows follow. As long as the degrees are not known, a column of ones stands next to those
// of x.
//
// Of ranks each plays the games of its own blocks, and adds up for the rows of these alone:
// a game of blocks of two ranks is played by both. So a row gets its terms in the order of
// the rounds, as with one process, and no sums travel.
//
// A game measures its pairs, makes their weights and adds them up twice, for the rows of
// either block. What package sensitivity proves of the rounding of a first step
// (RoundingError) covers each part:
//
//   - distances are |a|^2 + |b|^2 - 2 a.b of the unit rows as they are, or come from
//     differences ("What is covered"); products are fused and summed column by column, or by
//     a system's library in any order, the norms column by column, and the last sum has
//     two roundings of its 16;
//   - weights are exp(-x d^2) with x d^2 rounded, the exponential within 1.8 of its 8 u0
//     (simd.Kernels.Weights64), and no less than exp(-4 x) as computed;
//   - sums are over all rows in the order of the rounds and, within a game, in lanes or row
//     by row. A term passes at most as many additions as there are rows, those of zeros
//     apart, which are exact: the diagonal and what fills up a block to a multiple of 8.
type densePass[T rows.Float] struct {
	*step.Product[T]
	op      *Dense
	columns int                         // of the pass: k, and one of ones
	xt, wxt simd.Rows[float64]          // x and W x by columns, each filled up to a multiple of 8
	scratch []*distance.DistanceScratch // one per worker
	row     []float64                   // a row of W x for each worker
	round   int
	lo, hi  int // rows whose sums are made
}

// eights returns n, rounded up to a multiple of 8.
func eights(n int) int { return (n + 7) &^ 7 }

func newDensePass[T rows.Float](op *Dense, p *step.Product[T]) *densePass[T] {
	workers := op.Workers.Count()
	pass := &densePass[T]{Product: p, op: op, columns: p.K, scratch: make([]*distance.DistanceScratch, workers), row: make([]float64, workers*p.K)}
	if !op.Known.Load() {
		pass.columns++
	}
	stride := eights(op.q.N)
	pass.xt = simd.RowsOf(make([]float64, pass.columns*stride), stride)
	pass.wxt = simd.RowsOf(make([]float64, pass.columns*stride), stride)
	for w := range pass.scratch {
		pass.scratch[w] = distance.NewDistanceScratch(op.q)
	}
	return pass
}

// column returns a column of W x.
func (pass *densePass[T]) column(c int) []float64 {
	return pass.wxt.Data[c*pass.wxt.Stride:][:pass.op.q.N]
}

// Prepare makes W x.
func (pass *densePass[T]) Prepare(ctx context.Context) error {
	return pass.sum(ctx, pass.op.Workers, pass.op.Ranks)
}

// sum makes W x, round after round of the tournament, and the degrees unless they are
// known. Of the ranks that share the work each makes its rows of W x, and all degrees are
// gathered; nil ranks make everything here.
func (pass *densePass[T]) sum(ctx context.Context, workers *par.Workers, ranks *par.Ranks) error {
	op, k := pass.op, pass.K
	pass.lo, pass.hi = 0, op.q.N
	if !ranks.Alone() {
		pass.lo, pass.hi = op.Part()
	}
	if op.Known.Load() {
		pass.columns = k
	}
	if pass.columns == 0 { // another caller has summed the degrees meanwhile
		return nil
	}
	for i := range op.q.N {
		for c := range pass.columns {
			v := 1.0
			if c < k {
				v = float64(pass.X.Data[i*pass.X.Stride+c])
			}
			pass.xt.Data[c*pass.xt.Stride+i] = v
		}
	}
	clear(pass.wxt.Data)
	if err := op.blocks.Play(ctx, workers, pass, &pass.round, op.progress); err != nil {
		return err
	}
	if pass.columns > k {
		if err := exchange.Gather(ctx, ranks, pass.column(k), op.RankBounds()); err != nil {
			return err
		}
		op.setDegrees(pass.column(k))
	}
	return nil
}

// MakeRows puts the rows of W x. A row of degree 0 has weights that are too small to count, and
// they are no part of W.
func (pass *densePass[T]) MakeRows(worker, chunk int) {
	op, k := pass.op, pass.K
	wx := pass.row[worker*k:][:k]
	for i := op.Bounds[chunk]; i < op.Bounds[chunk+1]; i++ {
		for c := range wx {
			wx[c] = pass.wxt.Data[c*pass.wxt.Stride+i]
		}
		if pass.Stats == nil && op.RowSums[i] == 0 {
			clear(wx)
		}
		pass.Put(chunk, i, wx)
	}
}

// Run plays one game.
func (pass *densePass[T]) Run(worker, game int) {
	op := pass.op
	a, b, ok := op.blocks.Game(pass.round, game)
	if !ok {
		return
	}
	alo, ahi := split.Block(a, op.q.N, distance.BlockRows)
	blo, bhi := split.Block(b, op.q.N, distance.BlockRows)
	ownA, ownB := pass.owns(alo), pass.owns(blo)
	if !ownA && !ownB {
		return
	}
	t := pass.scratch[worker]
	op.q.Fill(t, alo, ahi, blo, bhi)
	width := eights(bhi - blo)
	for i := alo; i < ahi; i += 8 { // as many rows as stay in the first-level cache
		for r := i; r < i+8; r++ {
			pass.weighRow(t.Row(r-alo, width), r, ahi, blo, bhi)
		}
		if ownA {
			op.Kernels.WeightedSums64(columnsFrom(pass.wxt, i), simd.RowsOf(t.D2[(i-alo)*t.Stride:], t.Stride), columnsFrom(pass.xt, blo), pass.columns, 8, width)
		}
	}
	if a != b && ownB { // the sums of a block with itself have both sides of every pair
		op.Kernels.WeightedSumsTrans64(columnsFrom(pass.wxt, blo), simd.RowsOf(t.D2, t.Stride), columnsFrom(pass.xt, alo), pass.columns, eights(ahi-alo), width)
	}
}

// owns reports whether the sums of the block that begins with row i are made here. Chunks are
// whole blocks, so no block belongs to two ranks.
func (pass *densePass[T]) owns(i int) bool { return i >= pass.lo && i < pass.hi }

// weighRow turns the squared distances of row i to rows blo to bhi-1 into weights: zeros
// from row ahi on, with itself, and behind bhi.
func (pass *densePass[T]) weighRow(w []float64, i, ahi, blo, bhi int) {
	if i >= ahi {
		clear(w)
		return
	}
	pass.op.weigh(w[:bhi-blo], i, blo)
	clear(w[bhi-blo:])
	if i >= blo && i < bhi {
		w[i-blo] = 0
	}
}

// columnsFrom returns columns from row i on.
func columnsFrom(columns simd.Rows[float64], i int) simd.Rows[float64] {
	return simd.RowsOf(columns.Data[i:], columns.Stride)
}
