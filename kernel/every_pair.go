package kernel

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// everyPairGraph returns the graph of every pair: there is nothing to find, and the place
// of every entry is known.
func everyPairGraph(ctx context.Context, p *rows.Points, b Bandwidth, o *Options) (*graph, error) {
	held := searchBytes(p.N, p.D, o)
	if err := o.take("build csr: every pair", held); err != nil {
		return nil, err
	}
	distinct, err := rows.FindDistinct(ctx, p, o.Workers)
	if err != nil {
		return nil, err
	}
	q, err := newDistancer(ctx, p, distinct.Rows, o.Workers, o.Kernels)
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, q.n+1)
	for i := range q.n {
		counts[i+1] = uint64(q.n - 1)
	}
	request := o.request(p, b, math.Inf(1))
	arrays, err := request.Allocate(ctx, counts, held)
	if err != nil {
		return nil, o.searchError(err)
	}
	pass := &everyPairPass{q: q, b: b, blocks: tournament{split.Blocks(q.n, blockRows)}, scratch: make([]*distanceScratch, o.Workers.Count()), ind: arrays.Ind, val: arrays.Val}
	if err := pass.blocks.play(ctx, o.Workers, pass, &pass.round, o.progress("fill weights", pass.blocks.rounds())); err != nil {
		return nil, err
	}
	weights, err := request.Adopt(ctx, q.n, arrays)
	if err != nil {
		return nil, err
	}
	size, _ := o.exact().Bytes(q.n, uint64(len(arrays.Ind)))
	return &graph{
		Result: rows.Result{
			Weights: weights, Order: distinct.Order, Group: distinct.Group, Tails: make([]float64, q.n),
			Peak: held + size, Distance: q.exact,
		},
		radius:   math.Inf(1),
		entryRel: weightRel(b, p.D, q.most) + 0x1p-24, // the stored format
	}, nil
}

// everyPairBytes is what a graph of every pair of n points in d dimensions takes beside
// the weights.
func everyPairBytes(n, d, workers int) int64 {
	return int64(n)*(rows.RowBytes+8+4+4) + int64(workers)*distanceScratchBytes(d)
}

// everyPairPass visits all pairs of distinct points once, block against block, and stores
// their weights. The blocks of a round belong to one game each, so rows have one
// writer.
type everyPairPass struct {
	q       *distancer
	b       Bandwidth
	blocks  tournament
	round   int
	scratch []*distanceScratch
	ind     []uint32 // n-1 of each row
	val     []float32
}

// Run plays one game.
func (t *everyPairPass) Run(worker, game int) {
	a, b, ok := t.blocks.game(t.round, game)
	if !ok {
		return
	}
	if t.scratch[worker] == nil {
		t.scratch[worker] = newDistanceScratch(t.q)
	}
	scratch, q := t.scratch[worker], t.q
	alo, ahi := split.Block(a, q.n, blockRows)
	blo, bhi := split.Block(b, q.n, blockRows)
	q.fill(scratch, alo, ahi, blo, bhi)
	for i := alo; i < ahi; i++ {
		first := blo
		if a == b {
			first = i + 1
		}
		row := scratch.row(i-alo, bhi-blo)[first-blo:]
		q.weigh(t.b, row, i, first)
		for j := first; j < bhi; j++ {
			// Row i has all columns but i, and j > i.
			w := float32(row[j-first])
			t.put(i*(q.n-1)+j-1, j, w)
			t.put(j*(q.n-1)+i, i, w)
		}
	}
}

func (t *everyPairPass) put(at, column int, w float32) {
	t.ind[at], t.val[at] = uint32(column), w
}
