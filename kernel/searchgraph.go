package kernel

import (
	"context"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// SearchStats say what the filters of a search in many dimensions left.
type SearchStats struct {
	// Depth is the number of places of a code, Tiles the number of tiles, and Balls
	// whether there were balls around them.
	Depth, Tiles int
	Balls        bool
	// Pairs of distinct points; those whose codes were compared, because they were
	// near to a ball; those whose distance was measured, because their codes were
	// near; and those within the radius.
	Pairs, Compared, Measured, Found int64
}

// filterGraph searches with codes.
func filterGraph(ctx context.Context, p *pointSet, b Bandwidth, radius float64, o *Options) (*graph, error) {
	held := searchBytes(p.n, p.d, o)
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "build csr: search by codes", Need: held, Budget: o.BudgetBytes}
	}
	rows, order, group, err := distinctRows(ctx, p, o.Workers)
	if err != nil {
		return nil, err
	}
	s := newSearch(p, rows)
	sv, err := takeSurvey(ctx, s.n, p.d, s.row, radius, o)
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
	s.rough = p.d > wideColumns && sv.found < roughShare*sv.near
	g := &graph{radius: radius, entryRel: directRel(p.d) + 1.18*0x1p-24} // simd.Weights
	g.order, g.group = s.orders(order, group)
	g.distance = func(i, j int) float64 { return p.dist2(s.given(i), s.given(j)) }

	pass, err := newFilterPass(ctx, s, b, radius, g.multiplicity, o)
	if err != nil {
		return nil, err
	}
	pass.memory.entry, pass.memory.writers = entry, int64(o.Workers.Workers())
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
	if g.weights, err = mirror(ctx, pass.pieces, pass.lower(), held+half, o); err != nil {
		return nil, err
	}
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

// search is a set of distinct points, prepared for a search.
type search struct {
	p     *pointSet
	n     int
	rows  []uint32 // given row of each point; nil where all take part
	at    []uint32 // point at each place; nil where they are in their order
	codes *codes   // by place
	tiles *tiles
	index []uint32 // given row at each place; nil where that is its number
	rough bool     // distances are measured in float32 first
}

func newSearch(p *pointSet, rows []uint32) *search {
	s := &search{p: p, n: p.n, rows: rows}
	if rows != nil {
		s.n = len(rows)
	}
	return s
}

// given returns the given row at a place.
func (s *search) given(i int) int {
	if s.at != nil {
		i = int(s.at[i])
	}
	if s.rows != nil {
		i = int(s.rows[i])
	}
	return i
}

// row returns the numbers of the point at a place.
func (s *search) row(i int) []float32 { return s.p.single.row(s.given(i)) }

// arrange orders the points and makes the tiles, with balls if they save work.
func (s *search) arrange(ctx context.Context, radius float64, o *Options) error {
	order, ends, err := arrange(ctx, s.codes, radius, o)
	if err != nil {
		return err
	}
	if order != nil {
		s.at = order
		if s.codes, err = s.codes.permuted(ctx, order, o.Workers); err != nil {
			return err
		}
	}
	balls := ends != nil
	if s.tiles, err = newTiles(ctx, s.codes, ends, balls, o.Workers); err != nil {
		return err
	}
	if balls && s.tiles.share(radius, o.Kernels) > ballShare {
		if s.tiles, err = newTiles(ctx, s.codes, nil, false, o.Workers); err != nil {
			return err
		}
	}
	if s.at != nil || s.rows != nil {
		s.index = make([]uint32, s.n)
		for i := range s.index {
			s.index[i] = uint32(s.given(i))
		}
	}
	return nil
}

// near returns the given rows at some places, in a buffer if need be.
func (s *search) near(places []uint32, buffer *[]uint32) []uint32 {
	if s.index == nil {
		return places
	}
	out := (*buffer)[:0]
	for _, i := range places {
		out = append(out, s.index[i])
	}
	*buffer = out
	return out
}

// orders returns the order of given rows, and the bounds of the points in it, from
// those by point.
func (s *search) orders(order, group []uint32) (given, bounds []uint32) {
	if group == nil {
		return s.at, nil
	}
	given, bounds = make([]uint32, 0, len(order)), make([]uint32, 0, len(group))
	for i := range s.n {
		point := i
		if s.at != nil {
			point = int(s.at[i])
		}
		bounds = append(bounds, uint32(len(given)))
		given = append(given, order[group[point]:group[point+1]]...)
	}
	return given, append(bounds, uint32(len(given)))
}

// filterBytes is what a search by codes of the given depth takes beside the rooms of
// the workers: codes twice while they are put in order, and tiles, with the terms of
// rows and columns, and the sample.
func filterBytes(n, d, depth int) int64 {
	const sampled = 8 + 8 + 4 + 1
	return int64(n)*(2*codeBytes(depth)+4*4+4+1) + tilesBytes(n, depth) + tailBytes(n, depth) +
		min(int64(n), surveyRows)*(sampled*int64(d)+2*codeBytes(depth))
}
