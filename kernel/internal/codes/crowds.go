package codes

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// A crowd is more than k+1 equal rows, where k nearest neighbours are looked for. Only its
// k+1 lowest rows can be neighbours of any row, so these take part in the search, and the
// others do not: the neighbours of each are the k lowest rows of its crowd, which are also
// those of the last row that takes part. Without this the rows of a crowd would all be
// compared with each other.
type crowds struct {
	part []uint32 // given rows that take part, ascending; nil when all do
	rest []uint32 // the others
	last []uint32 // of each of the others, the last row of its crowd that takes part
}

// findCrowds finds the crowds of p.
func findCrowds(ctx context.Context, p *rows.Points, k int, workers *par.Workers) (*crowds, error) {
	d, err := rows.FindDistinct(ctx, p, workers)
	if err != nil {
		return nil, err
	}
	c := new(crowds)
	away := make([]bool, p.N)
	for g := 0; g+1 < len(d.Group); g++ {
		crowd := d.Order[d.Group[g]:d.Group[g+1]] // ascending
		for e := k + 1; e < len(crowd); e++ {
			c.rest, c.last = append(c.rest, crowd[e]), append(c.last, crowd[k])
			away[crowd[e]] = true
		}
	}
	if c.rest == nil {
		return c, nil
	}
	c.part = make([]uint32, 0, p.N-len(c.rest))
	for i, is := range away {
		if !is {
			c.part = append(c.part, uint32(i))
		}
	}
	return c, nil
}

// join adds the rows that took no part in the search of s to what was found. Place and
// Dist2 have room for them, and their places are behind the others.
func (c *crowds) join(found *rows.Neighbours, s *set) {
	if c.rest == nil {
		return
	}
	k, p := found.K, s.p
	order := make([]uint32, 0, p.N)
	order = append(append(order, s.index...), c.rest...)
	place := make([]uint32, p.N)
	for i, given := range s.index {
		place[given] = uint32(i)
	}
	for e, last := range c.last {
		from, to := int(place[last])*k, (s.n+e)*k
		copy(found.Place[to:][:k], found.Place[from:])
		copy(found.Dist2[to:][:k], found.Dist2[from:])
	}
	found.Order = order
	found.Distance = func(i, j int) float64 { return p.Dist2(int(order[i]), int(order[j])) }
}

// crowdsByLast finds the rows of a crowd that take no part by the last row that does.
type crowdsByLast struct {
	*crowds
	start []uint32 // where the rows of each crowd begin in rest, by the last row that takes part
}

// byLast returns the crowds by their last rows.
func (c *crowds) byLast() crowdsByLast {
	out := crowdsByLast{crowds: c}
	for e, last := range c.last {
		if e == 0 || c.last[e-1] != last {
			out.start = append(out.start, uint32(e))
		}
	}
	slices.SortFunc(out.start, func(a, b uint32) int { return cmp.Compare(c.last[a], c.last[b]) })
	return out
}

// of returns the rows that have the neighbours of a row that takes part.
func (c crowdsByLast) of(row int) []uint32 {
	at, found := slices.BinarySearchFunc(c.start, row, func(start uint32, row int) int { return cmp.Compare(int(c.last[start]), row) })
	if !found {
		return nil
	}
	lo := int(c.start[at])
	hi := lo
	for hi < len(c.last) && int(c.last[hi]) == row {
		hi++
	}
	return c.rest[lo:hi]
}
