package cells

import (
	"context"
	"math"
	"math/bits"
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Ranks share the cells while points are sorted, and gather the list. Then they share the pieces
// of a pass: each does pieces next to each other, and keeps the rows of weights that it finds,
// their counts, their sums and their tails.

// cellShares returns the first cell of each rank, and the end. Ranks have about the same number
// of points.
func (cl *List) cellShares(ranks *par.Ranks) []int {
	cells := len(cl.start) - 1
	bounds := ranks.Bounds(int(cl.start[cells]))
	for r, point := range bounds {
		bounds[r] = sort.Search(cells, func(c int) bool { return cl.start[c] >= uint32(point) })
	}
	bounds[ranks.Size()] = cells // the last ones may have no points
	return bounds
}

// shareKeys makes the keys of all points where there are several ranks: each makes those of
// its share of the rows. One process makes them where it uses them.
func shareKeys[K uint32 | uint64](ctx context.Context, cl *List, keys []K, p *rows.Points, workers *par.Workers, ranks *par.Ranks) error {
	if ranks.Alone() {
		return nil
	}
	from, to := ranks.Part(p.N)
	if err := workers.Do(ctx, split.Blocks(to-from, keysAtOnce), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, to-from, keysAtOnce)
		addKeys(&cl.grid, keys[from+lo:from+hi], p, from+lo)
	})); err != nil {
		return err
	}
	return exchange.Gather(ctx, ranks, keys, ranks.Bounds(p.N))
}

// placeOwn is what a worker of countCells does to place the points lo to hi-1 where there are
// several ranks. Which points are in cells of this rank no processor can predict, so first
// these are listed without a branch.
func (cl *List) placeOwn(keys []uint32, lo, hi int, place []uint32, ranks *par.Ranks) {
	shares := cl.cellShares(ranks)
	first := uint64(shares[ranks.Rank()])
	cells := uint64(shares[ranks.Rank()+1]) - first
	var own [keysAtOnce]uint32
	for ; lo < hi; lo += keysAtOnce {
		some, n := keys[lo:min(lo+keysAtOnce, hi)], uint64(0)
		for i, key := range some {
			own[n%keysAtOnce] = uint32(i)
			_, is := bits.Sub64(uint64(key)-first, cells, 0)
			n += is
		}
		for _, i := range own[:n] {
			at := &place[some[i]]
			cl.Order[*at] = uint32(lo) + i
			*at++
		}
	}
}

// gatherSorted hands every rank the order and the coordinates of the points of all cells, and
// reports whether a rank has found equal ones. The shares are the first cells of the ranks.
func (cl *List) gatherSorted(ctx context.Context, ranks *par.Ranks, shares []int, equal bool) (bool, error) {
	if ranks.Alone() {
		return equal, nil
	}
	bounds := make([]int, len(shares))
	for r, cell := range shares {
		bounds[r] = int(cl.start[cell])
	}
	if err := exchange.Gather(ctx, ranks, cl.Order, bounds); err != nil {
		return false, err
	}
	for a := range cl.D {
		if err := exchange.Gather(ctx, ranks, cl.Axis[a*cl.N:][:cl.N], bounds); err != nil {
			return false, err
		}
	}
	return exchange.Any(ctx, ranks, equal)
}

// shares returns the first piece of each rank, and the end. Ranks get about the same work, in
// the search and in the steps to come: each cluster of the sample stands for the points of the
// clusters around it.
func (p *pass) shares(ranks *par.Ranks) []int {
	cl, s := p.cl, p.sample
	bounds := make([]int, ranks.Size()+1)
	bounds[ranks.Size()] = cl.workPieces()
	if ranks.Alone() {
		return bounds
	}
	before := make([]float64, s.count+1) // seconds of the clusters before
	for i := range s.count {
		points := cl.First[s.begin(i+1)] - cl.First[s.begin(i)]
		before[i+1] = before[i] + p.sampled[2*i+1]/cl.points(s.cluster(i))*float64(points)
	}
	for r := 1; r < ranks.Size(); r++ {
		end := before[s.count] * float64(r) / float64(ranks.Size())
		i := sort.Search(s.count-1, func(i int) bool { return before[i+1] > end })
		share := (end - before[i]) / (before[i+1] - before[i])
		cluster := float64(s.begin(i)) + share*float64(s.begin(i+1)-s.begin(i))
		bounds[r] = int(math.Round(cluster / clustersPerPiece))
	}
	return bounds
}

// seconds estimates the time of cluster c, whose points have that many neighbours: of its search,
// and of the steps with its weights. It follows on count.
func (p *pass) seconds(c int, found float64) float64 {
	candidates := 0.0
	p.scratch(0).sweep.Candidates(c, func(from, to uint32) { candidates += float64(to - from) })
	return clusterSeconds + float64(p.cl.D)*candidates*p.cl.points(c)*testSeconds + found*weightSeconds
}

// tails returns the tails of the points whose weights are here.
func (p *pass) tails(ctx context.Context, r *rows.Request, weights *sparse.CSR) ([]float64, error) {
	var buffer sparse.RowBuffer
	near := func(i int) []uint32 {
		ind, _ := weights.Row(i, &buffer)
		return ind
	}
	if !weights.Shared() {
		return p.cl.Tails(ctx, r, p.counts, near)
	}
	lo, hi := weights.OwnRows()
	doubles, err := p.cl.doublesOf(ctx, lo, hi, near)
	if err != nil {
		return nil, err
	}
	return p.cl.tailsOf(ctx, r, p.counts, doubles, lo, hi)
}

// doublesOf is Doubles for the points lo to hi-1, whose neighbours alone are known: a point
// that stands for several adds to its neighbours, and here each point asks its neighbours.
func (cl *List) doublesOf(ctx context.Context, lo, hi int, near func(i int) []uint32) ([]uint64, error) {
	if cl.Group == nil {
		return nil, nil
	}
	out := make([]uint64, cl.N)
	for i := lo; i < hi; i++ {
		if err := ctx.Err(); err != nil { // a row may have a million candidates
			return nil, err
		}
		out[i] = uint64(cl.multiplicity(i) - 1)
		for _, j := range near(i) {
			out[i] += uint64(cl.multiplicity(int(j)) - 1)
		}
	}
	return out, nil
}
