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
	maxAxes = 3
	// Up to so many cells for a point all are listed, and no more than have numbers of 32
	// bits.
	perPoint  = 4
	mostCells = 1 << 32
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
	lo, hi [maxAxes]float64
	size   [maxAxes]int64 // cells along each axis, 1 where there is none
	side   float64
	reach  int64 // cells within the radius along an axis

	slowSize          [2]int64       // cells along the axes before the last
	cells             int64          // of the whole grid where all are listed, 0 where only some are
	allRows           bool           // all rows are listed
	midBits, lastBits int            // of a key where only some are: of the second of three axes, and the last
	step              [maxAxes]int64 // of a key along each axis
	perSide           float64
}

// newGrid chooses the grid for a radius.
func newGrid(p *rows.Points, radius float64) grid {
	// Half the radius in the plane, where the smaller cells waste less; the
	// whole in space, where they would be too many.
	if g := gridOf(p, radius, 2); g.allCells() {
		return g
	}
	// Points are sparse, or crowded in few places: larger cells, or most would
	// hold a point or none.
	return gridOf(p, radius, 1)
}

// gridOf returns a grid with so many cells in a radius with two axes or fewer, and
// with one in a radius with three.
func gridOf(p *rows.Points, radius float64, inPlane int64) grid {
	g := grid{size: [maxAxes]int64{1, 1, 1}}
	low, high := p.Lo, p.Hi
	if g.choose(low, high, radius, inPlane); g.side*float64(g.reach) > radius*sideSafety*sideSafety {
		// The radius is so small against the extent that cells must be larger
		// than wanted. If outliers are to blame, let them share the last cells.
		low, high = bulk(p)
		g.choose(low, high, radius, inPlane)
	}
	g.layOut(p.N, low, high)
	return g
}

// layOut numbers the cells of n points in a box.
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
	if rows := float64(g.slowSize[0]) * float64(g.slowSize[1]); rows <= perPoint*float64(n) {
		g.allRows, slow = true, g.slowSize[1]<<g.lastBits
	}
	if cells := float64(g.size[0]) * float64(g.size[1]) * float64(g.size[2]); cells <= min(perPoint*float64(n), mostCells) {
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
		axes = axes[:len(axes)-1] // one or two cells would not prune
	}
	reach := inPlane
	if len(axes) == maxAxes {
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

// A key is the number of a cell. Where all cells are listed it is their number in
// the order of the axes; otherwise the number along the last axis has bits of its
// own, and without them it is the number of a row or, where not all rows are listed,
// its key, in which the numbers along the other axes have theirs.

// keyBits is the number of bits of a key.
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
		if v < g.lo[i] { // few are outside, so these are guessed right
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

// slowKey returns the key of a row.
func (g *grid) slowKey(a, b int64) uint64 { return uint64(a)<<g.midBits | uint64(b) }
