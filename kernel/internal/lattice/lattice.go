package lattice

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/radix"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// MaxAxes is the largest number of dimensions a lattice has cells in.
const MaxAxes = 4

// A Lattice splits the bounding box of the points into equal cells. Lengths are in
// units of sigma, so that along an axis the kernel is exp(-x^2/2).
type Lattice struct {
	D       int              // axes
	lo      [MaxAxes]float64 // lower corner of the box, in the given coordinates
	perCell [MaxAxes]float64 // cells in a unit of the given coordinates
	extent  [MaxAxes]float64 // of the box
	Width   [MaxAxes]float64 // of a cell
	size    [MaxAxes]int     // cells along each axis
	Reach   [MaxAxes]int     // how many cells a transfer goes along each axis
	Radius  float64          // points farther apart than this along an axis may have no transfer; +Inf when all points have
	Cells   float64          // number of cells of the whole box
}

// New returns the lattice with cells of at most the given width. ok is false where the
// numbers of cells would be too large for a key.
func New(p *rows.Points, sigma, width float64) (l Lattice, ok bool) {
	l = Lattice{D: p.D, Cells: 1, Radius: math.Inf(1)}
	most := math.Exp2(float64(min(60/p.D, 30)))
	for a := range p.D {
		span := p.Hi[a] - p.Lo[a]
		l.lo[a], l.extent[a], l.size[a] = p.Lo[a], span/sigma, 1
		if l.extent[a] > 0 {
			size := math.Ceil(l.extent[a] / width)
			if !(size <= most) {
				return l, false
			}
			l.size[a] = max(int(size), 1)
			l.Width[a], l.perCell[a] = l.extent[a]/float64(l.size[a]), float64(l.size[a])/span
		}
		if math.IsInf(l.perCell[a], 1) || math.IsInf(span, 1) {
			return l, false
		}
		l.Cells *= float64(l.size[a])
	}
	return l, true
}

// SetReach makes transfers go at least as far as radius along each axis.
func (l *Lattice) SetReach(radius float64) {
	l.Radius = math.Inf(1)
	for a := range l.D {
		l.Reach[a] = l.size[a] - 1
		if l.Reach[a] == 0 {
			continue
		}
		if far := math.Ceil(radius / l.Width[a]); far < float64(l.Reach[a]) {
			l.Reach[a] = int(far)
			l.Radius = min(l.Radius, far*l.Width[a])
		}
	}
}

// Locate returns the cell of a coordinate along axis a, and the place of the coordinate in
// the cell, from -1 to 1.
func (l *Lattice) Locate(a int, v float64) (cell int, place float64) {
	at := (v - l.lo[a]) * l.perCell[a]
	cell = min(int(at), l.size[a]-1)
	if place = 2*(at-float64(cell)) - 1; place > 1 {
		place = 1
	}
	return cell, place
}

// PositionError bounds how far off the difference of two located coordinates is.
func (l *Lattice) PositionError() float64 {
	return 0x1p-49 * (slices.Max(l.extent[:]) + slices.Max(l.Width[:]))
}

// keyBits returns the number of bits of the key of a cell. It does not use l.Cells, which
// may be rounded.
func (l *Lattice) keyBits() int {
	cells := uint64(1)
	for _, size := range l.size[:l.D] {
		cells *= uint64(size)
	}
	return bits.Len64(cells - 1)
}

// Coordinates returns the numbers along the axes of the cell with the given key.
func (l *Lattice) Coordinates(key uint64) (at [MaxAxes]int) {
	for a := l.D - 1; a >= 0; a-- {
		at[a] = int(key % uint64(l.size[a]))
		key /= uint64(l.size[a])
	}
	return at
}

// apart returns a lower bound of the distance along axis a of two points whose cells are k
// cells apart.
func (l *Lattice) apart(a, k int) float64 { return float64(max(max(k, -k)-1, 0)) * l.Width[a] }

// Between2 returns bounds of the squared distance of a point and the points of a cell.
// The point is at the given place of the cell with numbers at along the axes; cell is the
// numbers of the other cell.
func (l *Lattice) Between2(at [MaxAxes]int, place [MaxAxes]float64, cell [MaxAxes]int) (least, most float64) {
	blur := l.PositionError()
	for a, t := range place[:l.D] {
		k := float64(cell[a] - at[a])
		near, far := math.Abs(k-(1+t)/2), math.Abs(k+1-(1+t)/2)
		if near > far {
			near, far = far, near
		}
		if k == 0 {
			near = 0
		}
		near, far = max(near*l.Width[a]-blur, 0), far*l.Width[a]+blur
		least, most = least+near*near, most+far*far
	}
	return least, most
}

