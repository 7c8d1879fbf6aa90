package codes

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Search finds the neighbours of all points with codes.
func Search(ctx context.Context, req *rows.Request) (*rows.Result, error) {
	p, err := Prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	return p.Find(ctx)
}

// Prepared is a search by codes up to where it compares pairs.
type Prepared struct {
	req      *rows.Request
	s        *set
	survey   *survey
	distinct rows.Distinct
	room     room
}

// Prepare makes the codes and the tiles of a search.
func Prepare(ctx context.Context, req *rows.Request) (*Prepared, error) {
	p := req.Points
	held := max(req.Held, Bytes(p.N, p.D, req.Workers.Count()))
	if err := req.TakeEqual(ctx, "search by codes", held); err != nil {
		return nil, err
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
	b := newRoom(s.n, sv, held, req)
	if b.need > 4*float64(max(b.left, 0)) {
		return nil, rows.TooManyWeights(b.need + float64(held))
	}
	if err := s.prepare(ctx, sv, req.Radius, req); err != nil {
		return nil, err
	}
	s.rough = p.D > wideColumns && sv.found < roughShare*sv.near
	return &Prepared{req, s, sv, distinct, b}, nil
}

// Find finds the neighbours. Where nobody asks for the nearest ones afterwards, codes and tiles
// are given up before the matrix takes its memory, and Prepared can do no more.
func (p *Prepared) Find(ctx context.Context) (*rows.Result, error) {
	s, req := p.s, p.req
	out := &rows.Result{Distance: s.distance}
	out.Order, out.Group = s.orders(p.distinct)
	pass, err := newFilterPass(ctx, s, out.Multiplicity, req)
	if err != nil {
		return nil, err
	}
	if err := pass.findPairs(ctx, p.room, req); err != nil {
		return nil, err
	}
	counted := []int64{pass.compared.Load(), pass.left.Load()}
	if err := req.Sum(ctx, counted); err != nil {
		return nil, err
	}
	out.Stats = s.stats(int64(s.n)*int64(s.n-1)/2, counted[0], counted[1], 0)
	if err := pass.gatherTails(ctx); err != nil {
		return nil, err
	}
	start := s.tiles.start
	lower := pass.end()
	if req.Nearest {
		out.Nearest = func(ctx context.Context, k int, list []uint32) ([]uint32, []float64, error) {
			return s.nearestOf(ctx, k, list, req)
		}
	} else {
		p.release()
	}
	if err := pass.mirror(ctx, out, start, lower, p.room, req); err != nil {
		return nil, err
	}
	out.Stats.Found = int64(out.Weights.NNZ() / 2)
	out.Tails = pass.tails.all(out)
	return out, nil
}

// release gives up what the search has compared points by.
func (p *Prepared) release() {
	bytes := int64(p.s.n)*codeBytes(p.s.codes.depth) + int64(len(p.s.tiles.panels))
	p.s.codes, p.s.tiles, p.s.index, p.s.products = nil, nil, nil, nil
	mem.Reclaim(bytes)
}

// A room is what the weights of a search may take, and will take, in bytes.
type room struct {
	held  int64   // taken in addition to the weights
	left  int64   // for the weights
	entry int64   // of a pair: one weight in the half, two in the whole matrix
	need  float64 // of the weights of this rank, by the survey
}

// newRoom returns the room of a search of n distinct points.
func newRoom(n int, sv *survey, held int64, req *rows.Request) room {
	none, entry := req.StoredBytes(n)
	b := room{held: held, left: req.Memory - held - none, entry: rows.EntryBytes + 2*entry}
	b.need = sv.found * float64(n) * float64(n-1) / 2 * float64(b.entry) / float64(req.Sharing().Size())
	return b
}

// findPairs lets the workers do all pieces of the pass.
func (f *filterPass) findPairs(ctx context.Context, b room, req *rows.Request) error {
	if err := f.memory.Begin(ctx, req, req.Memory-b.left, 1.25*b.need, b.entry); err != nil {
		return err
	}
	own, work := f.ownPieces()
	f.progress = req.Stage("find neighbours", work)
	if err := req.Workers.Do(ctx, len(own), par.Func(func(worker, piece int) { f.Run(worker, own[piece]) })); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // a piece may have been left half done
	}
	return req.Agree(ctx, "", f.memory.Err(b.need))
}

// end returns the number of entries of each column of the half that the pass has found, and
// gives up all but the half and the bounds of the tails.
func (f *filterPass) end() (lower []uint32) {
	lower = f.lower()
	f.scratches = nil // lists of pairs take more memory than the same pairs in the half
	f.t, f.threshold, f.bias, f.ballThreshold, f.ballBias = nil, nil, nil, nil, nil
	f.tails.c, f.tails.bundles, f.tails.panel, f.tails.levels = nil, nil, nil, nil
	return lower
}

// mirror makes the matrix of the half that the pass has found. The pass does not keep the
// half. Tiles begin at the given places.
func (f *filterPass) mirror(ctx context.Context, out *rows.Result, start []int, lower []uint32, b room, req *rows.Request) (err error) {
	half := f.memory.Taken() / b.entry * rows.EntryBytes
	if f.ranks.Alone() {
		out.Weights, err = req.Mirror(ctx, f.half, lower, b.held+half)
	} else {
		out.Weights, err = req.MirrorShared(ctx, &rows.Half{
			Runs: f.half, Start: start, Rank: f.rankOf, Lower: lower, Held: func(more int64) int64 { return b.held + half + more },
		})
	}
	if err != nil {
		return err
	}
	f.half = nil
	size, _ := req.Layout.Bytes(f.s.n, uint64(out.Weights.NNZ()/f.ranks.Size()))
	out.Peak, err = req.Largest(ctx, "", b.held+half+size, nil)
	return err
}

// Bytes is the bytes that a search by codes takes in addition to the matrix of weights: what every
// search keeps of a row, the codes, the order of them in the making, the tiles with the
// terms of their rows and columns, the sample, and the scratch memory of the workers.
func Bytes(n, d, workers int) int64 {
	const sampled = 8 + 8 + 4 + 1
	depth := fullDepth(d)
	return int64(n)*(rows.RowBytes+8+4+4) +
		int64(n)*(codeBytes(depth)+4*4+4+1+1) + tilesBytes(n, depth) + tailBytes(n, depth) +
		productBytes(n, d, workers) + min(int64(n), mostSampled)*(sampled*int64(d)+2*codeBytes(depth)) +
		int64(workers)*(filterScratchBytes(n, depth)+projectScratchBytes(d)+arrangeScratchBytes(depth))
}
