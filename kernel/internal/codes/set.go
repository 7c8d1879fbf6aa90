package codes

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A set is the points of a search, prepared for it.
type set struct {
	p     *rows.Points
	n     int      // points
	rows  []uint32 // given row of each point; nil when all given rows take part
	at    []uint32 // point at each place; nil when the order of places is the order of points
	codes *codes   // of the point at each place
	tiles *tiles
	index []uint32 // given row at each place; nil when at and rows are nil
	share float64  // of balls that a point is near to; 1 when tiles have no balls
	rough bool     // a filterPass measures distances in float32 first, as a nearestPass always does

	products *products // of the point at each place; nil where they do not help
}

// newSet returns the set of the given rows of p, of all rows where rows is nil.
func newSet(p *rows.Points, rows []uint32) *set {
	s := &set{p: p, n: p.N, rows: rows}
	if rows != nil {
		s.n = len(rows)
	}
	return s
}

// given returns the given row at a place.
func (s *set) given(i int) int {
	if s.at != nil {
		i = int(s.at[i])
	}
	if s.rows != nil {
		i = int(s.rows[i])
	}
	return i
}

// row returns the numbers of the point at a place.
func (s *set) row(i int) []float32 { return s.p.Single.Row(s.given(i)) }

// arrange orders the points and makes the tiles, with balls if balls save work.
func (s *set) arrange(ctx context.Context, radius float64, req *rows.Request) error {
	order, ends, err := arrange(ctx, s.codes, radius, req)
	if err != nil {
		return err
	}
	if order != nil {
		s.at = order
		s.codes.permute(order)
	}
	if s.tiles, err = newTiles(ctx, s.codes, ends, req.Workers); err != nil {
		return err
	}
	s.share = 1
	if s.tiles.balls != nil {
		s.share = s.tiles.share(radius, req.Kernels)
	}
	if s.tiles.balls != nil && s.share > ballShare {
		s.share = 1
		if s.tiles, err = newTiles(ctx, s.codes, nil, req.Workers); err != nil {
			return err
		}
	}
	if err := s.tiles.fill(ctx, req.Workers); err != nil {
		return err
	}
	if s.at != nil || s.rows != nil {
		s.index = make([]uint32, s.n)
		for i := range s.index {
			s.index[i] = uint32(s.given(i))
		}
	}
	return nil
}

// givenRows returns the given rows at some places. The result is the places themselves or
// in the buffer.
func (s *set) givenRows(places []uint32, buffer *[]uint32) []uint32 {
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

// sift keeps, of some places and the given rows at them, the places whose squared distance
// from x in float32 does not exceed the limit. It moves them to the front of both slices.
func (s *set) sift(k *simd.Kernels, x []float32, places, given []uint32, limit float32, buffer *[]float32) (near, rows []uint32) {
	d2 := slices.Grow((*buffer)[:0], len(places))[:len(places)]
	*buffer = d2
	all := s.p.Single
	k.SqDists(d2, x, simd.RowsOf(all.Data, all.Stride), given, limit)
	count := 0
	for e, v := range d2 {
		if v <= limit {
			places[count], given[count] = places[e], given[e]
			count++
		}
	}
	return places[:count], given[:count]
}

// prepare makes the codes and the tiles of a search within a radius.
func (s *set) prepare(ctx context.Context, sv *survey, radius float64, req *rows.Request) (err error) {
	mem.MakeRoom(int64(s.n) * codeBytes(sv.projection.depth))
	if s.codes, err = sv.projection.encode(ctx, s.row, s.n, req); err != nil {
		return err
	}
	if err := s.arrange(ctx, radius, req); err != nil {
		return err
	}
	if sv.near >= productShare { // otherwise few tiles have enough pairs left
		s.products, err = newProducts(ctx, s.row, s.n, sv.projection.centre, req)
	}
	return err
}

// distance returns the squared distance of the points at two places.
func (s *set) distance(i, j int) float64 { return s.p.Dist2(s.given(i), s.given(j)) }

// stats returns what a search of the set did.
func (s *set) stats(pairs, compared, measured, found int64) rows.Stats {
	return rows.Stats{
		Depth: s.codes.depth, Tiles: s.tiles.count(), Balls: s.tiles.balls != nil,
		Pairs: pairs, Compared: compared, Measured: measured, Found: found,
	}
}

// orders returns the given rows in the order of places, and where the rows of each place
// begin, and the end. d has both in the order of points. given is nil when rows are in
// their order, bounds when all points are distinct.
func (s *set) orders(d rows.Distinct) (given, bounds []uint32) {
	order, group := d.Order, d.Group
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
