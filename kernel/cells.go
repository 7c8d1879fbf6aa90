package kernel

import (
	"context"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A cellList finds all neighbours within a radius of points in few dimensions.
//
// The points are sorted by the cell of a grid on up to three of their widest
// axes. Only occupied cells are stored, in the order of their keys, so neither
// a tiny radius nor a distant outlier costs memory. Cells next to each other
// along the last grid axis are next to each other in memory: the cells around
// a point are a few ranges of the sorted points.
//
// Within a cell points are ordered so that short runs of them are close
// together, and each run of at most clusterPoints has a bounding box in all
// dimensions. Boxes farther apart than the radius are passed over, which
// prunes the axes without a grid and the cells that hold many points.
//
// Equal points are collapsed to one with a multiplicity.
//
// Every pair is tested from both of its ends. Half of the cells around a point
// would do to find each pair once, but then rows have several writers, their
// columns come out of order, and the atomic counters and sorts that mend this
// cost what the tests saved. Distances are differences of the given float32
// coordinates in float64, which are exact or nearly so whatever the offset.
type cellList struct {
	d      int
	n      int       // distinct points
	coords []float32 // n x d in sorted order
	order  []uint32  // given row of each sorted point, duplicates included
	group  []uint32  // sorted points group[g] to group[g+1]-1 are equal; nil if none are

	radius2 float64 // largest squared distance of neighbours
	axes    []int   // axes with a grid, slowest first
	size    [3]int64
	side    float64
	reach   int64 // cells within the radius along an axis

	key     []uint64 // of each occupied cell, ascending
	cluster []uint32 // first cluster of each cell, and the end
	first   []uint32 // first point of each cluster, and the end
	lo, hi  []float32
}

const (
	maxGridAxes   = 3
	clusterPoints = 32
	// sideSafety makes cells a little larger than radius/reach, by more than
	// the rounding of a cell number: points within the radius are never more
	// than reach cells apart, as computed.
	sideSafety = 1 + 0x1p-18
)

// gridOf chooses the axes and the side of the grid for a radius.
func gridOf(p *pointSet, radius float64) (axes []int, side float64, reach int64) {
	axes = make([]int, p.d)
	for a := range axes {
		axes[a] = a
	}
	extent := func(a int) float64 { return p.hi[a] - p.lo[a] }
	sort.SliceStable(axes, func(i, j int) bool { return extent(axes[i]) > extent(axes[j]) })
	axes = axes[:min(p.d, maxGridAxes)]
	for len(axes) > 1 && extent(axes[len(axes)-1]) <= radius/2 {
		axes = axes[:len(axes)-1] // one or two cells would not prune
	}
	// Half the radius in the plane, where the smaller cells waste less; the
	// whole in space, where they would be too many.
	reach = 2
	if len(axes) == maxGridAxes {
		reach = 1
	}
	side = radius / float64(reach) * sideSafety
	// Keys must fit 60 bits, cell numbers 30 for the safety above: where the
	// radius is tiny against the extent the cells are larger than needed.
	if least := extent(axes[0]) / float64(int64(1)<<(60/max(len(axes), 2))-2); side < least {
		side = least
		reach = int64(math.Ceil(radius * sideSafety / side))
	}
	if side == 0 { // radius zero and all points equal
		side = 1
	}
	return axes, side, max(reach, 1)
}

// newCellList sorts the points for searches within the radius.
func newCellList(ctx context.Context, p *pointSet, radius float64, set *par.Set) (*cellList, error) {
	cl := &cellList{d: p.d, n: p.n, radius2: radiusSquared(radius)}
	cl.axes, cl.side, cl.reach = gridOf(p, radius)
	for i := range cl.size {
		cl.size[i] = 1
	}
	for i, a := range cl.axes {
		cl.size[i] = int64((p.hi[a]-p.lo[a])/cl.side) + 1
	}
	keys := make([]uint64, p.n)
	cl.order = make([]uint32, p.n)
	blocks := par.Blocks(p.n, tileRows*16)
	if err := set.Do(ctx, blocks, par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, p.n, tileRows*16)
		for i := lo; i < hi; i++ {
			row := p.single.row(i)
			key := uint64(0)
			for g, a := range cl.axes {
				cell := min(int64((float64(row[a])-p.lo[a])/cl.side), cl.size[g]-1)
				key = key*uint64(cl.size[g]) + uint64(cell)
			}
			keys[i], cl.order[i] = key, uint32(i)
		}
	})); err != nil {
		return nil, err
	}
	keys = radixSort(keys, cl.order, uint64(cl.size[0])*uint64(cl.size[1])*uint64(cl.size[2]))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var starts []uint32 // first sorted point of each cell
	for i, key := range keys {
		if i == 0 || key != keys[i-1] {
			cl.key, starts = append(cl.key, key), append(starts, uint32(i))
		}
	}
	starts = append(starts, uint32(p.n))
	if err := cl.sortWithinCells(ctx, p, starts, set); err != nil {
		return nil, err
	}
	cl.collapse(starts)
	cl.makeClusters(starts)
	return cl, nil
}

