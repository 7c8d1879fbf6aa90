package kernel

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/simd"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A cellList finds all neighbours within a radius of points in few dimensions.
//
// The points are sorted by the cell of a grid on up to three of their widest
// axes. Cells next to each other along the last of these are next to each other in
// memory: the cells around a point are a few ranges of the sorted points. Where the
// grid has few cells for a point, all are listed, and a range is found by its place
// in the list. Otherwise only the occupied cells are, in the order of their keys, and
// so are rows of cells if they are too many themselves: neither a tiny radius nor a
// distant outlier costs memory. Ranges are then found by sweeping over the cells in
// that order (cellsweep.go).
//
// A cluster is a run of at most clusterPoints points that are close together: those
// of a few small cells in a row, or some of a cell that holds many. All points of a
// cluster are tested against the same candidates. Where it prunes, clusters have
// bounding boxes in all dimensions (boxes.go).
//
// Equal points are collapsed to one with a multiplicity.
//
// Every pair is tested from both of its ends. Half of the cells around a point
// would do to find each pair once, but then rows have several writers, their
// columns come out of order, and the atomic counters and sorts that mend this
// cost what the tests saved. Distances are differences of the given float32
// coordinates in float64, which are exact or nearly so whatever the offset.
type cellList struct {
	d     int
	n     int       // distinct points
	axis  []float32 // coordinates d x n in sorted order, and what simd wants behind them
	order []uint32  // given row of each sorted point, duplicates included
	group []uint32  // sorted points group[g] to group[g+1]-1 are equal; nil if none are

	radius2 float64 // largest squared distance of neighbours
	cellGrid

	start []uint32 // first point of each cell, and the end
	// Where there are too many cells, only the occupied ones are listed.
	fast     []uint32 // number of each along the last grid axis
	rowKey   []uint64 // rows of cells along that axis that hold one, ascending; nil where all rows are listed
	rowStart []uint32 // first cell of each row, and the end

	first []uint32 // first point of each cluster, and the end
	boxes *boxes   // of the clusters; nil where they would not prune
}

const (
	maxGridAxes   = 3
	clusterPoints = 32 // of a cluster
	// Cells are joined to clusters up to so many points.
	runPoints = 12
	// Up to so many cells for a point all are listed, and no more than have numbers of 32
	// bits.
	cellsPerPoint = 4
	mostCells     = 1 << 32
	// sideSafety makes cells a little larger than radius/reach, by more than
	// the rounding of a cell number: points within the radius are never more
	// than reach cells apart, as computed.
	sideSafety = 1 + 0x1p-18
)

// A cellGrid numbers cells on up to three axes. Coordinates outside the range of an
// axis count as its ends: that brings points closer together, never farther
// apart, so cells still bound distances from below.
type cellGrid struct {
	axes   []int // slowest first
	lo, hi [maxGridAxes]float64
	size   [maxGridAxes]int64 // cells along each axis, 1 where there is none
	side   float64
	reach  int64 // cells within the radius along an axis

	slowSize          [2]int64           // cells along the axes before the last
	cells             int64              // of the whole grid where all are listed, 0 where only some are
	allRows           bool               // all rows are listed
	midBits, lastBits int                // of a key where only some are: of the second of three axes, and the last
	step              [maxGridAxes]int64 // of a key along each axis
	perSide           float64
}

// newCellGrid chooses the grid for a radius.
func newCellGrid(p *pointSet, radius float64) cellGrid {
	// Half the radius in the plane, where the smaller cells waste less; the
	// whole in space, where they would be too many.
	if g := cellGridOf(p, radius, 2, 1); g.dense() {
		return g
	}
	// Points are sparse, or crowded in few places: larger cells, or most would
	// hold a point or none.
	return cellGridOf(p, radius, 1, 1)
}

