package tree

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// Nearest finds the k nearest neighbours of every point, of which there are more than k.
// Nearer neighbours come first; at the same distance by rows.Dist2, neighbours with lower
// given rows come first. Nearest does not use the radius of the request. Equal points are
// at distance 0 and count like any others.
func Nearest(ctx context.Context, k int, req *rows.Request) (*rows.Neighbours, error) {
	return nearest(ctx, k, req, false)
}

// NearestByRow is Nearest with places that are the given rows.
func NearestByRow(ctx context.Context, k int, req *rows.Request) (*rows.Neighbours, error) {
	return nearest(ctx, k, req, true)
}

func nearest(ctx context.Context, k int, req *rows.Request, byRow bool) (*rows.Neighbours, error) {
	p := req.Points
	order := make([]uint32, p.N)
	for i := range order {
		order[i] = uint32(i)
	}
	t, err := build(ctx, p, order, req.Workers)
	if err != nil {
		return nil, err
	}
	out := &rows.Neighbours{K: k, Place: make([]uint32, p.N*k), Dist2: make([]float64, p.N*k), Distance: p.Dist2}
	if !byRow {
		out.Order = t.order
		out.Distance = func(i, j int) float64 { return rows.Dist2(t.row(i), t.row(j)) }
	}
	mem.Huge(out.Place)
	mem.Huge(out.Dist2)
	axis, err := t.axes(ctx, req.Workers)
	if err != nil {
		return nil, err
	}
	leaves := 1 << t.levels
	pieces := par.Blocks(leaves, leavesPerPiece)
	progress := req.Stage("find nearest neighbours", pieces)
	groups := make([]*group, req.Workers.Count())
	err = req.Workers.Do(ctx, pieces, par.Func(func(worker, piece int) {
		if groups[worker] == nil {
			groups[worker] = newGroup(t, axis, out, byRow, req.Kernels)
		}
		lo, hi := par.Block(piece, leaves, leavesPerPiece)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			groups[worker].search(leaves + i)
		}
		progress.Add()
	}))
	if err == nil {
		err = ctx.Err() // a piece may have been left half done
	}
	return out, err
}

const leavesPerPiece = 16

// axes returns the coordinates of all places, one row an axis.
func (t *tree) axes(ctx context.Context, workers *par.Workers) (simd.Rows[float32], error) {
	n, d := len(t.order), t.points.D
	axis := make([]float32, n*d+simd.CoordinatePad)
	const placesPerPiece = 4096
	err := workers.Do(ctx, par.Blocks(n, placesPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, n, placesPerPiece)
		for c := range d {
			for i := lo; i < hi; i++ {
				axis[c*n+i] = t.at[i*d+c]
			}
		}
	}))
	return simd.RowsOf(axis, n), err
}

// Bytes is what a search of n points in d dimensions takes beside the neighbours: the
// order and the coordinates of the places, these once more with keys while the tree is
// built, the boxes and rows of the nodes, and what every search keeps of a row.
func Bytes(n, d int) int64 {
	nodes := 4*int64(n)/leafPoints + 4
	return int64(n)*int64(rows.RowBytes+2*(4+4*d)+8) + nodes*int64(2*4*d+4)
}
