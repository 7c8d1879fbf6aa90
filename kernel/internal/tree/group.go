package tree

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/simd"
)

// A group finds the neighbours of all points of a leaf, one leaf after the other. Points
// of a leaf share their candidates: those of leaves that are not too far from the box of
// theirs. A worker keeps one group as its scratch memory.
//
// For each point the group has a bound, which its k-th neighbour does not exceed. Points of
// the leaf and of some leaves around it, the home, are the first candidates; with their
// distances the bounds are nearly as small as they get. Then the group collects the leaves
// that are within the largest bound.
type group struct {
	tree    *tree
	axis    simd.Rows[float32] // coordinates of places, one row an axis
	kernels *simd.Kernels
	found   *rows.Neighbours
	byRow   bool // neighbours of a point are kept by its given row, not by its place

	lo, hi int         // places of the leaf
	box    []float32   // of the leaf
	bounds []bound     // of its points
	count  []int       // of its points, how many neighbours they have so far
	place  []uint32    // of its points, the places of these neighbours
	d2     []float64   // of its points, the squared distances of these neighbours
	widest bound       // the largest of bounds
	list   nearestList // candidates near to one point

	seen       int        // the leaf that compareLeast has compared; 0 for none
	leaves     []nearLeaf // that wait to be compared
	spans      []uint32   // places of the candidates that are to be compared now
	waiting    int        // how many they are
	candidates *simd.Candidates
	counts     [1]uint32
}

// A bound is what neighbours must not exceed: a squared distance and, at this distance, a
// given row.
type bound struct {
	d2  float64
	row uint32
}

var boundless = bound{math.Inf(1), math.MaxUint32}

// reaches tells whether a neighbour may be at the squared distance d2 with a given row.
func (b bound) reaches(d2 float64, row uint32) bool {
	return d2 < b.d2 || d2 == b.d2 && row <= b.row
}

// A nearLeaf is a leaf that is not too far from that of the group.
type nearLeaf struct {
	node int
	d2   float64 // squared distance of the boxes
}

const (
	// candidatesAtOnce is the most candidates that are compared at once.
	candidatesAtOnce = 512
	// leavesAtOnce is the most leaves that wait before they are compared.
	leavesAtOnce = 256
	// homePoints is how many points for each neighbour a home has at least.
	homePoints = 6
)

// newGroup returns a group that writes to found, by given rows or by places.
func newGroup(t *tree, axis simd.Rows[float32], found *rows.Neighbours, byRow bool, kernels *simd.Kernels) *group {
	return &group{
		tree: t, axis: axis, kernels: kernels, found: found, byRow: byRow,
		bounds: make([]bound, leafPoints), count: make([]int, leafPoints),
		place: make([]uint32, leafPoints*found.K), d2: make([]float64, leafPoints*found.K),
		list:       newNearestList(found.K),
		candidates: simd.NewCandidates(t.points.D, candidatesAtOnce),
	}
}

// search finds the neighbours of the points of a leaf.
func (g *group) search(leaf int) {
	t := g.tree
	g.lo, g.hi = t.span(leaf)
	g.box = t.box[leaf*2*t.points.D:][:2*t.points.D]
	for i := range g.hi - g.lo {
		g.count[i], g.bounds[i] = 0, boundless
	}
	home, lo, hi := leaf, g.lo, g.hi
	for home > 1 && hi-lo <= homePoints*g.found.K {
		home /= 2
		lo, hi = t.span(home)
	}
	g.compareHome(lo, hi)
	g.seen = 0
	if g.widest.d2 == 0 {
		g.compareLeast(lo, hi)
	}
	for ; home > 1; home /= 2 {
		other := home ^ 1
		if d2 := g.dist2(other); g.widest.reaches(d2, t.least[other]) {
			g.visit(other, d2)
		}
	}
	g.compareLeaves()
	g.write()
}

// write writes the neighbours of the points of the leaf down, once they are all found.
func (g *group) write() {
	order, k := g.tree.order, g.found.K
	for i := g.lo; i < g.hi; i++ {
		place, d2 := g.neighbours(i)
		if !g.byRow {
			copy(g.found.Place[i*k:][:k], place)
			copy(g.found.Dist2[i*k:][:k], d2)
			continue
		}
		row := int(order[i])
		to := g.found.Place[row*k:][:k]
		for e, j := range place {
			to[e] = order[j]
		}
		copy(g.found.Dist2[row*k:][:k], d2)
	}
}

// neighbours returns the places of the neighbours of point i so far, and their squared
// distances.
func (g *group) neighbours(i int) (place []uint32, d2 []float64) {
	k := g.found.K
	return g.place[(i-g.lo)*k:][:k], g.d2[(i-g.lo)*k:][:k]
}

// visit collects the leaves of a node that are not too far, the nearer half first.
func (g *group) visit(node int, d2 float64) {
	if node >= 1<<g.tree.levels {
		if node == g.seen {
			return
		}
		if len(g.leaves) == leavesAtOnce {
			g.compareLeaves()
		}
		g.leaves = append(g.leaves, nearLeaf{node, d2})
		return
	}
	near, far := 2*node, 2*node+1
	nearest, farthest := g.dist2(near), g.dist2(far)
	if farthest < nearest || farthest == nearest && g.tree.least[far] < g.tree.least[near] {
		near, far, nearest, farthest = far, near, farthest, nearest
	}
	if g.widest.reaches(nearest, g.tree.least[near]) {
		g.visit(near, nearest)
	}
	if g.widest.reaches(farthest, g.tree.least[far]) {
		g.visit(far, farthest)
	}
}

