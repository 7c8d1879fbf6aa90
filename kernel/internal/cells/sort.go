package cells

import (
	"context"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/radix"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// keysAtOnce is how many keys are made at once: they stay in the first-level cache.
const keysAtOnce = 1 << 10

// countCells orders the points by cell where all cells are listed. Before a point come the
// points of the cells before its own, and the points of its own cell that are given
// earlier. Each worker counts and places the points of one piece. A rank places the points of
// its own cells alone.
func (cl *List) countCells(ctx context.Context, p *rows.Points, workers *par.Workers, ranks *par.Ranks) error {
	cells := int(cl.cells)
	// No more counters than cellsPerPoint for every point.
	pieces := min(workers.Count(), cellsPerPoint*p.N/cells)
	keys, next := make([]uint32, p.N), make([]uint32, pieces*cells)
	if err := shareKeys(ctx, cl, keys, p, workers, ranks); err != nil {
		return err
	}
	cl.Order, cl.start = make([]uint32, p.N), make([]uint32, cells+1)
	piece := func(i int) (lo, hi int, counts []uint32) {
		return split.Part(p.N, i, pieces), split.Part(p.N, i+1, pieces), next[i*cells:][:cells]
	}
	if err := workers.Do(ctx, pieces, par.Func(func(_, i int) {
		lo, hi, counts := piece(i)
		for ; lo < hi; lo += keysAtOnce {
			some := keys[lo:min(lo+keysAtOnce, hi)]
			if ranks.Alone() {
				addKeys(&cl.grid, some, p, lo)
			}
			for _, key := range some {
				counts[key]++
			}
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
	if ranks.Alone() {
		return workers.Do(ctx, pieces, par.Func(func(_, i int) {
			lo, hi, place := piece(i)
			for i, key := range keys[lo:hi] {
				at := &place[key]
				cl.Order[*at] = uint32(lo + i)
				*at++
			}
		}))
	}
	return workers.Do(ctx, pieces, par.Func(func(_, i int) {
		lo, hi, place := piece(i)
		cl.placeOwn(keys, lo, hi, place, ranks)
	}))
}

// sortByCell orders the points by the keys of their cells, and lists the occupied cells,
// where not all cells are listed.
func sortByCell[K uint32 | uint64](ctx context.Context, cl *List, p *rows.Points, workers *par.Workers, ranks *par.Ranks) error {
	keys := make([]K, p.N)
	if err := shareKeys(ctx, cl, keys, p, workers, ranks); err != nil {
		return err
	}
	cl.Order = make([]uint32, p.N)
	const pointsPerPiece = 1 << 14
	if err := workers.Do(ctx, split.Blocks(p.N, pointsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, p.N, pointsPerPiece)
		for i := lo; i < hi; i++ {
			cl.Order[i] = uint32(i)
		}
		for ; lo < hi && ranks.Alone(); lo += keysAtOnce {
			addKeys(&cl.grid, keys[lo:min(lo+keysAtOnce, hi)], p, lo)
		}
	})); err != nil {
		return err
	}
	keys, err := radix.Sort(ctx, keys, cl.Order, cl.keyBits(), workers)
	if err != nil {
		return err
	}
	listOccupied(cl, keys)
	return nil
}

// listOccupied finds the occupied cells and their rows in the sorted keys of all points.
func listOccupied[K uint32 | uint64](cl *List, keys []K) {
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

// sortWithinCells fetches the coordinates in sorted order. It orders the points of each
// cell so that equal points are next to each other and, in large cells, near points are
// close to each other. It reports whether any points are equal. Each rank does its own cells.
func (cl *List) sortWithinCells(ctx context.Context, p *rows.Points, workers *par.Workers, ranks *par.Ranks) (equal bool, err error) {
	d := cl.D
	cl.Axis = make([]float32, p.N*d+simd.CoordinatePad)
	mem.Huge(cl.Axis)
	const cellsPerPiece = 4096
	var found atomic.Bool
	shares := cl.cellShares(ranks)
	own, end := shares[ranks.Rank()], shares[ranks.Rank()+1]
	err = workers.Do(ctx, split.Blocks(end-own, cellsPerPiece), par.Func(func(_, piece int) {
		from, to := split.Block(piece, end-own, cellsPerPiece)
		from, to = from+own, to+own
		cl.fetch(p, int(cl.start[from]), int(cl.start[to]))
		for cell := from; cell < to; cell++ {
			lo, hi := int(cl.start[cell]), int(cl.start[cell+1])
			switch {
			case hi-lo > ClusterPoints && (hi-lo > quarterPoints || d > maxAxes):
				if cl.alongCurve(lo, hi) {
					found.Store(true)
				}
			case hi-lo > ClusterPoints:
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
	if err != nil {
		return false, err
	}
	return cl.gatherSorted(ctx, ranks, shares, found.Load())
}

// fetch sets the coordinates of the sorted points from lo to hi-1. The rows they come from
// are anywhere in memory, so each is looked up once.
func (cl *List) fetch(p *rows.Points, lo, hi int) {
	data, stride, order := p.Single.Data, p.Single.Stride, cl.Order[lo:hi]
	axis := func(a int) []float32 { return cl.Axis[a*p.N+lo:][:len(order)] }
	switch cl.D {
	case 2:
		x, y := axis(0), axis(1)
		for i, row := range order {
			v := data[int(row)*stride:][:2]
			x[i], y[i] = v[0], v[1]
		}
	case 3:
		x, y, z := axis(0), axis(1), axis(2)
		for i, row := range order {
			v := data[int(row)*stride:][:3]
			x[i], y[i], z[i] = v[0], v[1], v[2]
		}
	default:
		for a := range cl.D {
			out := axis(a)
			for i, row := range order {
				out[i] = data[int(row)*stride+a]
			}
		}
	}
}

// gatherEqual moves equal points among the points from lo to hi-1 together and tells
// whether there are any. Cells hold few points, and equal points are rare.
func (cl *List) gatherEqual(lo, hi int) (equal bool) {
	x := cl.Axis[lo:hi]
	for i, v := range x {
		for j := i + 1; j < len(x); j++ {
			if x[j] != v || cl.compare(lo+i, lo+j) != 0 {
				continue
			}
			equal = true
			// Equal points go behind point i, in the order they have.
			if k := lo + i + 1; k < lo+j {
				cl.rotate(k, lo+j)
			}
			break
		}
	}
	return equal
}

// rotate moves point j to place i < j, and the points from i to j-1 one place on.
func (cl *List) rotate(i, j int) {
	order := cl.Order[j]
	copy(cl.Order[i+1:j+1], cl.Order[i:j])
	cl.Order[i] = order
	for a := range cl.D {
		axis := cl.Axis[a*cl.N:][:cl.N]
		v := axis[j]
		copy(axis[i+1:j+1], axis[i:j])
		axis[i] = v
	}
}

const (
	// quarterPoints is the most points of a cell that is ordered by quarters.
	quarterPoints = 512
	// quarterCodes is the number of codes that quarters along all axes make.
	quarterCodes = 1 << (2 * maxAxes)
)

// byQuarters orders the points from lo to hi-1 by quarters of their extent along each
// axis, in the order of a Morton curve. It takes a fraction of the time of a sort along
// the curve and makes clusters nearly as small. It reports whether any points are equal.
func (cl *List) byQuarters(lo, hi int) (equal bool) {
	var code [quarterPoints]uint8
	cl.quarters(&code, lo, hi)
	var start [quarterCodes + 1]int
	for _, c := range code[:hi-lo] {
		start[c+1]++
	}
	for c := range quarterCodes {
		start[c+1] += start[c]
	}
	next := start
	var place [quarterPoints]uint16
	for i, c := range code[:hi-lo] {
		place[i] = uint16(next[c])
		next[c]++
	}
	cl.moveTo(&place, lo, hi)
	for c := range quarterCodes {
		if start[c+1]-start[c] > 1 && cl.gatherEqual(lo+start[c], lo+start[c+1]) {
			equal = true
		}
	}
	return equal
}

// quarters sets the codes of the points from lo to hi-1: the number of the quarter of
// their extent along each axis, with the high bits of all axes first.
func (cl *List) quarters(code *[quarterPoints]uint8, lo, hi int) {
	for a := range cl.D {
		x := cl.Axis[a*cl.N+lo:][:hi-lo]
		low, high := slices.Min(x), slices.Max(x)
		if low == high {
			continue
		}
		scale := 4 / (float64(high) - float64(low))
		for i, v := range x {
			quarter := min(uint8((float64(v)-float64(low))*scale), 3)
			code[i] |= quarter>>1<<(cl.D+a) | quarter&1<<a
		}
	}
}

// moveTo moves point lo+i to lo+place[i], for all points from lo to hi-1.
func (cl *List) moveTo(place *[quarterPoints]uint16, lo, hi int) {
	m := hi - lo
	var oldOrder [quarterPoints]uint32
	copy(oldOrder[:], cl.Order[lo:hi])
	for i, at := range place[:m] {
		cl.Order[lo+int(at)] = oldOrder[i]
	}
	var old [quarterPoints]float32
	for a := range cl.D {
		x := cl.Axis[a*cl.N+lo:][:m]
		copy(old[:], x)
		for i, at := range place[:m] {
			x[at] = old[i]
		}
	}
}

// compare compares the sorted points i and j by their coordinates, as slices.Compare does.
func (cl *List) compare(i, j int) int {
	for a := range cl.D {
		if x, y := cl.Axis[a*cl.N+i], cl.Axis[a*cl.N+j]; x < y {
			return -1
		} else if x > y {
			return 1
		}
	}
	return 0
}

// alongCurve orders the points from lo to hi-1 along a Morton curve. It reports whether any
// points are equal.
func (cl *List) alongCurve(lo, hi int) (equal bool) {
	d, m := cl.D, hi-lo
	coords := blas32.General{Rows: m, Cols: d, Stride: d, Data: make([]float32, m*d)}
	for i := range m {
		for a := range d {
			coords.Data[i*d+a] = cl.Axis[a*cl.N+lo+i]
		}
	}
	order, err := mortonOrder(coords)
	if err != nil {
		panic(err) // the points have been checked
	}
	members := slices.Clone(cl.Order[lo:hi])
	for i, from := range order {
		cl.Order[lo+i] = members[from]
		for a := range d {
			cl.Axis[a*cl.N+lo+i] = coords.Data[int(from)*d+a]
		}
		equal = equal || i > 0 && cl.compare(lo+i-1, lo+i) == 0
	}
	return equal
}

// collapse replaces each run of equal points by one point. Equal points share a cell.
func (cl *List) collapse() {
	cl.Group = make([]uint32, 0, cl.N+1)
	for cell := range len(cl.start) - 1 {
		from, to := cl.start[cell], cl.start[cell+1]
		cl.start[cell] = uint32(len(cl.Group))
		for i := from; i < to; i++ {
			if i == from || cl.compare(int(i-1), int(i)) != 0 {
				cl.Group = append(cl.Group, i)
			}
		}
	}
	distinct := len(cl.Group)
	cl.start[len(cl.start)-1] = uint32(distinct)
	axis := make([]float32, distinct*cl.D+simd.CoordinatePad)
	for a := range cl.D {
		for g, i := range cl.Group {
			axis[a*distinct+g] = cl.Axis[a*cl.N+int(i)]
		}
	}
	cl.Axis, cl.Group, cl.N = axis, append(cl.Group, uint32(cl.N)), distinct
}
