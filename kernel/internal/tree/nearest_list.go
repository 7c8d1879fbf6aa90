package tree

import (
	"cmp"
	"slices"

	"github.com/seed-64e14a55/privatemail/simd"
)

// A nearestList has points that may be among the nearest of another point.
type nearestList struct {
	n     int       // how many there are
	place []uint32  // their places
	d2    []float64 // their squared distances

	// What merge makes.
	rank    []uint32
	sorted  *[mostRanked]placed
	entries []entry
}

// A placed is a point of a list by its place.
type placed struct {
	d2    float64
	place uint32
}

// An entry is a point of a list by its given row.
type entry struct {
	d2         float64
	row, place uint32
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.d2, b.d2), cmp.Compare(a.row, b.row))
}

// mostRanked is the most points that are sorted by simd.Ranks.
const mostRanked = 256

// newNearestList returns a list with room for all candidates and, up to mostRanked, the k
// neighbours before them.
func newNearestList(k int) nearestList {
	room := candidatesAtOnce + min(k, mostRanked) + max(simd.CoordinatePad, simd.RankPad)
	return nearestList{
		place: make([]uint32, room), d2: make([]float64, room),
		rank: make([]uint32, mostRanked+simd.RankPad), sorted: new([mostRanked]placed),
	}
}

// remove removes a place from the list, if it is there.
func (l *nearestList) remove(place uint32) {
	if at := slices.Index(l.place[:l.n], place); at >= 0 {
		l.n--
		l.place[at], l.d2[at] = l.place[l.n], l.d2[l.n]
	}
}

// merge makes the points of the list neighbours, which has count of them so far: their
// places, nearest first, and squared distances. At the same distance lower given rows come
// first; order has the given row of each place. Where there are more than there is room for
// the last make way. merge returns how many there are then.
func (l *nearestList) merge(place []uint32, d2 []float64, count int, order []uint32, kernels *simd.Kernels) int {
	total := l.n + count
	if total > mostRanked {
		return l.mergeSorted(place, d2, count, order)
	}
	for e, j := range place[:count] {
		l.place[l.n+e], l.d2[l.n+e] = j, d2[e]
	}
	kernels.Ranks(l.rank, l.d2, total)
	sum := 0
	listPlace, listD2 := l.place[:total], l.d2[:total]
	for e, r := range l.rank[:total] {
		sum += int(r)
		r &= mostRanked - 1
		l.sorted[r] = placed{listD2[e], listPlace[e]}
	}
	if sum != total*(total-1)/2 { // some distances are equal or nearly so, and share a rank
		return l.mergeSorted(place, d2, count, order)
	}
	count = min(total, len(place))
	place, d2 = place[:count], d2[:count]
	for e := range l.sorted[:count] {
		place[e], d2[e] = l.sorted[e].place, l.sorted[e].d2
	}
	return count
}

// mergeSorted is merge by a sort, whatever the distances. It takes some points at a time: of
// many equal ones, the first leave few of the others.
func (l *nearestList) mergeSorted(place []uint32, d2 []float64, count int, order []uint32) int {
	atOnce := max(len(place), 64)
	for from := 0; from < l.n; from += atOnce {
		l.entries = l.entries[:0]
		for e := from; e < min(from+atOnce, l.n); e++ {
			v := entry{l.d2[e], order[l.place[e]], l.place[e]}
			if count < len(place) || compareEntries(v, entry{d2[count-1], order[place[count-1]], 0}) < 0 {
				l.entries = append(l.entries, v)
			}
		}
		slices.SortFunc(l.entries, compareEntries)
		count = l.mergeEntries(place, d2, count, order)
	}
	return count
}

// mergeEntries makes the sorted entries neighbours, as merge does. It goes from the last to
// the first, so that neighbours can move within their slices.
func (l *nearestList) mergeEntries(place []uint32, d2 []float64, count int, order []uint32) int {
	more := len(l.entries)
	end := min(count+more, len(place))
	for to := count + more - 1; more > 0; to-- {
		if count > 0 && compareEntries(l.entries[more-1], entry{d2[count-1], order[place[count-1]], 0}) < 0 {
			count--
			if to < end {
				place[to], d2[to] = place[count], d2[count]
			}
			continue
		}
		more--
		if to < end {
			place[to], d2[to] = l.entries[more].place, l.entries[more].d2
		}
	}
	return end
}