// dist2 returns the squared distance of the box of the leaf from that of a node. It rounds
// as rows.Dist2 does, number by number, so it is not above that of any two points in the
// boxes.
func (g *group) dist2(node int) float64 {
	d := len(g.box) / 2
	box, own := g.tree.box[node*2*d:][:2*d], g.box
	sum := 0.0
	for c := range d {
		e, f := float64(box[c])-float64(own[d+c]), float64(own[c])-float64(box[d+c])
		if f > e { // max takes longer, for numbers that are none
			e = f
		}
		if e > 0 {
			sum += float64(e * e)
		}
	}
	return sum
}

// compareLeaves compares the points of the leaf with the leaves that wait. Where these are
// many, those within half the largest bound come first: they leave fewer of the others.
func (g *group) compareLeaves() {
	within := math.Inf(1)
	if few := candidatesAtOnce / leafPoints; len(g.leaves) > few {
		within = g.widest.d2 / 4
	}
	rest := g.leaves[:0]
	for _, l := range g.leaves {
		if l.d2 <= within {
			g.collectLeaf(l)
		} else {
			rest = append(rest, l)
		}
	}
	g.compare()
	for _, l := range rest {
		g.collectLeaf(l)
	}
	g.compare()
	g.leaves = g.leaves[:0]
}

// collectLeaf makes the points of a leaf candidates, unless bounds leave it out by now.
func (g *group) collectLeaf(l nearLeaf) {
	if g.widest.reaches(l.d2, g.tree.least[l.node]) {
		g.collect(g.tree.span(l.node))
	}
}

// compareLeast compares the points of the leaf with the leaf at distance 0 whose rows are
// least, unless it is in the home, from lo to hi-1. Where many points are equal, this is
// where their neighbours are.
func (g *group) compareLeast(lo, hi int) {
	node := 1
	for node < 1<<g.tree.levels {
		node *= 2
		if g.dist2(node) > 0 || g.dist2(node+1) == 0 && g.tree.least[node+1] < g.tree.least[node] {
			node++
		}
	}
	if from, to := g.tree.span(node); (to <= lo || hi <= from) && g.dist2(node) == 0 {
		g.seen = node
		g.collect(from, to)
		g.compare()
	}
}

// collect makes the places from lo to hi-1 candidates.
func (g *group) collect(lo, hi int) {
	for lo < hi {
		if g.waiting == candidatesAtOnce {
			g.compare()
		}
		end := min(hi, lo+candidatesAtOnce-g.waiting)
		g.spans = append(g.spans, uint32(lo), uint32(end))
		g.waiting += end - lo
		lo = end
	}
}

// compareHome compares the points of the leaf with those of its home, from lo to hi-1.
//
// Where i and j are points, k others are within r of i, and i and j are s apart, then i and
// these, j left out, are k others within r+s of j. So one point has a bound by that of the
// point before it.
func (g *group) compareHome(lo, hi int) {
	for ; lo < hi; lo += candidatesAtOnce {
		g.collect(lo, min(hi, lo+candidatesAtOnce))
		g.kernels.Collect(g.candidates, g.axis, g.spans)
		for i := g.lo; i < g.hi; i++ {
			b := &g.bounds[i-g.lo]
			if i > g.lo {
				r := math.Sqrt(g.bounds[i-g.lo-1].d2) + math.Sqrt(g.distance(i-1, i))
				if r *= r * (1 + 1e-9); r < b.d2 { // the roots and their sum are rounded
					*b = bound{r, math.MaxUint32}
				}
			}
			g.compareWith(i)
		}
		g.spans, g.waiting = g.spans[:0], 0
	}
	g.widen()
}

// compare compares the points of the leaf with the candidates that wait.
func (g *group) compare() {
	if g.waiting == 0 {
		return
	}
	g.kernels.Collect(g.candidates, g.axis, g.spans)
	for i := g.lo; i < g.hi; i++ {
		g.compareWith(i)
	}
	g.spans, g.waiting = g.spans[:0], 0
	g.widen()
}

// widen sets the largest bound.
func (g *group) widen() {
	g.widest = bound{}
	for _, b := range g.bounds[:g.hi-g.lo] {
		if b.reaches(g.widest.d2, g.widest.row) {
			g.widest = b
		}
	}
}

// compareWith compares point i with the candidates.
func (g *group) compareWith(i int) {
	l, k := &g.list, g.found.K
	b, count := &g.bounds[i-g.lo], &g.count[i-g.lo]
	l.n = g.kernels.FindWithin(l.place, l.d2, g.counts[:], g.candidates, g.axis, i, b.d2)
	l.remove(uint32(i))
	if l.n == 0 {
		return
	}
	place, d2 := g.neighbours(i)
	*count = l.merge(place, d2, *count, g.tree.order, g.kernels)
	if *count == k && d2[k-1] <= b.d2 {
		*b = bound{d2[k-1], g.tree.order[place[k-1]]}
	}
}

// distance returns the squared distance of two places.
func (g *group) distance(i, j int) float64 {
	sum := 0.0
	for at := 0; at < len(g.box)/2*g.axis.Stride; at += g.axis.Stride {
		e := float64(g.axis.Data[at+i]) - float64(g.axis.Data[at+j])
		sum += float64(e * e)
	}
	return sum
}