// cellGridOf returns a grid with so many cells in a radius with two axes or fewer,
// and with three.
func cellGridOf(p *pointSet, radius, plane, space float64) cellGrid {
	g := cellGrid{size: [maxGridAxes]int64{1, 1, 1}}
	low, high := p.lo, p.hi
	if g.choose(low, high, radius, plane, space); g.side*float64(g.reach) > radius*sideSafety*sideSafety {
		// The radius is so small against the extent that cells must be larger
		// than wanted. If outliers are to blame, let them share the last cells.
		low, high = bulk(p)
		g.choose(low, high, radius, plane, space)
	}
	g.number(p.n, low, high)
	return g
}

// number numbers the cells of n points in a box.
func (g *cellGrid) number(n int, low, high []float64) {
	for i, a := range g.axes {
		g.lo[i], g.hi[i] = low[a], high[a]
		g.size[i] = int64((high[a]-low[a])/g.side) + 1
	}
	last := len(g.axes) - 1
	g.slowSize = [2]int64{1, 1}
	copy(g.slowSize[:], g.size[:last])
	g.lastBits = bits.Len64(uint64(g.size[last] - 1))
	g.midBits = bits.Len64(uint64(g.slowSize[1] - 1))
	g.perSide = 1 / g.side
	slow, mid := int64(1)<<(g.midBits+g.lastBits), int64(1)<<g.lastBits
	if rows := float64(g.slowSize[0]) * float64(g.slowSize[1]); rows <= cellsPerPoint*float64(n) {
		g.allRows, slow = true, g.slowSize[1]<<g.lastBits
	}
	if cells := float64(g.size[0]) * float64(g.size[1]) * float64(g.size[2]); cells <= min(cellsPerPoint*float64(n), mostCells) {
		g.cells, slow, mid = int64(cells), g.slowSize[1]*g.size[last], g.size[last]
	}
	g.step[0], g.step[1], g.step[last] = slow, mid, 1
}

// choose sets axes, side and reach for points in the box from low to high.
func (g *cellGrid) choose(low, high []float64, radius, plane, space float64) {
	extent := func(a int) float64 { return high[a] - low[a] }
	axes := make([]int, len(low))
	for a := range axes {
		axes[a] = a
	}
	sort.SliceStable(axes, func(i, j int) bool { return extent(axes[i]) > extent(axes[j]) })
	axes = axes[:min(len(axes), maxGridAxes)]
	for len(axes) > 1 && extent(axes[len(axes)-1]) <= radius/2 {
		axes = axes[:len(axes)-1] // one or two cells would not prune
	}
	inRadius := plane
	if len(axes) == maxGridAxes {
		inRadius = space
	}
	side, reach := radius/inRadius*sideSafety, int64(math.Ceil(inRadius))
	// Keys must fit 60 bits, cell numbers 30 for the safety above.
	if least := extent(axes[0]) / float64(int64(1)<<(60/max(len(axes), 2))-2); side < least {
		side = least
		reach = int64(math.Ceil(radius * sideSafety / side))
	}
	if side == 0 { // radius zero and all points equal
		side = 1
	}
	g.axes, g.side, g.reach = axes, side, max(reach, 1)
}

// bulk returns a box around most of the points: the middle eight tenths of a
// sample along each axis, and twice their width on either side.
func bulk(p *pointSet) (low, high []float64) {
	low, high = make([]float64, p.d), make([]float64, p.d)
	sample := make([]float64, min(p.n, 1000))
	for a := range low {
		for i := range sample {
			sample[i] = float64(p.single.row(i * p.n / len(sample))[a])
		}
		slices.Sort(sample)
		first, last := sample[len(sample)/10], sample[len(sample)-1-len(sample)/10]
		width := 2 * (last - first)
		low[a], high[a] = max(p.lo[a], first-width), min(p.hi[a], last+width)
		if width == 0 {
			low[a], high[a] = p.lo[a], p.hi[a]
		}
	}
	return low, high
}

// A key is the number of a cell. Where all cells are listed it is their number in
// the order of the axes; otherwise the number along the last axis has bits of its
// own, and without them it is the number of a row or, where not all rows are listed,
// its key, in which the numbers along the other axes have theirs.

