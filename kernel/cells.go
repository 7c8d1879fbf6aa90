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
	axis   []float32 // the same d x n, as simd.Near wants them
	order  []uint32  // given row of each sorted point, duplicates included
	group  []uint32  // sorted points group[g] to group[g+1]-1 are equal; nil if none are

	radius2 float64 // largest squared distance of neighbours
	grid

	keys    []uint64 // of each occupied cell, ascending
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

// A grid numbers cells on up to three axes. Coordinates outside the range of an
// axis count as its ends: that brings points closer together, never farther
// apart, so cells still bound distances from below.
type grid struct {
	axes   []int // slowest first
	lo, hi [maxGridAxes]float64
	size   [maxGridAxes]int64 // cells along each axis, 1 where there is none
	side   float64
	reach  int64 // cells within the radius along an axis
}

// newGrid chooses the grid for a radius.
func newGrid(p *pointSet, radius float64) grid {
	g := grid{size: [maxGridAxes]int64{1, 1, 1}}
	low, high := p.lo, p.hi
	if g.choose(low, high, radius); g.side*float64(g.reach) > radius*sideSafety*sideSafety {
		// The radius is so small against the extent that cells must be larger
		// than wanted. If outliers are to blame, let them share the last cells.
		low, high = bulk(p)
		g.choose(low, high, radius)
	}
	for i, a := range g.axes {
		g.lo[i], g.hi[i] = low[a], high[a]
		g.size[i] = int64((high[a]-low[a])/g.side) + 1
	}
	return g
}

// choose sets axes, side and reach for points in the box from low to high.
func (g *grid) choose(low, high []float64, radius float64) {
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
	// Half the radius in the plane, where the smaller cells waste less; the
	// whole in space, where they would be too many.
	reach := int64(2)
	if len(axes) == maxGridAxes {
		reach = 1
	}
	side := radius / float64(reach) * sideSafety
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

// key returns the number of the cell of a point.
func (g *grid) key(row []float32) uint64 {
	key := uint64(0)
	for i, a := range g.axes {
		v := min(max(float64(row[a]), g.lo[i]), g.hi[i])
		cell := min(int64((v-g.lo[i])/g.side), g.size[i]-1)
		key = key*uint64(g.size[i]) + uint64(cell)
	}
	return key
}

// newCellList sorts the points for searches within the radius.
func newCellList(ctx context.Context, p *pointSet, radius float64, set *par.Set) (*cellList, error) {
	cl := &cellList{d: p.d, n: p.n, radius2: radiusSquared(radius), grid: newGrid(p, radius)}
	keys := make([]uint64, p.n)
	cl.order = make([]uint32, p.n)
	blocks := par.Blocks(p.n, tileRows*16)
	if err := set.Do(ctx, blocks, par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, p.n, tileRows*16)
		for i := lo; i < hi; i++ {
			keys[i], cl.order[i] = cl.grid.key(p.single.row(i)), uint32(i)
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
			cl.keys, starts = append(cl.keys, key), append(starts, uint32(i))
		}
	}
	starts = append(starts, uint32(p.n))
	if err := cl.sortWithinCells(ctx, p, starts, set); err != nil {
		return nil, err
	}
	cl.collapse(starts)
	cl.makeClusters(starts)
	cl.axis = make([]float32, cl.n*cl.d)
	return cl, set.Do(ctx, par.Blocks(cl.n, tileRows*16), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, cl.n, tileRows*16)
		for a := range cl.d {
			for i := lo; i < hi; i++ {
				cl.axis[a*cl.n+i] = cl.coords[i*cl.d+a]
			}
		}
	}))
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
	return set.Do(ctx, par.Blocks(len(cl.keys), cellsPerPiece), par.Func(func(_, piece int) {
		from, to := par.Block(piece, len(cl.keys), cellsPerPiece)
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
	for cell := range cl.keys {
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

// coordinates returns the grid coordinates of a key.
func (cl *cellList) coordinates(key uint64) (at [3]int64) {
	for i := maxGridAxes - 1; i >= 0; i-- {
		at[i] = int64(key % uint64(cl.size[i]))
		key /= uint64(cl.size[i])
	}
	return at
}
