package tree

import (
	"cmp"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// A nearestList has points that may be among the nearest of another point.
type nearestList struct {
	n    int       // how many there are
	slot []uint32  // their slots
	d2   []float64 // their squared distances

	// What merge makes.
	rank    []uint32
	sorted  *[mostRanked]slotted
	entries []entry
}

// A slotted is a point of a list by its slot.
type slotted struct {
	d2   float64
	slot uint32
}

// An entry is a point of a list by its given row.
type entry struct {
	d2        float64
	row, slot uint32
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.d2, b.d2), cmp.Compare(a.row, b.row))
}

// mostRanked is the most points that are sorted by simd.Ranks.
const mostRanked = 256

// newNearestList returns a list with room for all candidates and, up to mostRanked, the k
// neighbours before them.
func newNearestList(k int) nearestList {
	room := blocksAtOnce*simd.BlockPoints + min(k, mostRanked) + max(simd.CoordinatePad, simd.RankPad)
	return nearestList{
		slot: make([]uint32, room), d2: make([]float64, room),
		rank: make([]uint32, mostRanked+simd.RankPad), sorted: new([mostRanked]slotted),
	}
}

// remove removes a slot from the list, if it is there.
func (l *nearestList) remove(slot uint32) {
	if at := slices.Index(l.slot[:l.n], slot); at >= 0 {
		l.n--
		l.slot[at], l.d2[at] = l.slot[l.n], l.d2[l.n]
	}
}

// merge makes the points of the list neighbours, which has count of them so far: their
// slots, nearest first, and squared distances. At the same distance lower given rows come
// first. Where there are more than there is room for
// the last make way. merge returns how many there are then.
func (l *nearestList) merge(slot []uint32, d2 []float64, count int, b *blocks, kernels *simd.Kernels) int {
	total := l.n + count
	if total > mostRanked {
		return l.mergeSorted(slot, d2, count, b)
	}
	for e, j := range slot[:count] {
		l.slot[l.n+e], l.d2[l.n+e] = j, d2[e]
	}
	kernels.Ranks(l.rank, l.d2, total)
	sum := 0
	listSlot, listD2 := l.slot[:total], l.d2[:total]
	for e, r := range l.rank[:total] {
		sum += int(r)
		r &= mostRanked - 1
		l.sorted[r] = slotted{listD2[e], listSlot[e]}
	}
	if sum != total*(total-1)/2 { // some distances are equal or nearly so, and share a rank
		return l.mergeSorted(slot, d2, count, b)
	}
	count = min(total, len(slot))
	slot, d2 = slot[:count], d2[:count]
	for e := range l.sorted[:count] {
		slot[e], d2[e] = l.sorted[e].slot, l.sorted[e].d2
	}
	return count
}

// mergeSorted is merge by a sort, whatever the distances. It takes some points at a time: of
// many equal ones, the first leave few of the others.
func (l *nearestList) mergeSorted(slot []uint32, d2 []float64, count int, b *blocks) int {
	atOnce := max(len(slot), 64)
	for from := 0; from < l.n; from += atOnce {
		l.entries = l.entries[:0]
		for e := from; e < min(from+atOnce, l.n); e++ {
			v := entry{l.d2[e], b.row(l.slot[e]), l.slot[e]}
			if count < len(slot) || compareEntries(v, entry{d2[count-1], b.row(slot[count-1]), 0}) < 0 {
				l.entries = append(l.entries, v)
			}
		}
		slices.SortFunc(l.entries, compareEntries)
		count = l.mergeEntries(slot, d2, count, b)
	}
	return count
}

// mergeEntries makes the sorted entries neighbours, as merge does. It goes from the last to
// the first, so that neighbours can move within their slices.
func (l *nearestList) mergeEntries(slot []uint32, d2 []float64, count int, b *blocks) int {
	more := len(l.entries)
	end := min(count+more, len(slot))
	for to := count + more - 1; more > 0; to-- {
		if count > 0 && compareEntries(l.entries[more-1], entry{d2[count-1], b.row(slot[count-1]), 0}) < 0 {
			count--
			if to < end {
				slot[to], d2[to] = slot[count], d2[count]
			}
			continue
		}
		more--
		if to < end {
			slot[to], d2[to] = l.entries[more].slot, l.entries[more].d2
		}
	}
	return end
}
