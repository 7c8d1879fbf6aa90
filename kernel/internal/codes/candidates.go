package codes

import (
	"cmp"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A neighbour is a point that may be one of the nearest of another.
type neighbour struct {
	d2    float64 // squared distance, by rows.Dist2 if it is exact, else by simd.SqDists64
	place uint32
	given uint32 // row at the place
	exact bool
}

// candidates are the nearest neighbours of a point so far, nearest first by what is known of
// their distances.
//
// rows.Dist2 says which are the nearest, and takes long: it adds one square after the other.
// simd.SqDists64 is off by little. So only those are measured by rows.Dist2 that stay to the
// end, and those that it takes to say which of two is farther.
type candidates []neighbour

// compare orders by distance and among equals by given row.
func (c neighbour) compare(o neighbour) int {
	return cmp.Or(cmp.Compare(c.d2, o.d2), cmp.Compare(c.given, o.given))
}

// offer makes c a neighbour of point lo+i, point i of a tile, if it is one of the k nearest so
// far and no farther than the limit of the point. Where there are k neighbours the farthest
// makes way.
func (f *nearestPass) offer(scratch *nearestScratch, lo, i int, c neighbour) {
	found, doubt := scratch.found[i], 4*f.off
	if len(found) < f.k {
		if c.d2 >= scratch.most[i]*(1-doubt) {
			if f.measure(lo+i, &c); c.d2 > scratch.most[i] {
				return
			}
		}
	} else {
		// The farthest is one of those that are about as far as the last. rows.Dist2 tells
		// which, and whether c is farther, where there is a doubt.
		last := found[f.k-1].d2
		first := f.k - 1
		for first > 0 && found[first-1].d2 >= last*(1-doubt) {
			first--
		}
		far := c.d2 >= last*(1-doubt)
		if far || first < f.k-1 {
			f.settle(found, lo+i, first)
		}
		if far {
			if f.measure(lo+i, &c); c.compare(found[f.k-1]) > 0 {
				return
			}
		}
		found = found[:f.k-1]
	}
	to, _ := slices.BinarySearchFunc(found, c, neighbour.compare)
	found = slices.Insert(found, to, c)
	if len(found) == f.k {
		scratch.most[i] = found[f.k-1].d2 * (1 + doubt)
	}
	scratch.found[i] = found
}

// measure makes the distance of a neighbour from the point at a place exact.
func (f *nearestPass) measure(at int, c *neighbour) {
	c.d2, c.exact = rows.Dist2(f.s.row(at), f.s.p.Single.Row(int(c.given))), true
}

// settle makes the distances of the candidates of the point at a place exact, from one
// candidate on, and puts all in order.
func (f *nearestPass) settle(found candidates, at, from int) {
	x := f.s.row(at)
	// Four distances at a time take little longer than one.
	var four [4][]float32
	var open [4]int
	count, changed := 0, false
	for e := from; e < len(found); e++ {
		if !found[e].exact {
			four[count], open[count] = f.s.p.Single.Row(int(found[e].given)), e
			count++
		}
		if count == 0 || count < len(four) && e < len(found)-1 {
			continue
		}
		for r := count; r < len(four); r++ {
			four[r] = four[0]
		}
		d2 := rows.FourDist2(x, four)
		for r, e := range open[:count] {
			found[e].d2, found[e].exact = d2[r], true
		}
		count, changed = 0, true
	}
	if changed {
		slices.SortFunc(found, neighbour.compare)
	}
}
