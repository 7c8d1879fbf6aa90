package lattice

import "slices"

// Kept cells are in the order of their keys, which have the number of a cell along the first
// axis in front. So cells that are next to each other take what the kernel brings them from
// cells that are next to each other, too.

// span returns how many keys agree in the number along the first axis.
func (l *Lattice) span() uint64 {
	span := uint64(1)
	for _, size := range l.size[1:l.D] {
		span *= uint64(size)
	}
	return span
}

// slabs returns the numbers along the first axis, first to end-1, of the kept cells lo to
// hi-1.
func (t *Transfer) slabs(lo, hi int) (first, end int) {
	if lo >= hi {
		return 0, 0
	}
	span := t.span()
	return int(t.Key(lo) / span), int(t.Key(hi-1)/span) + 1
}

// Sources returns the kept cells, from to to-1, that hold all cells in reach of the kept
// cells lo to hi-1.
func (t *Transfer) Sources(lo, hi int) (from, to int) {
	if lo >= hi {
		return lo, lo
	}
	first, end := t.slabs(lo, hi)
	return t.before(first - t.Reach[0]), t.before(end + t.Reach[0])
}

// before returns how many kept cells have a number along the first axis below the given one.
func (t *Transfer) before(number int) int {
	key := uint64(min(max(number, 0), t.size[0])) * t.span()
	if t.keys == nil {
		return int(key)
	}
	at, _ := slices.BinarySearch(t.keys, key)
	return at
}
