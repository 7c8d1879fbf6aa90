package codes

import (
	"context"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Search finds the neighbours of all points with codes.
func Search(ctx context.Context, req *rows.Request) (*rows.Result, error) {
	p := req.Points
	held := Bytes(p.N, p.D, req.Workers.Count())
	if held > req.Memory {
		return nil, &rows.MemoryError{What: "search by codes", Need: held}
	}
	distinct, err := rows.FindDistinct(ctx, p, req.Workers)
	if err != nil {
		return nil, err
	}
	s := newSet(p, distinct.Rows)
	sv, err := takeSurvey(ctx, s.n, p.D, s.row, req.Radius, req)
	if err != nil {
		return nil, err
	}
	none, entry := req.StoredBytes(s.n)
	entry = rows.EntryBytes + 2*entry // of a pair: once in the half, twice in the whole
	left := req.Memory - held - none
	need := sv.found * float64(s.n) * float64(s.n-1) / 2 * float64(entry)
	if need > 4*float64(max(left, 0)) {
		return nil, rows.TooManyWeights(need + float64(held))
	}
	if err := s.prepare(ctx, sv, req.Radius, req); err != nil {
		return nil, err
	}
	s.rough = p.D > wideColumns && sv.found < roughShare*sv.near
	out := &rows.Result{Distance: s.distance}
	out.Order, out.Group = s.orders(distinct)
	pass, err := newFilterPass(ctx, s, out.Multiplicity, req)
	if err != nil {
		return nil, err
	}
	pass.memory.Set(left, entry, req.Workers.Count())
	count := s.tiles.count()
	pass.progress = req.Stage("find neighbours", count*(count+1)/2)
	if err := req.Workers.Do(ctx, pass.pieceCount(), pass); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // a piece may have been left half done
	}
	if pass.memory.Short() {
		return nil, rows.TooManyWeights(max(need, float64(left+entry)) + float64(held))
	}
	half := pass.memory.Taken() / entry * rows.EntryBytes
	lower := pass.lower()
	pass.scratches = nil // lists of what was found take more than it takes in the half
	if out.Weights, err = req.Mirror(ctx, pass.half, lower, held+half); err != nil {
		return nil, err
	}
	pass.half = nil
	size, _ := sparse.Bytes(req.Layout, s.n, uint64(out.Weights.NNZ()))
	out.Peak = held + half + size
	out.Stats = s.stats(int64(s.n)*int64(s.n-1)/2, pass.compared.Load(), pass.left.Load(), int64(out.Weights.NNZ()/2))
	out.Tails = pass.tails.all(out)
	return out, nil
}

// Bytes is what a search by codes takes beside the matrix of weights: what every
// search keeps of a row, codes twice while they are put in order, and tiles, with the
// terms of rows and columns, and the sample; the scratch memory of the workers.
func Bytes(n, d, workers int) int64 {
	const sampled = 8 + 8 + 4 + 1
	depth := fullDepth(d)
	return int64(n)*(rows.RowBytes+8+4+4) +
		int64(n)*(2*codeBytes(depth)+4*4+4+1) + tilesBytes(n, depth) + tailBytes(n, depth) +
		min(int64(n), mostSampled)*(sampled*int64(d)+2*codeBytes(depth)) +
		int64(workers)*(filterScratchBytes(n, depth)+projectScratchBytes(d)+arrangeScratchBytes(depth))
}
