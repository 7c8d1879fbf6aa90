package cells

import (
	"context"

	"github.com/seed-64e14a55/privatemail/par"
)

// boxes are bounding boxes of the clusters of a cell list, in all dimensions.
// Those farther apart than the radius are passed over, which prunes the axes
// without a grid and cells that hold many points.
type boxes struct {
	d      int
	lo, hi []float32 // of each cluster
	of     []uint32  // the cluster that holds the first point of each cell, and the end
}

// prunes tells whether boxes would: where the grid has all axes and clusters are whole
// cells, it has done what they could.
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

func newBoxes(ctx context.Context, cl *List, workers *par.Workers) (*boxes, error) {
	clusters, d := len(cl.First)-1, cl.D
	b := &boxes{d: d, lo: make([]float32, clusters*d), hi: make([]float32, clusters*d), of: make([]uint32, len(cl.start))}
	const perPiece = 4096
	return b, workers.Do(ctx, par.Blocks(len(cl.start), perPiece), par.Func(func(_, piece int) {
		from, to := par.Block(piece, len(cl.start), perPiece)
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

// around sets the box of a cluster.
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

// distance2 is at most the squared distance, as simd.FindNear computes it, of any
// point of cluster i from any of cluster j: rounding is monotone, so the same
// operations on smaller differences give a smaller or equal result.
func (b *boxes) distance2(i, j int) float64 {
	sum := 0.0
	d := b.d
	alo, ahi, blo, bhi := b.lo[i*d:][:d], b.hi[i*d:][:d], b.lo[j*d:][:d], b.hi[j*d:][:d]
	for a := range alo {
		if gap := max(float64(blo[a])-float64(ahi[a]), float64(alo[a])-float64(bhi[a])); gap > 0 {
			sum += float64(gap * gap)
		}
	}
	return sum
}