// Sorted is points sorted by the cells of a lattice. All cells are kept, or only the
// occupied cells, which hold a point.
type Sorted struct {
	Order []uint32 // given row of each sorted point
	Start []uint32 // first sorted point of each kept cell, and the end
	keys  []uint64 // keys of the kept cells, ascending; nil when all cells are kept
}

// Count returns the number of kept cells.
func (c *Sorted) Count() int { return len(c.Start) - 1 }

// Key returns the key of kept cell i.
func (c *Sorted) Key(i int) uint64 {
	if c.keys == nil {
		return uint64(i)
	}
	return c.keys[i]
}

// SortPoints sorts every skip-th point by cell. With all it keeps all cells, without only
// the occupied cells.
func (l *Lattice) SortPoints(ctx context.Context, p *rows.Points, skip int, all bool, workers *par.Workers) (*Sorted, error) {
	if l.Cells < 1<<32 {
		return sortLattice[uint32](ctx, l, p, skip, all, workers)
	}
	return sortLattice[uint64](ctx, l, p, skip, all, workers)
}

// sortLattice is SortPoints with keys of type K.
func sortLattice[K uint32 | uint64](ctx context.Context, l *Lattice, p *rows.Points, skip int, all bool, workers *par.Workers) (*Sorted, error) {
	keys, order, err := pointKeys[K](ctx, l, p, skip, workers)
	if err != nil {
		return nil, err
	}
	if keys, err = radix.Sort(ctx, keys, order, l.keyBits(), workers); err != nil {
		return nil, err
	}
	c := &Sorted{Order: order}
	if all {
		c.Start = startAll(keys, int(l.Cells))
	} else {
		c.keys, c.Start = startOccupied(keys)
	}
	return c, nil
}

// pointKeys returns the key of the cell of every skip-th point, and the rows of these
// points.
func pointKeys[K uint32 | uint64](ctx context.Context, l *Lattice, p *rows.Points, skip int, workers *par.Workers) (keys []K, order []uint32, err error) {
	n := split.Blocks(p.N, skip)
	keys, order = make([]K, n), make([]uint32, n)
	const pointsPerPiece = 1 << 12
	scratch := make([][pointsPerPiece]float64, workers.Count())
	err = workers.Do(ctx, split.Blocks(n, pointsPerPiece), par.Func(func(worker, piece int) {
		lo, hi := split.Block(piece, n, pointsPerPiece)
		for i := lo; i < hi; i++ {
			order[i] = uint32(i * skip)
		}
		column, keys := scratch[worker][:hi-lo], keys[lo:hi]
		for a := range l.D { // in the order of the axes, the last one fastest
			p.Column(column, order[lo:hi], a)
			for i, v := range column {
				cell, _ := l.Locate(a, v)
				keys[i] = keys[i]*K(l.size[a]) + K(cell)
			}
		}
	}))
	return keys, order, err
}

// startAll returns the first point of each of all cells, and the end, of points with
// sorted keys.
func startAll[K uint32 | uint64](keys []K, cells int) []uint32 {
	start := make([]uint32, cells+1)
	next := 0
	for i, key := range keys {
		for ; next <= int(key); next++ {
			start[next] = uint32(i)
		}
	}
	for ; next < len(start); next++ {
		start[next] = uint32(len(keys))
	}
	return start
}

// startOccupied returns the keys of the cells that hold a point, and the first point of
// each, and the end, of points with sorted keys.
func startOccupied[K uint32 | uint64](keys []K) (occupied []uint64, start []uint32) {
	for i, key := range keys {
		if i == 0 || key != keys[i-1] {
			occupied, start = append(occupied, uint64(key)), append(start, uint32(i))
		}
	}
	return occupied, append(start, uint32(len(keys)))
}

// Counts returns the number of points in each kept cell.
func (c *Sorted) Counts() []float64 {
	out := make([]float64, c.Count())
	for i := range out {
		out[i] = float64(c.Start[i+1] - c.Start[i])
	}
	return out
}