// keyBits is the number of bits of a key.
func (g *cellGrid) keyBits() int {
	if g.cells > 0 {
		return bits.Len64(uint64(g.cells - 1))
	}
	if g.allRows {
		return bits.Len64(uint64(g.slowSize[0]*g.slowSize[1]-1)) + g.lastBits
	}
	return bits.Len64(uint64(g.slowSize[0]-1)) + g.midBits + g.lastBits
}

// key returns the key of the cell of a point.
func (g *cellGrid) key(row []float32) uint64 {
	key := int64(0)
	for i, a := range g.axes {
		v := float64(row[a])
		if v < g.lo[i] { // few are outside, so these are guessed right
			v = g.lo[i]
		} else if v > g.hi[i] {
			v = g.hi[i]
		}
		key += min(int64((v-g.lo[i])*g.perSide), g.size[i]-1) * g.step[i]
	}
	return uint64(key)
}

// dense tells whether all cells are listed.
func (g *cellGrid) dense() bool { return g.cells > 0 }

// rows returns the number of rows of cells.
func (cl *cellList) rows() int {
	if cl.allRows {
		return int(cl.slowSize[0] * cl.slowSize[1])
	}
	return len(cl.rowKey)
}

// cellsOf returns the range of cells of a row.
func (cl *cellList) cellsOf(row int) (from, to int) {
	if cl.dense() {
		size := int(cl.size[len(cl.axes)-1])
		return row * size, (row + 1) * size
	}
	return int(cl.rowStart[row]), int(cl.rowStart[row+1])
}

// rowOf returns the row of a cell.
func (cl *cellList) rowOf(cell int) int {
	if cl.dense() {
		return cell / int(cl.size[len(cl.axes)-1])
	}
	return sort.Search(cl.rows(), func(r int) bool { return int(cl.rowStart[r+1]) > cell })
}

// number returns the number of a cell of a row along the last axis.
func (cl *cellList) number(cell, row int) uint32 {
	if cl.dense() {
		return uint32(cell - row*int(cl.size[len(cl.axes)-1]))
	}
	return cl.fast[cell]
}

// slowKey returns the key of a row.
func (g *cellGrid) slowKey(a, b int64) uint64 { return uint64(a)<<g.midBits | uint64(b) }

// slow returns the numbers of a row along the slower two axes.
func (cl *cellList) slow(row int) (a, b int64) {
	if cl.allRows {
		return int64(row) / cl.slowSize[1], int64(row) % cl.slowSize[1]
	}
	key := cl.rowKey[row]
	return int64(key >> cl.midBits), int64(key & (1<<cl.midBits - 1))
}

// cellOf returns the cell of a point.
func (cl *cellList) cellOf(point uint32) int {
	return sort.Search(len(cl.start)-1, func(c int) bool { return cl.start[c+1] > point })
}

// newCellList sorts the points for searches within the radius.
func newCellList(ctx context.Context, p *pointSet, radius float64, set *par.Set) (*cellList, error) {
	cl := &cellList{d: p.d, n: p.n, radius2: radiusSquared(radius), cellGrid: newCellGrid(p, radius)}
	var err error
	switch {
	case cl.dense():
		err = cl.countCells(ctx, p, set)
	case cl.keyBits() <= 32:
		err = sortByCell[uint32](ctx, cl, p, set)
	default:
		err = sortByCell[uint64](ctx, cl, p, set)
	}
	if err != nil {
		return nil, err
	}
	equal, err := cl.sortWithinCells(ctx, p, set)
	if err != nil {
		return nil, err
	}
	if equal {
		cl.collapse()
	}
	cl.makeClusters()
	if cl.prunes() {
		cl.boxes, err = newBoxes(ctx, cl, set)
	}
	return cl, err
}

