package cells

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// NewList sorts the points for searches within the radius. Ranks share the work, and each gets
// the whole list.
func NewList(ctx context.Context, p *rows.Points, radius float64, workers *par.Workers, ranks *par.Ranks) (*List, error) {
	cl := &List{D: p.D, N: p.N, Radius2: rows.RadiusSquared(radius), grid: newGrid(p, radius)}
	var err error
	switch {
	case cl.allCells():
		err = cl.countCells(ctx, p, workers, ranks)
	case cl.keyBits() <= 32:
		err = sortByCell[uint32](ctx, cl, p, workers, ranks)
	default:
		err = sortByCell[uint64](ctx, cl, p, workers, ranks)
	}
	if err != nil {
		return nil, err
	}
	equal, err := cl.sortWithinCells(ctx, p, workers, ranks)
	if err != nil {
		return nil, err
	}
	if equal {
		cl.collapse()
	}
	cl.makeClusters()
	if cl.prunes() {
		cl.boxes, err = newBoxes(ctx, cl, workers)
	}
	return cl, err
}

// makeClusters splits the points into clusters. A cluster is a run of cells of a row that
// are as close as the radius, or a part of a cell that holds many points.
func (cl *List) makeClusters() {
	for row := range cl.rows() {
		// The points of the cluster at hand, and the number of its first cell.
		points, begin := uint32(ClusterPoints), uint32(0)
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
			for ; from < to; from += ClusterPoints {
				cl.First = append(cl.First, from)
			}
		}
	}
	cl.First = append(cl.First, uint32(cl.N))
}

// prunes reports whether boxes would prune. Where the grid has all axes and clusters are
// whole cells, the grid has pruned all that boxes could.
func (cl *List) prunes() bool {
	if cl.D > len(cl.axes) {
		return true
	}
	for cell := range len(cl.start) - 1 {
		if cl.start[cell+1]-cl.start[cell] > ClusterPoints {
			return true
		}
	}
	return false
}

// newBoxes returns the boxes of the clusters of cl.
func newBoxes(ctx context.Context, cl *List, workers *par.Workers) (*boxes, error) {
	clusters, d := len(cl.First)-1, cl.D
	b := &boxes{d: d, lo: make([]float32, clusters*d), hi: make([]float32, clusters*d), of: make([]uint32, len(cl.start))}
	const perPiece = 4096
	return b, workers.Do(ctx, split.Blocks(len(cl.start), perPiece), par.Func(func(_, piece int) {
		from, to := split.Block(piece, len(cl.start), perPiece)
		c := cl.ClusterOf(cl.start[from])
		for cell := from; cell < to; cell++ {
			for c < clusters && cl.First[c+1] <= cl.start[cell] {
				c++
			}
			b.of[cell] = uint32(c)
			if cell < len(cl.start)-1 {
				// The clusters that begin in this cell.
				for k := c; k < clusters && cl.First[k] < cl.start[cell+1]; k++ {
					if cl.First[k] >= cl.start[cell] {
						b.around(cl, k)
					}
				}
			}
		}
	}))
}

// around sets the box of cluster c.
func (b *boxes) around(cl *List, c int) {
	lo, hi := b.lo[c*b.d:][:b.d], b.hi[c*b.d:][:b.d]
	for a := range lo {
		points := cl.Axis[a*cl.N:][cl.First[c]:cl.First[c+1]]
		lo[a], hi[a] = points[0], points[0]
		for _, v := range points[1:] {
			lo[a], hi[a] = min(lo[a], v), max(hi[a], v)
		}
	}
}