// radixSort sorts order by key, stably, and returns the sorted keys. Keys are
// below limit; only the digits that takes are looked at.
func radixSort(keys []uint64, order []uint32, limit uint64) []uint64 {
	const digit = 11
	spareKeys, spareOrder := make([]uint64, len(keys)), make([]uint32, len(order))
	from, fromOrder := keys, order
	for shift := 0; shift == 0 || (limit-1)>>shift > 0; shift += digit {
		var start [1<<digit + 1]uint32
		for _, k := range from {
			start[k>>shift&(1<<digit-1)+1]++
		}
		for i := range 1 << digit {
			start[i+1] += start[i]
		}
		for i, k := range from {
			at := &start[k>>shift&(1<<digit-1)]
			spareKeys[*at], spareOrder[*at] = k, fromOrder[i]
			*at++
		}
		from, spareKeys = spareKeys, from
		fromOrder, spareOrder = spareOrder, fromOrder
		if shift+digit >= 64 {
			break
		}
	}
	if &fromOrder[0] != &order[0] {
		copy(order, fromOrder)
	}
	return from
}

// sortWithinCells fetches the coordinates in sorted order and orders each cell
// so that equal points are adjacent and, in large cells, near points are.
func (cl *cellList) sortWithinCells(ctx context.Context, p *pointSet, starts []uint32, set *par.Set) error {
	d := cl.d
	cl.coords = make([]float32, p.n*d)
	const cellsPerPiece = 512
	return set.Do(ctx, par.Blocks(len(cl.key), cellsPerPiece), par.Func(func(_, piece int) {
		from, to := par.Block(piece, len(cl.key), cellsPerPiece)
		for cell := from; cell < to; cell++ {
			members := cl.order[starts[cell]:starts[cell+1]]
			if len(members) <= clusterPoints {
				slices.SortFunc(members, func(a, b uint32) int {
					if c := slices.Compare(p.single.row(int(a)), p.single.row(int(b))); c != 0 {
						return c
					}
					return int(int64(a) - int64(b))
				})
			}
			out := cl.coords[int(starts[cell])*d:]
			for i, row := range members {
				copy(out[i*d:][:d], p.single.row(int(row)))
			}
			if len(members) > clusterPoints {
				alongCurve(members, out[:len(members)*d], d)
			}
		}
	}))
}

// alongCurve reorders the points of a large cell along a Morton curve.
func alongCurve(members []uint32, coords []float32, d int) {
	order, err := sparse.MortonOrder(blas32.General{Rows: len(members), Cols: d, Stride: d, Data: coords})
	if err != nil {
		panic(err) // the points have been checked
	}
	oldMembers, oldCoords := slices.Clone(members), slices.Clone(coords)
	for i, from := range order {
		members[i] = oldMembers[from]
		copy(coords[i*d:][:d], oldCoords[int(from)*d:])
	}
}

