package tree

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A group finds the neighbours of the points of a node, one node after the other: those that
// are groupLevels above the leaves, or the root. The points share their candidates: those of
// nodes that are not too far from the box of theirs. A worker keeps one group as its scratch
// memory.
//
// For each point the group has a bound, which its k-th neighbour does not exceed. Points of
// the node and of some nodes around it, the home, are the first candidates; with their
// distances the bounds are nearly as small as they get. Then the group collects the nodes
// that are within the largest bound. Of their blocks, each point is compared with those that
// are within its own.
type group struct {
	blocks  *blocks
	kernels *simd.Kernels
	found   *rows.Neighbours
	byRow   bool // neighbours of a point are kept by its given row, not by its place

	first  int         // node of all groups that comes first
	box    []float32   // of the node
	points []int       // slots of its points
	bounds []bound     // of its points
	count  []int       // of its points, how many neighbours they have so far
	slot   []uint32    // of its points, the slots of these neighbours
	d2     []float64   // of its points, the squared distances of these neighbours
	widest bound       // the largest of bounds
	list   nearestList // candidates near to one point

	seen    int        // the node that compareLeast has compared; 0 for none
	nodes   []nearNode // that wait to be compared
	spans   []uint32   // blocks that are to be compared now
	waiting int        // how many they are
	boxes   *simd.Candidates
	touched float64 // what touch has read, which nobody needs
}

// A bound is what neighbours must not exceed: a squared distance and, at this distance, a
// given row.
type bound struct {
	d2  float64
	row uint32
}

var boundless = bound{math.Inf(1), math.MaxUint32}

// reaches reports whether a neighbour may be at the squared distance d2 with a given row.
func (b bound) reaches(d2 float64, row uint32) bool {
	return d2 < b.d2 || d2 == b.d2 && row <= b.row
}

// A nearNode is a node that is not too far from that of the group.
type nearNode struct {
	node int
	d2   float64 // squared distance of the boxes
}

const (
	// groupLevels is how far a group is above the leaves.
	groupLevels = 2
	groupPoints = simd.BlockPoints << groupLevels
	// blocksAtOnce is the most blocks that are compared at once.
	blocksAtOnce = 128
	// nodesAtOnce is the most nodes that wait before they are compared.
	nodesAtOnce = 256
	// homePoints is how many points for each neighbour a home has at least.
	homePoints = 6
)

// newGroup returns a group that writes to found, by given rows or by places.
func newGroup(b *blocks, found *rows.Neighbours, byRow bool, kernels *simd.Kernels) *group {
	return &group{
		blocks: b, kernels: kernels, found: found, byRow: byRow,
		first:  1 << max(0, b.levels-groupLevels),
		bounds: make([]bound, groupPoints), count: make([]int, groupPoints),
		slot: make([]uint32, groupPoints*found.K), d2: make([]float64, groupPoints*found.K),
		list:  newNearestList(found.K),
		boxes: simd.NewCandidates(2*b.points.D, blocksAtOnce),
	}
}

// groupBytes is what a group takes: its points with their neighbours so far, the candidates
// of one point and what they are sorted in, the nodes that wait, and the boxes.
func groupBytes(d, k int) int64 {
	const candidates = blocksAtOnce*simd.BlockPoints + mostRanked + simd.RankPad
	return groupPoints*(12*int64(k)+32) + candidates*(4+8+2*16) + mostRanked*(4+16) + 2*16*nodesAtOnce + 8*2*int64(d)*2*blocksAtOnce + 4096
}

// search finds the neighbours of the points of a node.
func (g *group) search(node int) {
	b := g.blocks
	g.points = b.slots(g.points[:0], node)
	g.box = b.tree.box[node*2*b.points.D:][:2*b.points.D]
	for i := range g.points {
		g.count[i], g.bounds[i] = 0, boundless
	}
	home := node
	for lo, hi := b.span(home); home > 1 && hi-lo <= homePoints*g.found.K; lo, hi = b.span(home) {
		home /= 2
	}
	g.compareHome(home)
	g.seen = 0
	if g.widest.d2 == 0 {
		g.compareLeast(home)
	}
	for ; home > 1; home /= 2 {
		other := home ^ 1
		if d2 := g.dist2(other); g.widest.reaches(d2, b.least[other]) {
			g.visit(other, d2)
		}
	}
	g.compareNodes()
	g.write()
}

// write writes the neighbours of the points down, once they are all found.
func (g *group) write() {
	b, k := g.blocks, g.found.K
	if g.byRow {
		g.touch()
	}
	for i, own := range g.points {
		slot, d2 := g.neighbours(i)
		at := int(b.place[own])
		if g.byRow {
			at = int(b.order[at])
		}
		for e, j := range slot {
			slot[e] = b.place[j]
			if g.byRow {
				slot[e] = b.order[slot[e]]
			}
		}
		copy(g.found.Dist2[at*k:][:k], d2)
		copy(g.found.Place[at*k:][:k], slot)
	}
}

// touch reads where the neighbours of the points go. Given rows are far apart in memory, and
// a processor waits for many reads at once, but for few writes.
func (g *group) touch() {
	b, k := g.blocks, g.found.K
	for _, own := range g.points {
		at := int(b.row(uint32(own))) * k
		g.touched += g.found.Dist2[at] + g.found.Dist2[at+k-1] + float64(g.found.Place[at]+g.found.Place[at+k-1])
	}
}

