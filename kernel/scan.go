package kernel

import (
	"slices"
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/par"
)

// clustersPerPiece is how many clusters a worker takes at a time.
const clustersPerPiece = 64

// pieces returns the number of pieces of work a search is cut into.
func (cl *cellList) pieces() int { return par.Blocks(len(cl.first)-1, clustersPerPiece) }

// visit calls row for every distinct point of a piece, in order, with its
// cell, its neighbours in ascending order and their squared distances. The
// slices are valid during the call.
func (cl *cellList) visit(piece int, row func(cell, i int, ind []uint32, d2 []float64)) {
	from, to := par.Block(piece, len(cl.first)-1, clustersPerPiece)
	around := newStencil(cl, cl.reach)
	cell := cl.cellOf(from) - 1 // the loop moves on to the first cell
	var near []int              // clusters in the cells around
	var candidates []span       // in near, with boxes within the radius
	var found hits
	for c := from; c < to; c++ {
		if c == from || int(cl.cluster[cell+1]) == c {
			cell++ // every cell has a cluster
			near = near[:0]
			around.around(cell, func(a, b int, _, _ int64) {
				for k := cl.cluster[a]; k < cl.cluster[b]; k++ {
					near = append(near, int(k))
				}
			})
		}
		candidates = candidates[:0]
		for _, k := range near {
			if cl.boxDistance2(c, k) <= cl.radius2 {
				candidates = cl.appendSpan(candidates, k)
			}
		}
		for i := int(cl.first[c]); i < int(cl.first[c+1]); i++ {
			found.reset()
			for _, s := range candidates {
				// A box test costs about two pairs.
				if s.to-s.from > 4 && s.cluster >= 0 && cl.pointDistance2(i, s.cluster) > cl.radius2 {
					continue
				}
				cl.scan(&found, i, s.from, s.to)
			}
			row(cell, i, found.ind, found.d2)
		}
	}
}

// cellOf returns the cell of a cluster.
func (cl *cellList) cellOf(cluster int) int {
	return sort.Search(len(cl.keys), func(c int) bool { return int(cl.cluster[c+1]) > cluster })
}

// A span is a range of points to be tested: a cluster, or several small ones
// in a row, which cost less together.
type span struct {
	from, to int
	cluster  int // -1 for several
}

func (cl *cellList) appendSpan(spans []span, cluster int) []span {
	from, to := int(cl.first[cluster]), int(cl.first[cluster+1])
	if n := len(spans); n > 0 && spans[n-1].to == from && to-spans[n-1].from <= clusterPoints {
		spans[n-1].to, spans[n-1].cluster = to, -1
		return spans
	}
	return append(spans, span{from, to, cluster})
}

// hits collects the neighbours of one point.
type hits struct {
	ind []uint32
	d2  []float64
}

func (h *hits) reset() { h.ind, h.d2 = h.ind[:0], h.d2[:0] }

// scan adds the neighbours of point i among the points from to to-1.
func (cl *cellList) scan(h *hits, i, from, to int) {
	if from <= i && i < to { // not itself
		cl.scanOthers(h, i, from, i)
		cl.scanOthers(h, i, i+1, to)
		return
	}
	cl.scanOthers(h, i, from, to)
}

// scanOthers is scan for points that do not include i. Whether a candidate is
// a neighbour is a coin toss to the branch predictor, so every candidate is
// written down and the end of the list moves past those that are.
//
// The cases are the same sum written out, with the same bits.
func (cl *cellList) scanOthers(h *hits, i, from, to int) {
	n := len(h.ind)
	h.ind, h.d2 = slices.Grow(h.ind, to-from)[:n+to-from], slices.Grow(h.d2, to-from)[:n+to-from]
	ind, d2, r2 := h.ind, h.d2, cl.radius2
	switch p := cl.point(i); cl.d {
	case 1:
		x := float64(p[0])
		for j := from; j < to; j++ {
			e := x - float64(cl.coords[j])
			s := float64(e * e)
			ind[n], d2[n] = uint32(j), s
			if s <= r2 {
				n++
			}
		}
	case 2:
		x, y := float64(p[0]), float64(p[1])
		for j := from; j < to; j++ {
			v := cl.coords[2*j:][:2]
			e, f := x-float64(v[0]), y-float64(v[1])
			s := float64(e*e) + float64(f*f)
			ind[n], d2[n] = uint32(j), s
			if s <= r2 {
				n++
			}
		}
	case 3:
		x, y, z := float64(p[0]), float64(p[1]), float64(p[2])
		for j := from; j < to; j++ {
			v := cl.coords[3*j:][:3]
			e, f, g := x-float64(v[0]), y-float64(v[1]), z-float64(v[2])
			s := float64(e*e) + float64(f*f) + float64(g*g)
			ind[n], d2[n] = uint32(j), s
			if s <= r2 {
				n++
			}
		}
	default:
		for j := from; j < to; j++ {
			s := dist2(p, cl.point(j))
			ind[n], d2[n] = uint32(j), s
			if s <= r2 {
				n++
			}
		}
	}
	h.ind, h.d2 = ind[:n], d2[:n]
}

// boxDistance2 is at most the squared distance, as dist2 computes it, of any
// point of cluster a from any of cluster b: rounding is monotone, so the same
// operations on smaller differences give a smaller or equal result.
func (cl *cellList) boxDistance2(a, b int) float64 {
	sum := 0.0
	d := cl.d
	alo, ahi, blo, bhi := cl.lo[a*d:][:d], cl.hi[a*d:][:d], cl.lo[b*d:][:d], cl.hi[b*d:][:d]
	for i := range alo {
		if gap := max(float64(blo[i])-float64(ahi[i]), float64(alo[i])-float64(bhi[i])); gap > 0 {
			sum += float64(gap * gap)
		}
	}
	return sum
}

// pointDistance2 is at most the squared distance, as dist2 computes it, of
// point i from any point of a cluster.
func (cl *cellList) pointDistance2(i, cluster int) float64 {
	sum := 0.0
	d := cl.d
	lo, hi := cl.lo[cluster*d:][:d], cl.hi[cluster*d:][:d]
	for a, v := range cl.point(i) {
		if gap := max(float64(lo[a])-float64(v), float64(v)-float64(hi[a])); gap > 0 {
			sum += float64(gap * gap)
		}
	}
	return sum
}