// collapse replaces runs of equal points by one, and moves the cell starts.
func (cl *cellList) collapse(starts []uint32) {
	d := cl.d
	same := func(i int) bool { // as the point before
		return slices.Equal(cl.coords[i*d:][:d], cl.coords[(i-1)*d:][:d])
	}
	distinct := 0
	for i := range cl.n {
		if i == 0 || !same(i) {
			distinct++
		}
	}
	if distinct == cl.n {
		return
	}
	cl.group = make([]uint32, 0, distinct+1)
	cell := 0
	for i := range cl.n {
		first := i == 0 || !same(i)
		for cell < len(starts) && int(starts[cell]) == i {
			// Equal points share a cell, so a cell begins with a new point.
			starts[cell] = uint32(len(cl.group))
			cell++
		}
		if first {
			cl.group = append(cl.group, uint32(i))
		}
	}
	starts[len(starts)-1] = uint32(len(cl.group))
	unique := make([]float32, len(cl.group)*d)
	for g, i := range cl.group {
		copy(unique[g*d:][:d], cl.coords[int(i)*d:])
	}
	cl.coords, cl.group, cl.n = unique, append(cl.group, uint32(cl.n)), distinct
}

// makeClusters cuts the cells into clusters and boxes them.
func (cl *cellList) makeClusters(starts []uint32) {
	for cell := range cl.key {
		cl.cluster = append(cl.cluster, uint32(len(cl.first)))
		for i := starts[cell]; i < starts[cell+1]; i += clusterPoints {
			cl.first = append(cl.first, i)
		}
	}
	cl.cluster = append(cl.cluster, uint32(len(cl.first)))
	cl.first = append(cl.first, uint32(cl.n))
	clusters, d := len(cl.first)-1, cl.d
	cl.lo, cl.hi = make([]float32, clusters*d), make([]float32, clusters*d)
	for c := range clusters {
		lo, hi := cl.lo[c*d:][:d], cl.hi[c*d:][:d]
		copy(lo, cl.point(int(cl.first[c])))
		copy(hi, lo)
		for i := int(cl.first[c]) + 1; i < int(cl.first[c+1]); i++ {
			for a, v := range cl.point(i) {
				lo[a], hi[a] = min(lo[a], v), max(hi[a], v)
			}
		}
	}
}

func (cl *cellList) point(i int) []float32 { return cl.coords[i*cl.d:][:cl.d] }