// countCells orders the points by cell where all cells are listed: what is before a
// point are the points of the cells before its own and those of its own that are given
// earlier. Workers count and place a piece each.
func (cl *cellList) countCells(ctx context.Context, p *pointSet, set *par.Set) error {
	cells := int(cl.cells)
	// No more counters than cellsPerPoint allows.
	pieces := min(set.Workers(), cellsPerPoint*p.n/cells)
	keys, next := make([]uint32, p.n), make([]uint32, pieces*cells)
	cl.order, cl.start = make([]uint32, p.n), make([]uint32, cells+1)
	piece := func(i int) (lo, hi int, counts []uint32) {
		return p.n * i / pieces, p.n * (i + 1) / pieces, next[i*cells:][:cells]
	}
	if err := set.Do(ctx, pieces, par.Func(func(_, i int) {
		lo, hi, counts := piece(i)
		for i := lo; i < hi; i++ {
			key := uint32(cl.key(p.single.row(i)))
			keys[i] = key
			counts[key]++
		}
	})); err != nil {
		return err
	}
	before := uint32(0)
	for c := range cells {
		cl.start[c] = before
		for i := c; i < len(next); i += cells {
			before, next[i] = before+next[i], before
		}
	}
	cl.start[cells] = before
	return set.Do(ctx, pieces, par.Func(func(_, i int) {
		lo, hi, place := piece(i)
		for i, key := range keys[lo:hi] {
			at := &place[key]
			cl.order[*at] = uint32(lo + i)
			*at++
		}
	}))
}

// sortByCell orders the points by the keys of their cells and finds these, where
// only the occupied ones are listed.
func sortByCell[K uint32 | uint64](ctx context.Context, cl *cellList, p *pointSet, set *par.Set) error {
	keys := make([]K, p.n)
	cl.order = make([]uint32, p.n)
	const pointsPerPiece = 1 << 14
	if err := set.Do(ctx, par.Blocks(p.n, pointsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, p.n, pointsPerPiece)
		for i := lo; i < hi; i++ {
			keys[i], cl.order[i] = K(cl.key(p.single.row(i))), uint32(i)
		}
	})); err != nil {
		return err
	}
	keys, err := radixSort(ctx, keys, cl.order, cl.keyBits(), set)
	if err != nil {
		return err
	}
	listOccupied(cl, keys)
	return nil
}

// listOccupied finds the occupied cells and their rows in the sorted keys.
func listOccupied[K uint32 | uint64](cl *cellList, keys []K) {
	cells, rows := 0, 0
	if cl.allRows {
		rows = cl.rows()
	}
	last := ^K(0) // no key
	for _, key := range keys {
		if key != last {
			cells++
			if !cl.allRows && key>>cl.lastBits != last>>cl.lastBits {
				rows++
			}
			last = key
		}
	}
	cl.fast, cl.start = make([]uint32, 0, cells), make([]uint32, 0, cells+1)
	cl.rowStart = make([]uint32, 0, rows+1)
	if !cl.allRows {
		cl.rowKey = make([]uint64, 0, rows)
	}
	mask := K(1)<<cl.lastBits - 1
	last = ^K(0)
	for i, key := range keys {
		if key == last {
			continue
		}
		switch row := key >> cl.lastBits; {
		case cl.allRows:
			for uint64(len(cl.rowStart)) <= uint64(row) {
				cl.rowStart = append(cl.rowStart, uint32(len(cl.fast)))
			}
		case row != last>>cl.lastBits:
			cl.rowKey, cl.rowStart = append(cl.rowKey, uint64(row)), append(cl.rowStart, uint32(len(cl.fast)))
		}
		cl.fast, cl.start = append(cl.fast, uint32(key&mask)), append(cl.start, uint32(i))
		last = key
	}
	cl.start = append(cl.start, uint32(len(keys)))
	for len(cl.rowStart) <= rows {
		cl.rowStart = append(cl.rowStart, uint32(len(cl.fast)))
	}
}

