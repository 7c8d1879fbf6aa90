package cells

import (
	"math/bits"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

const (
	// maxAxes is the largest number of axes of a grid.
	maxAxes = 3
	// All cells are listed where there are at most cellsPerPoint of them for a point, and
	// at most mostCells, whose numbers have 32 bits.
	cellsPerPoint = 4
	mostCells     = 1 << 32
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

// addKeys adds to keys the keys of the cells of as many points from first on: where keys are
// zero, it sets them. One axis after the other, all it needs of the grid is in registers.
func addKeys[K uint32 | uint64](g *grid, keys []K, p *rows.Points, first int) {
	stride := p.Single.Stride
	for i, a := range g.axes {
		lo, hi, perSide, last, step := g.lo[i], g.hi[i], g.perSide, g.size[i]-1, g.step[i]
		data, at := p.Single.Data[first*stride+a:], 0
		for k := range keys {
			v := float64(data[at])
			at += stride
			if v < lo { // few points are outside, so the processor predicts these branches
				v = lo
			} else if v > hi {
				v = hi
			}
			keys[k] += K(min(int64((v-lo)*perSide), last) * step)
		}
	}
}

// allCells reports whether all cells are listed.
func (g *grid) allCells() bool { return g.cells > 0 }

// slowKey returns the key of the row with the numbers a and b along the slower two axes,
// where not all rows are listed.
func (g *grid) slowKey(a, b int64) uint64 { return uint64(a)<<g.midBits | uint64(b) }