// multiplicity returns how many given points distinct point i stands for.
func (cl *cellList) multiplicity(i int) int {
	if cl.group == nil {
		return 1
	}
	return int(cl.group[i+1] - cl.group[i])
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

// coordinates returns the grid coordinates of a key.
func (cl *cellList) coordinates(key uint64) (at [3]int64) {
	for i := maxGridAxes - 1; i >= 0; i-- {
		at[i] = int64(key % uint64(cl.size[i]))
		key /= uint64(cl.size[i])
	}
	return at
}

// stencil finds the occupied cells around a cell, one range for each row of
// cells along the last grid axis. Cells must be asked for in ascending order,
// for then the ranges only ever move forward.
type stencil struct {
	cl     *cellList
	reach  int64
	cursor []int // where each row's search goes on; -1 before the first
}

func newStencil(cl *cellList, reach int64) *stencil {
	side := 2*reach + 1
	s := &stencil{cl: cl, reach: reach, cursor: make([]int, side*side)}
	for i := range s.cursor {
		s.cursor[i] = -1
	}
	return s
}

// around calls visit with each range [from, to) of occupied cells that are
// within reach of the given one, in ascending order, with the offset of their
// row in cells along the slower two grid axes.
func (s *stencil) around(cell int, visit func(from, to int, da, db int64)) {
	cl := s.cl
	at := cl.coordinates(cl.key[cell])
	last := len(cl.axes) - 1
	fast := at[last]
	lo, hi := max(fast-s.reach, 0), min(fast+s.reach, cl.size[last]-1)
	// With fewer than three grid axes the slower ones have one cell each.
	ra, rb := int64(0), int64(0)
	if last >= 1 {
		ra = s.reach
	}
	if last >= 2 {
		rb = s.reach
	}
	for da := -ra; da <= ra; da++ {
		for db := -rb; db <= rb; db++ {
			base := uint64(0)
			inside := true
			offset := [2]int64{da, db}
			for i := range last {
				c := at[i] + offset[i]
				inside = inside && c >= 0 && c < cl.size[i]
				base = base*uint64(cl.size[i]) + uint64(c)
			}
			if !inside {
				continue
			}
			base *= uint64(cl.size[last])
			cursor := &s.cursor[(da+s.reach)*(2*s.reach+1)+db+s.reach]
			least, most := base+uint64(lo), base+uint64(hi)
			if *cursor < 0 {
				*cursor = sort.Search(len(cl.key), func(i int) bool { return cl.key[i] >= least })
			}
			for *cursor < len(cl.key) && cl.key[*cursor] < least {
				*cursor++
			}
			to := *cursor
			for to < len(cl.key) && cl.key[to] <= most {
				to++
			}
			if to > *cursor {
				visit(*cursor, to, da, db)
			}
		}
	}
}

// cellOf returns the cell of a cluster.
func (cl *cellList) cellOf(cluster int) int {
	return sort.Search(len(cl.key), func(c int) bool { return int(cl.cluster[c+1]) > cluster })
}

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

// tails bounds, for every occupied cell, the weight of all points that may be
// farther than the radius r from a point of the cell, plus w(r) for each point
// that is not: whoever knows how many neighbours a point has subtracts w(r)
// for each of them and for itself.
//
// Points in cells up to twice the radius away are taken at the distance of
// their cell, r at least; all others at twice the radius.
func (cl *cellList) tails(ctx context.Context, b Bandwidth, r float64, set *par.Set) ([]float64, error) {
	reach := 2 * cl.reach
	// Distances between cells, rounded down: cells are half open and their
	// numbers are rounded.
	apart := func(cells int64) float64 { return float64(max(cells-1, 0)) * cl.side / sideSafety / sideSafety }
	width := reach + 1
	weight := make([]float64, width*width*width)
	for i := range width {
		for j := range width {
			for k := range width {
				d2 := apart(i)*apart(i) + apart(j)*apart(j) + apart(k)*apart(k)
				weight[(i*width+j)*width+k] = b.Weight(max(d2, r*r))
			}
		}
	}
	beyond := max(r, apart(reach+1))
	rest := b.Weight(beyond * beyond)
	points := func(cell int) float64 {
		from, to := cl.first[cl.cluster[cell]], cl.first[cl.cluster[cell+1]]
		if cl.group != nil {
			from, to = cl.group[from], cl.group[to]
		}
		return float64(to - from)
	}
	total := float64(len(cl.order))
	tails := make([]float64, len(cl.key))
	const cellsPerPiece = 512
	err := set.Do(ctx, par.Blocks(len(cl.key), cellsPerPiece), par.Func(func(_, piece int) {
		around := newStencil(cl, reach)
		from, to := par.Block(piece, len(cl.key), cellsPerPiece)
		for cell := from; cell < to; cell++ {
			sum, seen := 0.0, 0.0
			own := cl.key[cell]
			around.around(cell, func(a, e int, da, db int64) {
				table := weight[(abs(da)*width+abs(db))*width:][:width]
				// Keys along the row differ by the number of cells between.
				shift := (da*cl.stride(0) + db*cl.stride(1))
				for other := a; other < e; other++ {
					dc := int64(cl.key[other]-own) - shift
					count := points(other)
					sum += count * table[abs(dc)]
					seen += count
				}
			})
			tails[cell] = sum + (total-seen)*rest
		}
	}))
	return tails, err
}

// stride returns the difference of keys between cells next to each other along
// a slower grid axis.
func (cl *cellList) stride(axis int) int64 {
	last := len(cl.axes) - 1
	if axis >= last {
		return 0
	}
	s := int64(1)
	for _, size := range cl.size[axis+1 : last+1] {
		s *= size
	}
	return s
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// cellFar is the farBound of the tails above for points in d dimensions.
func cellFar(d int) farBound {
	if d > maxGridAxes {
		return func(r, _ float64) float64 { return r } // axes without a grid give no bound
	}
	return func(r, distance float64) float64 {
		side := r // of a cell, the larger of the two choices
		if d < maxGridAxes {
			side = r / 2
		}
		return min(distance-2*side*math.Sqrt(float64(d)), 2*r)
	}
}