// sortWithinCells fetches the coordinates in sorted order and orders each cell
// so that equal points are adjacent and, in large cells, near points are. It
// tells whether any are equal.
func (cl *cellList) sortWithinCells(ctx context.Context, p *pointSet, set *par.Set) (equal bool, err error) {
	d, n := cl.d, p.n
	cl.axis = make([]float32, n*d+simd.CoordinatePad)
	mem.Huge(cl.axis)
	const cellsPerPiece = 4096
	var found atomic.Bool
	err = set.Do(ctx, par.Blocks(len(cl.start)-1, cellsPerPiece), par.Func(func(_, piece int) {
		from, to := par.Block(piece, len(cl.start)-1, cellsPerPiece)
		members := cl.order[cl.start[from]:cl.start[to]]
		for a := range d {
			out := cl.axis[a*n+int(cl.start[from]):][:len(members)]
			for i, row := range members {
				out[i] = p.single.data[int(row)*p.single.stride+a]
			}
		}
		for cell := from; cell < to; cell++ {
			lo, hi := int(cl.start[cell]), int(cl.start[cell+1])
			switch {
			case hi-lo > clusterPoints && (hi-lo > quarterPoints || d > maxGridAxes):
				if cl.alongCurve(lo, hi) {
					found.Store(true)
				}
			case hi-lo > clusterPoints:
				if cl.byQuarters(lo, hi) {
					found.Store(true)
				}
			case hi-lo > 1:
				if cl.gatherEqual(lo, hi) {
					found.Store(true)
				}
			}
		}
	}))
	return found.Load(), err
}

// gatherEqual moves equal points among those from lo to hi-1 together and tells
// whether there are any. Cells hold few points, and equal ones are rare.
func (cl *cellList) gatherEqual(lo, hi int) (equal bool) {
	x := cl.axis[lo:hi]
	for i, v := range x {
		for j := i + 1; j < len(x); j++ {
			if x[j] != v || cl.compare(lo+i, lo+j) != 0 {
				continue
			}
			equal = true
			// Behind point i, in the order they have.
			if k := lo + i + 1; k < lo+j {
				cl.rotate(k, lo+j)
			}
			break
		}
	}
	return equal
}

// rotate moves point j to place i < j and those between one place on.
func (cl *cellList) rotate(i, j int) {
	order := cl.order[j]
	copy(cl.order[i+1:j+1], cl.order[i:j])
	cl.order[i] = order
	for a := range cl.d {
		axis := cl.axis[a*cl.n:][:cl.n]
		v := axis[j]
		copy(axis[i+1:j+1], axis[i:j])
		axis[i] = v
	}
}

// quarterPoints is the most points a cell is ordered by quarters with.
const quarterPoints = 512

// byQuarters orders the points from lo to hi-1 by quarters of their extent along
// each axis, in the order of a Morton curve, which takes a fraction of the time of
// a sort and makes clusters nearly as small. It tells whether any points are equal.
func (cl *cellList) byQuarters(lo, hi int) (equal bool) {
	const buckets = 1 << (2 * maxGridAxes)
	m := hi - lo
	var code [quarterPoints]uint8
	for a := range cl.d {
		x := cl.axis[a*cl.n+lo:][:m]
		low, high := slices.Min(x), slices.Max(x)
		if low == high {
			continue
		}
		scale := 4 / (float64(high) - float64(low))
		for i, v := range x {
			quarter := min(uint8((float64(v)-float64(low))*scale), 3)
			code[i] |= quarter>>1<<(cl.d+a) | quarter&1<<a
		}
	}
	var start [buckets + 1]int
	for _, c := range code[:m] {
		start[c+1]++
	}
	for c := range buckets {
		start[c+1] += start[c]
	}
	next := start
	var place [quarterPoints]uint16
	for i, c := range code[:m] {
		place[i] = uint16(next[c])
		next[c]++
	}
	var oldOrder [quarterPoints]uint32
	copy(oldOrder[:], cl.order[lo:hi])
	for i, at := range place[:m] {
		cl.order[lo+int(at)] = oldOrder[i]
	}
	var old [quarterPoints]float32
	for a := range cl.d {
		x := cl.axis[a*cl.n+lo:][:m]
		copy(old[:], x)
		for i, at := range place[:m] {
			x[at] = old[i]
		}
	}
	for c := range buckets {
		if start[c+1]-start[c] > 1 && cl.gatherEqual(lo+start[c], lo+start[c+1]) {
			equal = true
		}
	}
	return equal
}

