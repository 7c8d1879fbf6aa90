package cells

import (
	"math"
	"slices"
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// sideSafety makes cells a little larger than radius/reach, by more than the rounding of a
// cell number: the computed cells of points within the radius are never more than reach
// cells apart.
const sideSafety = 1 + 0x1p-18

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
			sample[i] = float64(p.Single.Row(split.Part(p.N, i, len(sample)))[a])
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
