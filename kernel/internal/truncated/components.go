package truncated

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
)

// Components returns the sizes of the parts of the graph that no weight connects, the
// largest first. A point without neighbours and equals is no part.
func (op *Truncated) Components(ctx context.Context) ([]int, error) {
	parent := make([]uint32, op.Rows.Rows())
	for i := range parent {
		parent[i] = uint32(i)
	}
	root := func(i uint32) uint32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	join := func(a, b uint32) (at uint32) {
		a, b = root(a), root(b)
		parent[max(a, b)] = min(a, b)
		return min(a, b)
	}
	reader := op.Rows.Reader(1)
	lo, hi := 0, len(parent)
	if op.RankChunks != nil {
		bounds := op.PointBounds()
		lo, hi = bounds[op.Ranks.Rank()], bounds[op.Ranks.Rank()+1]
	}
	for i := lo; i < hi; i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ind, _ := reader.Weights(i)
		at := uint32(i)
		for _, j := range ind {
			if j >= uint32(i) {
				break // j has the pair, too
			}
			at = join(at, j)
		}
	}
	if op.RankChunks != nil {
		joined, err := op.gatherJoined(ctx, parent)
		if err != nil {
			return nil, err
		}
		for e := 0; e < len(joined); e += 2 {
			join(joined[e], joined[e+1])
		}
	}
	size := make(map[uint32]int)
	for i := range parent {
		size[root(uint32(i))] += op.First(i+1) - op.First(i)
	}
	var sizes []int
	for _, s := range size {
		if s > 1 {
			sizes = append(sizes, s)
		}
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	return sizes, nil
}

// gatherJoined returns the points that the ranks have joined by their rows, two numbers each
// time: a point and its parent.
func (op *Truncated) gatherJoined(ctx context.Context, parent []uint32) ([]uint32, error) {
	var joined []uint32
	for i, p := range parent {
		if p != uint32(i) {
			joined = append(joined, uint32(i), p)
		}
	}
	all, _, err := exchange.GatherAll(ctx, op.Ranks, joined)
	return all, err
}