// compare orders sorted points by their coordinates.
func (cl *cellList) compare(i, j int) int {
	for a := range cl.d {
		if x, y := cl.axis[a*cl.n+i], cl.axis[a*cl.n+j]; x < y {
			return -1
		} else if x > y {
			return 1
		}
	}
	return 0
}

// alongCurve orders the points from lo to hi-1 along a Morton curve. It tells
// whether any are equal.
func (cl *cellList) alongCurve(lo, hi int) (equal bool) {
	d, m := cl.d, hi-lo
	coords := blas32.General{Rows: m, Cols: d, Stride: d, Data: make([]float32, m*d)}
	for i := range m {
		for a := range d {
			coords.Data[i*d+a] = cl.axis[a*cl.n+lo+i]
		}
	}
	order, err := sparse.MortonOrder(coords)
	if err != nil {
		panic(err) // the points have been checked
	}
	members := slices.Clone(cl.order[lo:hi])
	for i, from := range order {
		cl.order[lo+i] = members[from]
		for a := range d {
			cl.axis[a*cl.n+lo+i] = coords.Data[int(from)*d+a]
		}
		equal = equal || i > 0 && cl.compare(lo+i-1, lo+i) == 0
	}
	return equal
}

// collapse replaces runs of equal points, which share a cell, by one.
func (cl *cellList) collapse() {
	cl.group = make([]uint32, 0, cl.n+1)
	for cell := range len(cl.start) - 1 {
		from, to := cl.start[cell], cl.start[cell+1]
		cl.start[cell] = uint32(len(cl.group))
		for i := from; i < to; i++ {
			if i == from || cl.compare(int(i-1), int(i)) != 0 {
				cl.group = append(cl.group, i)
			}
		}
	}
	distinct := len(cl.group)
	cl.start[len(cl.start)-1] = uint32(distinct)
	axis := make([]float32, distinct*cl.d+simd.CoordinatePad)
	for a := range cl.d {
		for g, i := range cl.group {
			axis[a*distinct+g] = cl.axis[a*cl.n+int(i)]
		}
	}
	cl.axis, cl.group, cl.n = axis, append(cl.group, uint32(cl.n)), distinct
}

// makeClusters cuts the points into clusters: runs of cells of a row that are as
// close as the radius, or parts of a cell that holds many points.
func (cl *cellList) makeClusters() {
	for row := range cl.rows() {
		points, begin := uint32(clusterPoints), uint32(0) // of the cluster at hand, and the number of its first cell
		first, last := cl.cellsOf(row)
		for cell := first; cell < last; cell++ {
			from, to := cl.start[cell], cl.start[cell+1]
			if from == to {
				continue
			}
			number := cl.number(cell, row)
			if points+to-from <= runPoints && number-begin <= uint32(cl.reach) {
				points += to - from
				continue
			}
			points, begin = to-from, number
			for ; from < to; from += clusterPoints {
				cl.first = append(cl.first, from)
			}
		}
	}
	cl.first = append(cl.first, uint32(cl.n))
}

// multiplicity returns how many given points distinct point i stands for.
func (cl *cellList) multiplicity(i int) int {
	if cl.group == nil {
		return 1
	}
	return int(cl.group[i+1] - cl.group[i])
}

// dist2 returns the squared distance of distinct points i and j.
func (cl *cellList) dist2(i, j int) float64 {
	sum := 0.0
	for a := range cl.d {
		e := float64(cl.axis[a*cl.n+i]) - float64(cl.axis[a*cl.n+j])
		sum += float64(e * e)
	}
	return sum
}
