package tree

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Nearest finds the k nearest neighbours of every point, of which there are more than k.
// Nearer neighbours come first; at the same distance by rows.Dist2, neighbours with lower
// given rows come first. Nearest does not use the radius of the request. Equal points are
// at distance 0 and count like any others.
func Nearest(ctx context.Context, k int, req *rows.Request) (*rows.Neighbours, error) {
	return nearest(ctx, k, req, false)
}

// NearestByRow is Nearest with places that are the given rows. Ranks do not share it: the rows
// of a rank would be anywhere.
func NearestByRow(ctx context.Context, k int, req *rows.Request) (*rows.Neighbours, error) {
	whole := *req
	whole.Whole = true
	req = &whole
	return nearest(ctx, k, req, true)
}

func nearest(ctx context.Context, k int, req *rows.Request, byRow bool) (*rows.Neighbours, error) {
	p := req.Points
	order := make([]uint32, p.N)
	for i := range order {
		order[i] = uint32(i)
	}
	t, err := build(ctx, p, order, simd.BlockPoints, req.Workers)
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
	b, err := newBlocks(ctx, t, req.Workers)
	if err != nil {
		return nil, err
	}
	first := 1 << max(0, t.levels-groupLevels) // node of a group, as many as there are groups
	ranks := req.Sharing()
	pieces := split.Blocks(first, groupsPerPiece)
	from, to := ranks.Part(pieces)
	progress := req.Stage("find nearest neighbours", to-from)
	groups := make([]*group, req.Workers.Count())
	err = req.Workers.Do(ctx, to-from, par.Func(func(worker, piece int) {
		if groups[worker] == nil {
			groups[worker] = newGroup(b, out, byRow, req.Kernels)
		}
		lo, hi := split.Block(from+piece, first, groupsPerPiece)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			groups[worker].search(first + i)
		}
		progress.Add()
	}))
	if err == nil {
		err = ctx.Err() // a piece may have been left half done
	}
	if err != nil || ranks.Alone() {
		return out, err
	}
	// A rank has found the neighbours of places next to each other.
	bounds := ranks.Bounds(pieces)
	for r, piece := range bounds {
		node := min(piece*groupsPerPiece, first)
		bounds[r] = p.N * k
		if node < first {
			lo, _ := t.span(first + node)
			bounds[r] = lo * k
		}
	}
	if err := exchange.Gather(ctx, ranks, out.Place, bounds); err != nil {
		return nil, err
	}
	return out, exchange.Gather(ctx, ranks, out.Dist2, bounds)
}

const groupsPerPiece = 16

// Bytes is what a search for k neighbours of n points in d dimensions takes in addition to the
// neighbours: what the tree takes, its blocks, which may be half empty, and the groups of
// the workers that have a piece.
func Bytes(n, d, k, workers int) int64 {
	nodes := nodeBytes(n, d, simd.BlockPoints)
	slots := 2*int64(n) + simd.BlockPoints
	groups := min(int64(workers), int64(n)/(groupsPerPiece*groupPoints/2)+1)
	return max(buildBytes(n, d), int64(n)*int64(rows.RowBytes+4+4*d)+slots*int64(4*d+4+d)+groups*groupBytes(d, k)) + nodes
}

// buildBytes is what the order and the coordinates of the places take, these once more with
// keys while the tree is built, and what every search keeps of a row.
func buildBytes(n, d int) int64 { return int64(n) * int64(rows.RowBytes+2*(4+4*d)+8) }

// nodeBytes is what the boxes and rows of the nodes take.
func nodeBytes(n, d, most int) int64 { return (4*int64(n)/int64(most) + 4) * int64(2*4*d+4) }
