package cells

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Tails bounds, for every distinct point, the weight of all points farther than the radius
// r from it. counts is the number of neighbours of each point, and near returns the
// neighbours of a point.
func (cl *List) Tails(ctx context.Context, q *rows.Request, counts []uint32, near func(i int) []uint32) ([]float64, error) {
	doubles, err := cl.Doubles(ctx, near)
	if err != nil {
		return nil, err
	}
	return cl.tailsOf(ctx, q, counts, doubles, 0, cl.N)
}

// tailsOf is Tails for the points first to last-1.
//
// Points in cells up to twice the radius away are taken at the distance of their cell, r
// at least; all other points are taken at twice the radius. The sum of these weights is
// the same for all points of a cell, also of one that two ranks have points of. It includes w(r) for the point itself and for each of
// its neighbours, which tailsOf subtracts.
func (cl *List) tailsOf(ctx context.Context, q *rows.Request, counts []uint32, doubles []uint64, first, last int) ([]float64, error) {
	r := q.Radius
	bands, rest := cl.tailBands(q)
	before := cl.start // given points before each cell
	if cl.Group != nil {
		before = make([]uint32, len(cl.start))
		for cell, i := range cl.start {
			before[cell] = cl.Group[i]
		}
	}
	total := float64(len(cl.Order))
	atRadius := q.Weight(r * r)
	tails := make([]float64, last-first)
	mem.Huge(tails)
	if first == last {
		return tails, nil
	}
	const cellsPerPiece = 4096
	firstCell, endCell := cl.cellOf(uint32(first)), cl.cellOf(uint32(last-1))+1
	return tails, q.Workers.Do(ctx, split.Blocks(endCell-firstCell, cellsPerPiece), par.Func(func(_, piece int) {
		sweep, sums := newSweep(cl, q.Kernels, bands), make([]float64, cellsPerPiece)
		from, to := split.Block(piece, endCell-firstCell, cellsPerPiece)
		from, to = from+firstCell, to+firstCell
		for row := cl.rowOf(from); from < to; row++ {
			_, end := cl.cellsOf(row)
			end = min(end, to)
			clear(sums[:end-from])
			if !cl.allIsolated(from, end, counts) { // points without neighbours have no finite bound: any tail will do
				sweep.enter(row, cl.number(from, row))
				sweep.weigh(sums[:end-from], from, before, counts)
			}
			for cell := from; cell < end; cell++ {
				sum := (total*rest + sums[cell-from]) * (1 + 1e-9)
				for i := max(cl.start[cell], uint32(first)); i < min(cl.start[cell+1], uint32(last)); i++ {
					within := uint64(counts[i]) + 1 // points within the radius, the point itself included
					if doubles != nil {
						within += doubles[i]
					}
					if tail := sum - atRadius*float64(int64(within)); tail > 0 {
						tails[int(i)-first] = tail
					}
				}
			}
			from = end
		}
	}))
}

// Doubles returns, for each distinct point, how many more given points than distinct
// points there are among its neighbours, which near returns, and at its own place; nil
// when all points are distinct. Mostly few places hold more than one point, and the
// points of such places are added to their neighbours.
func (cl *List) Doubles(ctx context.Context, near func(i int) []uint32) ([]uint64, error) {
	if cl.Group == nil {
		return nil, nil
	}
	out := make([]uint64, cl.N)
	for i := range cl.N {
		more := uint64(cl.multiplicity(i) - 1)
		if more == 0 {
			continue
		}
		if err := ctx.Err(); err != nil { // a row may have a million candidates
			return nil, err
		}
		out[i] += more
		for _, j := range near(i) {
			out[j] += more
		}
	}
	return out, nil
}