// neighbours returns the slots of the neighbours of point i so far, and their squared
// distances.
func (g *group) neighbours(i int) (slot []uint32, d2 []float64) {
	k := g.found.K
	return g.slot[i*k:][:k], g.d2[i*k:][:k]
}

// visit collects the nodes below one that are not too far, the nearer half first.
func (g *group) visit(node int, d2 float64) {
	if node >= g.first {
		if node == g.seen {
			return
		}
		if len(g.nodes) == nodesAtOnce {
			g.compareNodes()
		}
		g.nodes = append(g.nodes, nearNode{node, d2})
		return
	}
	near, far := 2*node, 2*node+1
	nearest, farthest := g.dist2(near), g.dist2(far)
	if farthest < nearest || farthest == nearest && g.blocks.least[far] < g.blocks.least[near] {
		near, far, nearest, farthest = far, near, farthest, nearest
	}
	if g.widest.reaches(nearest, g.blocks.least[near]) {
		g.visit(near, nearest)
	}
	if g.widest.reaches(farthest, g.blocks.least[far]) {
		g.visit(far, farthest)
	}
}

// dist2 returns the squared distance of the box of the group from that of a node. It rounds
// as rows.Dist2 does, number by number, so it is not above that of any two points in the
// boxes.
func (g *group) dist2(node int) float64 {
	d := len(g.box) / 2
	box, own := g.blocks.tree.box[node*2*d:][:2*d], g.box
	sum := 0.0
	for c := range d {
		e, f := float64(box[c])-float64(own[d+c]), float64(own[c])-float64(box[d+c])
		if f > e { // max takes longer, for NaN
			e = f
		}
		if e > 0 {
			sum += float64(e * e)
		}
	}
	return sum
}

// compareNodes compares the points with the nodes that wait. Where these are many, those
// within half the largest bound come first: they leave fewer of the others.
func (g *group) compareNodes() {
	within := math.Inf(1)
	if few := blocksAtOnce >> groupLevels; len(g.nodes) > few {
		within = g.widest.d2 / 4
	}
	rest := g.nodes[:0]
	for _, l := range g.nodes {
		if l.d2 <= within {
			g.collectNode(l)
		} else {
			rest = append(rest, l)
		}
	}
	g.compare()
	for _, l := range rest {
		g.collectNode(l)
	}
	g.compare()
	g.nodes = g.nodes[:0]
}

// collectNode makes the points of a node candidates, unless bounds leave it out by now.
func (g *group) collectNode(l nearNode) {
	if g.widest.reaches(l.d2, g.blocks.least[l.node]) {
		g.collect(g.blocks.of(l.node))
	}
}

// compareLeast compares the points with the node at distance 0 whose rows are least, unless
// it is in the home. Where many points are equal, this is where their neighbours are.
func (g *group) compareLeast(home int) {
	node := 1
	for node < g.first {
		node *= 2
		if g.dist2(node) > 0 || g.dist2(node+1) == 0 && g.blocks.least[node+1] < g.blocks.least[node] {
			node++
		}
	}
	lo, hi := g.blocks.of(home)
	if from, to := g.blocks.of(node); (to <= lo || hi <= from) && g.dist2(node) == 0 {
		g.seen = node
		g.collect(from, to)
		g.compare()
	}
}

// collect makes the points of the blocks from lo to hi-1 candidates.
func (g *group) collect(lo, hi int) {
	for lo < hi {
		if g.waiting == blocksAtOnce {
			g.compare()
		}
		end := min(hi, lo+blocksAtOnce-g.waiting)
		g.spans = append(g.spans, uint32(lo), uint32(end))
		g.waiting += end - lo
		lo = end
	}
}

// compareHome compares the points with those of their home.
//
// Where i and j are points, k others are within r of i, and i and j are s apart, then i and
// these, j left out, are k others within r+s of j. So one point has a bound by that of the
// point before it.
func (g *group) compareHome(home int) {
	lo, hi := g.blocks.of(home)
	for ; lo < hi; lo += blocksAtOnce {
		g.collect(lo, min(hi, lo+blocksAtOnce))
		g.kernels.Collect(g.boxes, g.blocks.box, g.spans)
		for i, own := range g.points {
			b := &g.bounds[i]
			if i > 0 {
				r := math.Sqrt(g.bounds[i-1].d2) + math.Sqrt(g.blocks.distance(g.points[i-1], own))
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

// compare compares the points with the candidates that wait.
func (g *group) compare() {
	if g.waiting == 0 {
		return
	}
	g.kernels.Collect(g.boxes, g.blocks.box, g.spans)
	for i := range g.points {
		g.compareWith(i)
	}
	g.spans, g.waiting = g.spans[:0], 0
	g.widen()
}

// widen sets the largest bound.
func (g *group) widen() {
	g.widest = bound{}
	for _, b := range g.bounds[:len(g.points)] {
		if b.reaches(g.widest.d2, g.widest.row) {
			g.widest = b
		}
	}
}

// compareWith compares point i with the candidates.
func (g *group) compareWith(i int) {
	l, k := &g.list, g.found.K
	b, count := &g.bounds[i], &g.count[i]
	l.n = g.kernels.FindInBlocks(l.slot, l.d2, g.boxes, g.blocks.axis, g.points[i], b.d2)
	l.remove(uint32(g.points[i]))
	if l.n == 0 {
		return
	}
	slot, d2 := g.neighbours(i)
	*count = l.merge(slot, d2, *count, g.blocks, g.kernels)
	if *count == k && d2[k-1] <= b.d2 {
		*b = bound{d2[k-1], g.blocks.row(slot[k-1])}
	}
}
