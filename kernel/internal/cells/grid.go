package cells

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

const (
	// maxAxes is the largest number of axes of a grid.
	maxAxes = 3
	// All cells are listed where there are at most cellsPerPoint of them for a point, and
	// at most mostCells, whose numbers have 32 bits.
	cellsPerPoint = 4
	mostCells     = 1 << 32
	// sideSafety makes cells a little larger than radius/reach, by more than the rounding
	// of a cell number: the computed cells of points within the radius are never more than
	// reach cells apart.
	sideSafety = 1 + 0x1p-18
)

// A grid numbers cells on up to three axes. Coordinates outside the range of an axis
// count as the ends of the range. That brings points closer together, never farther
// apart, so cells still bound distances from below.
type grid struct {
	axes   []int            // axes of the points, slowest first
	lo, hi [maxAxes]float64 // range of each axis
	size   [maxAxes]int64   // cells along each axis; 1 where the grid has no such axis
	side   float64          // of a cell
	reach  int64            // cells within the radius along an axis

	slowSize [2]int64       // cells along the axes before the last
	cells    int64          // of the whole grid; 0 when not all cells are listed
	allRows  bool           // all rows of cells are listed
	midBits  int            // bits of the number along the second of three axes, in a key where not all rows are listed
	lastBits int            // bits of the number along the last axis, in a key where not all cells are listed
	step     [maxAxes]int64 // from a key to the next along each axis
	perSide  float64        // 1/side
}

// newGrid chooses the grid for a radius.
func newGrid(p *rows.Points, radius float64) grid {
	// Cells of half the radius in the plane, where smaller cells waste less. Cells of the
	// whole radius in space, where smaller cells would be too many.
	if g := gridOf(p, radius, 2); g.allCells() {
		return g
	}
	// Points are sparse, or crowded in few places: larger cells, or most cells would hold
	// a point or none.
	return gridOf(p, radius, 1)
}

// gridOf returns a grid with inPlane cells in a radius where it has two axes or fewer,
// and with one cell in a radius where it has three.
func gridOf(p *rows.Points, radius float64, inPlane int64) grid {
	g := grid{size: [maxAxes]int64{1, 1, 1}}
	low, high := p.Lo, p.Hi
	if g.choose(low, high, radius, inPlane); g.side*float64(g.reach) > radius*sideSafety*sideSafety {
		// The radius is so small against the extent of the points that cells must be larger
		// than wanted. If outliers are to blame, let outliers share the last cells.
		low, high = bulk(p)
		g.choose(low, high, radius, inPlane)
	}
	g.layOut(p.N, low, high)
	return g
}

// layOut numbers the cells of n points in the box from low to high.
func (g *grid) layOut(n int, low, high []float64) {
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
func (g *grid) choose(low, high []float64, radius float64, inPlane int64) {
	extent := func(a int) float64 { return high[a] - low[a] }
	axes := make([]int, len(low))
	for a := range axes {
		axes[a] = a
	}
	sort.SliceStable(axes, func(i, j int) bool { return extent(axes[i]) > extent(axes[j]) })
	axes = axes[:min(len(axes), maxAxes)]
	for len(axes) > 1 && extent(axes[len(axes)-1]) <= radius/2 {
		axes = axes[:len(axes)-1] // an axis of one or two cells would not prune
	}
	reach := inPlane
	if len(axes) == maxAxes {
		reach = 1
	}
	side := radius / float64(reach) * sideSafety
	// Keys must fit 60 bits, and cell numbers 30 bits for sideSafety to be enough.
	if least := extent(axes[0]) / float64(int64(1)<<(60/max(len(axes), 2))-2); side < least {
		side = least
		reach = int64(math.Ceil(radius * sideSafety / side))
	}
	if side == 0 { // radius zero and all points equal
		side = 1
	}
	g.axes, g.side, g.reach = axes, side, max(reach, 1)
}

// bulk returns a box around most of the points: along each axis the middle eight tenths of
// a sample, and twice their width on either side.
func bulk(p *rows.Points) (low, high []float64) {
	low, high = make([]float64, p.D), make([]float64, p.D)
	sample := make([]float64, min(p.N, 1000))
	for a := range low {
		for i := range sample {
			sample[i] = float64(p.Single.Row(par.Part(p.N, i, len(sample)))[a])
		}
		slices.Sort(sample)
		first, last := sample[len(sample)/10], sample[len(sample)-1-len(sample)/10]
		width := 2 * (last - first)
		low[a], high[a] = max(p.Lo[a], first-width), min(p.Hi[a], last+width)
		if width == 0 {
			low[a], high[a] = p.Lo[a], p.Hi[a]
		}
	}
	return low, high
}

// A key is the number of a cell.
//
// Where all cells are listed, cells are numbered in the order of the axes. Otherwise a
// key is the key of the row of the cell, and below it, in bits of its own, the number of
// the cell along the last axis. Where all rows are listed, the key of a row is the number
// of the row in the order of the axes. Otherwise it is the numbers of the row along the
// other axes, each in bits of its own.

// keyBits returns the number of bits of a key.
func (g *grid) keyBits() int {
	if g.cells > 0 {
		return bits.Len64(uint64(g.cells - 1))
	}
	if g.allRows {
		return bits.Len64(uint64(g.slowSize[0]*g.slowSize[1]-1)) + g.lastBits
	}
	return bits.Len64(uint64(g.slowSize[0]-1)) + g.midBits + g.lastBits
}

// key returns the key of the cell of a point.
func (g *grid) key(row []float32) uint64 {
	key := int64(0)
	for i, a := range g.axes {
		v := float64(row[a])
		if v < g.lo[i] { // few points are outside, so the processor predicts these branches
			v = g.lo[i]
		} else if v > g.hi[i] {
			v = g.hi[i]
		}
		key += min(int64((v-g.lo[i])*g.perSide), g.size[i]-1) * g.step[i]
	}
	return uint64(key)
}

// allCells tells whether all cells are listed.
func (g *grid) allCells() bool { return g.cells > 0 }

// slowKey returns the key of the row with the numbers a and b along the slower two axes,
// where not all rows are listed.
func (g *grid) slowKey(a, b int64) uint64 { return uint64(a)<<g.midBits | uint64(b) }