// weigh adds to sums[c], for cell first+c of the row entered last, the number of points in
// each window around the cell times the weight of the window. before holds the number of
// points before each cell. Cells all of whose points are isolated may be left out.
func (s *Sweep) weigh(sums []float64, first int, before, counts []uint32) {
	cl := s.cl
	if cl.allCells() {
		size := int(cl.size[len(cl.axes)-1])
		offset := first - s.row*size
		for i := range s.windows {
			w := &s.windows[i]
			half, weight, row := w.Half, s.weights[i], before[w.End-size:][:size+1]
			// Windows are cut off at the ends of the row, but most windows are within it.
			inFrom := min(max(half-offset, 0), len(sums))
			inTo := max(min(size-half-offset, len(sums)), inFrom)
			add := func(from, to int) {
				for c := from; c < to; c++ {
					from, to := max(offset+c-half, 0), min(offset+c+half+1, size)
					sums[c] += float64(row[to]-row[from]) * weight
				}
			}
			add(0, inFrom)
			if inner := sums[inFrom:inTo]; len(inner) > 0 {
				from, to := row[offset+inFrom-half:][:len(inner)], row[offset+inFrom+half+1:][:len(inner)]
				for c := range inner {
					inner[c] += float64(int64(to[c]-from[c])) * weight
				}
			}
			add(inTo, len(sums))
		}
		return
	}
	for c := range sums {
		if cl.allIsolated(first+c, first+c+1, counts) {
			continue
		}
		number := cl.fast[first+c]
		s.around(number, number)
		for i := range s.windows {
			w := &s.windows[i]
			if w.From == w.To { // as most windows are where cells are few
				continue
			}
			sums[c] += float64(before[w.To]-before[w.From]) * s.weights[i]
		}
	}
}

// allIsolated reports whether no point of the cells from to to-1 has a neighbour or an
// equal.
func (cl *List) allIsolated(from, to int, counts []uint32) bool {
	for i := int(cl.start[from]); i < int(cl.start[to]); i++ {
		if counts[i] > 0 || cl.multiplicity(i) > 1 {
			return false
		}
	}
	return true
}

// tailBands returns bands around a cell, and the weight rest, with which every point is
// counted. The weight of a band is by how much the weight of its points may exceed what
// rest and the wider band of the same row count already. Two bands in a row are enough:
// the cells that may be as near as the radius, and all cells within twice the radius.
// Beyond the first band the weight falls by an order of magnitude.
func (cl *List) tailBands(q *rows.Request) (out bands, rest float64) {
	// The distance between points of cells with numbers so far apart, rounded down: cells
	// are half open and their numbers are rounded.
	apart := func(cells int64) float64 { return float64(max(cells-1, 0)) * cl.side / sideSafety / sideSafety }
	reach := 2 * cl.reach
	r := q.Radius
	beyond := max(r, apart(reach+1))
	rest = q.Weight(beyond * beyond)
	return cl.newBands(2, func(da, db int64) (out []band) {
		weight := func(dc int64) float64 {
			d2 := apart(da)*apart(da) + apart(db)*apart(db) + apart(dc)*apart(dc)
			return q.Weight(max(d2, r*r))
		}
		// The inner band ends where the weight first falls.
		inner := int64(0)
		for inner < reach && weight(inner+1) == weight(0) {
			inner++
		}
		outer := 0.0
		if inner < reach {
			outer = max(weight(inner+1)-rest, 0)
			out = append(out, band{int(reach), outer})
		}
		return append(out, band{int(inner), max(weight(0)-rest, 0) - outer})
	}), rest
}

// Far returns a function for one goroutine. It takes the radius r of a search and the
// distance of two points, and returns a lower bound of the distance at which the tails of
// the search count one of them for the other.
func Far(p *rows.Points) func(r, distance float64) float64 {
	if p.D > maxAxes {
		return func(r, _ float64) float64 { return r } // axes without a grid bound no distance
	}
	at, side := -1.0, 0.0 // the radius of the last call, and the side of its cells
	return func(r, distance float64) float64 {
		if r != at {
			at, side = r, newGrid(p, r).side
		}
		return min(distance-2*side*math.Sqrt(float64(p.D)), 2*r)
	}
}
