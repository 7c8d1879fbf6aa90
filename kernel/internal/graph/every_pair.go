package graph

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// everyPairGraph returns the graph of every pair: there is nothing to find, and the place
// of every entry is known.
func everyPairGraph(ctx context.Context, p *rows.Points, b base.Bandwidth, o *base.Options) (*Graph, error) {
	held := SearchBytes(p.N, p.D, o)
	if err := o.Take("build csr: every pair", held); err != nil {
		return nil, err
	}
	distinct, err := rows.FindDistinct(ctx, p, o.Workers)
	if err != nil {
		return nil, err
	}
	q, err := distance.NewDistancer(ctx, p, distinct.Rows, o.Workers, o.Kernels)
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, q.N+1)
	for i := range q.N {
		counts[i+1] = uint64(q.N - 1)
	}
	request := RequestOf(o, p, b, math.Inf(1))
	arrays, err := request.Allocate(ctx, counts, held)
	if err != nil {
		return nil, SearchError(o, err)
	}
	pass := &everyPairPass{q: q, b: b, blocks: distance.Tournament{Blocks: split.Blocks(q.N, distance.BlockRows)}, scratch: make([]*distance.DistanceScratch, o.Workers.Count()), ind: arrays.Ind, val: arrays.Val}
	if err := pass.blocks.Play(ctx, o.Workers, pass, &pass.round, o.Stage("fill weights", pass.blocks.Rounds())); err != nil {
		return nil, err
	}
	weights, err := request.Adopt(ctx, q.N, arrays)
	if err != nil {
		return nil, err
	}
	size, _ := exactLayout(o).Bytes(q.N, uint64(len(arrays.Ind)))
	return &Graph{
		Result: rows.Result{
			Weights: weights, Order: distinct.Order, Group: distinct.Group, Tails: make([]float64, q.N),
			Peak: held + size, Distance: q.Exact,
		},
		Radius:   math.Inf(1),
		EntryRel: distance.WeightRel(b, p.D, q.Most) + 0x1p-24, // the stored format
	}, nil
}

// everyPairBytes is what a graph of every pair of n points in d dimensions takes in addition to
// the weights.
func everyPairBytes(n, d, workers int) int64 {
	return int64(n)*(rows.RowBytes+8+4+4) + int64(workers)*distance.DistanceScratchBytes(d)
}

// everyPairPass visits all pairs of distinct points once, block against block, and stores
// their weights. The blocks of a round belong to one game each, so rows have one
// writer.
type everyPairPass struct {
	q       *distance.Distancer
	b       base.Bandwidth
	blocks  distance.Tournament
	round   int
	scratch []*distance.DistanceScratch
	ind     []uint32 // n-1 of each row
	val     []float32
}

// Run plays one game.
func (t *everyPairPass) Run(worker, game int) {
	a, b, ok := t.blocks.Game(t.round, game)
	if !ok {
		return
	}
	if t.scratch[worker] == nil {
		t.scratch[worker] = distance.NewDistanceScratch(t.q)
	}
	scratch, q := t.scratch[worker], t.q
	alo, ahi := split.Block(a, q.N, distance.BlockRows)
	blo, bhi := split.Block(b, q.N, distance.BlockRows)
	q.Fill(scratch, alo, ahi, blo, bhi)
	for i := alo; i < ahi; i++ {
		first := blo
		if a == b {
			first = i + 1
		}
		row := scratch.Row(i-alo, bhi-blo)[first-blo:]
		q.Weigh(t.b, row, i, first)
		for j := first; j < bhi; j++ {
			// Row i has all columns but i, and j > i.
			w := float32(row[j-first])
			t.put(i*(q.N-1)+j-1, j, w)
			t.put(j*(q.N-1)+i, i, w)
		}
	}
}

func (t *everyPairPass) put(at, column int, w float32) {
	t.ind[at], t.val[at] = uint32(column), w
}
