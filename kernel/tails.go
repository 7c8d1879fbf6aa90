package kernel

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// tails bounds, for every distinct point, the weight of all points farther than
// the radius r from it, given the graph of those that are not.
//
// Points in cells up to twice the radius away are taken at the distance of
// their cell, r at least; all others at twice the radius. These weights, which
// are the same for all points of a cell, include w(r) for the point itself and
// each of its neighbours, which is subtracted.
func (cl *cellList) tails(ctx context.Context, b Bandwidth, r float64, near *sparse.CSR, set *par.Set) ([]float64, error) {
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
	// Given points before each cell.
	before := make([]uint32, len(cl.keys)+1)
	for cell, c := range cl.cluster {
		before[cell] = cl.first[c]
		if cl.group != nil {
			before[cell] = cl.group[cl.first[c]]
		}
	}
	within := func(i int) float64 { // the radius of point i, itself included
		ind, _ := near.Row(i)
		count := len(ind) + 1
		if cl.group != nil {
			count = cl.multiplicity(i)
			for _, j := range ind {
				count += cl.multiplicity(int(j))
			}
		}
		return float64(count)
	}
	total := uint32(len(cl.order))
	atRadius := b.Weight(r * r)
	tails := make([]float64, cl.n)
	const cellsPerPiece = 512
	err := set.Do(ctx, par.Blocks(len(cl.keys), cellsPerPiece), par.Func(func(_, piece int) {
		around := newStencil(cl, reach)
		from, to := par.Block(piece, len(cl.keys), cellsPerPiece)
		for cell := from; cell < to; cell++ {
			sum, seen := 0.0, uint32(0)
			own := cl.keys[cell]
			around.around(cell, func(a, e int, da, db int64) {
				table := weight[(abs(da)*width+abs(db))*width:][:width]
				// Keys along the row differ by the number of cells between.
				shift := (da*cl.stride(0) + db*cl.stride(1))
				for other := a; other < e; other++ {
					dc := int64(cl.keys[other]-own) - shift
					sum += float64(before[other+1]-before[other]) * table[abs(dc)]
				}
				seen += before[e] - before[a]
			})
			sum += float64(total-seen) * rest
			for i := cl.first[cl.cluster[cell]]; i < cl.first[cl.cluster[cell+1]]; i++ {
				tails[i] = max(sum*(1+1e-9)-atRadius*within(int(i)), 0)
			}
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
