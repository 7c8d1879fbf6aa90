package kernel

import (
	"context"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// filterGraph searches with codes.
func filterGraph(ctx context.Context, p *rows.Points, b Bandwidth, radius float64, o *Options) (*graph, error) {
	held := searchBytes(p.N, p.D, o)
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "build csr: search by codes", Need: held, Budget: o.BudgetBytes}
	}
	rows, order, group, err := distinctRows(ctx, p, o.Workers)
	if err != nil {
		return nil, err
	}
	s := newSearch(p, rows)
	sv, err := takeSurvey(ctx, s.n, p.D, s.row, radius, o)
	if err != nil {
		return nil, err
	}
	one, _ := sparse.Bytes(o.exact(), s.n, 1)
	none, _ := sparse.Bytes(o.exact(), s.n, 0)
	entry := entryBytes + 2*(one-none) // of a pair: once in the half, twice in the whole
	left := o.BudgetBytes - held - none
	need := sv.found * float64(s.n) * float64(s.n-1) / 2 * float64(entry)
	if need > 4*float64(max(left, 0)) {
		return nil, o.tooManyWeights(need + float64(held))
	}
	if s.codes, err = sv.projection.encode(ctx, s.row, s.n, o); err != nil {
		return nil, err
	}
	if err := s.arrange(ctx, radius, o); err != nil {
		return nil, err
	}
	s.rough = p.D > wideColumns && sv.found < roughShare*sv.near
	g := &graph{radius: radius, entryRel: foundRel(p.D)}
	g.order, g.group = s.orders(order, group)
	g.distance = func(i, j int) float64 { return p.Dist2(s.given(i), s.given(j)) }

	pass, err := newFilterPass(ctx, s, b, radius, g.multiplicity, o)
	if err != nil {
		return nil, err
	}
	pass.memory.entry, pass.memory.writers = entry, int64(o.Workers.Count())
	pass.memory.left.Store(left)
	count := s.tiles.count()
	pass.progress = o.progress("find neighbours", count*(count+1)/2)
	if err := o.Workers.Do(ctx, pass.pieceCount(), pass); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // a piece may have been left half done
	}
	if pass.memory.short.Load() {
		return nil, o.tooManyWeights(max(need, float64(left+entry)) + float64(held))
	}
	half := pass.memory.taken.Load() / entry * entryBytes
	lower := pass.lower()
	pass.rooms = nil // lists of what was found take more than it takes in the half
	if g.weights, err = mirror(ctx, pass.pieces, lower, held+half, o); err != nil {
		return nil, err
	}
	pass.pieces = nil
	size, _ := sparse.Bytes(o.exact(), s.n, uint64(g.weights.NNZ()))
	g.peak = held + half + size
	g.search = SearchStats{
		Depth: s.codes.depth, Tiles: count, Balls: s.tiles.balls != nil, Pairs: int64(s.n) * int64(s.n-1) / 2,
		Compared: pass.compared.Load(), Measured: pass.left.Load(), Found: int64(g.weights.NNZ() / 2),
	}
	g.tail = make([]float64, s.n)
	var buffer sparse.RowBuffer
	for i := range g.tail {
		within := float64(g.weights.RowLen(i)) + 1
		if g.group != nil {
			within = g.multiplicity(i)
			ind, _ := g.weights.Row(i, &buffer)
			for _, j := range ind {
				within += g.multiplicity(int(j))
			}
		}
		g.tail[i] = pass.tails.tail(i, within)
	}
	return g, nil
}

// filterBytes is what a search by codes of the given depth takes beside the rooms of
// the workers: codes twice while they are put in order, and tiles, with the terms of
// rows and columns, and the sample.
func filterBytes(n, d, depth int) int64 {
	const sampled = 8 + 8 + 4 + 1
	return int64(n)*(2*codeBytes(depth)+4*4+4+1) + tilesBytes(n, depth) + tailBytes(n, depth) +
		min(int64(n), surveyRows)*(sampled*int64(d)+2*codeBytes(depth))
}
