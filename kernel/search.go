package kernel

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/simd"
)

// SearchStats say what the filters of a search in many dimensions left. A search for
// nearest neighbours counts all points, not distinct ones, and a pair from either side.
// What it looks at twice counts twice, and points it begins with are not among those
// measured.
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

// search is a set of distinct points, prepared for a search.
type search struct {
	p     *pointSet
	n     int
	rows  []uint32 // given row of each point; nil where all take part
	at    []uint32 // point at each place; nil where they are in their order
	codes *codes   // by place
	tiles *tiles
	index []uint32 // given row at each place; nil where that is its number
	rough bool     // a filterPass measures distances in float32 first, as a nearestPass always does
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

// givenRows returns the given rows at some places, in a buffer if need be.
func (s *search) givenRows(places []uint32, buffer *[]uint32) []uint32 {
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

// sift keeps of some places, and of the given rows at them, those whose distance from x
// in float32 does not exceed the limit.
func (s *search) sift(k *simd.Kernels, x []float32, places, given []uint32, limit float32, buffer *[]float32) (near, rows []uint32) {
	d2 := slices.Grow((*buffer)[:0], len(places))[:len(places)]
	*buffer = d2
	all := s.p.single
	k.SqDists(d2, x, simd.RowsOf(all.data, all.stride), given, limit)
	count := 0
	for e, v := range d2 {
		if v <= limit {
			places[count], given[count] = places[e], given[e]
			count++
		}
	}
	return places[:count], given[:count]
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
