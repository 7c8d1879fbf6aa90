package nearest

import (
	"cmp"
	"slices"
)

// candidate is a gallery row at its distance from some query.
type candidate struct {
	squaredDistance float64
	row             int
}

// compare orders by distance and among equals by row number: a total order, so
// the k nearest do not depend on the order in which rows are offered.
func (c candidate) compare(o candidate) int {
	if c.squaredDistance != o.squaredDistance {
		return cmp.Compare(c.squaredDistance, o.squaredDistance)
	}
	return cmp.Compare(c.row, o.row)
}

// nearestK keeps the k nearest candidates seen so far as a binary heap with the worst
// of them on top. Nearly all offers of a long search fail the single comparison with
// the top.
type nearestK []candidate

// offer adds c if it is among the k nearest so far.
func (h *nearestK) offer(k int, c candidate) {
	switch q := *h; {
	case len(q) < k:
		q = append(q, c)
		i := len(q) - 1
		for i > 0 && q[(i-1)/2].compare(c) < 0 {
			q[i] = q[(i-1)/2]
			i = (i - 1) / 2
		}
		q[i] = c
		*h = q
	case c.squaredDistance <= q[0].squaredDistance && c.compare(q[0]) < 0:
		i := 0
		for {
			child := 2*i + 1
			if child >= len(q) {
				break
			}
			if child+1 < len(q) && q[child].compare(q[child+1]) < 0 {
				child++
			}
			if q[child].compare(c) <= 0 {
				break
			}
			q[i] = q[child]
			i = child
		}
		q[i] = c
	}
}

// sorted orders the candidates by ascending distance; afterwards h is not a heap.
func (h nearestK) sorted() []candidate {
	slices.SortFunc(h, candidate.compare)
	return h
}
