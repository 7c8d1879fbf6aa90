package graph

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/tree"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Nearest is the graph of the k nearest neighbours: two points have a weight if one
// of them is among the nearest of the other.
//
// A graph that tunes itself has the weights of selfTune.
//
// Equal points are at distance 0 and count like any others, so they do not share rows as
// they do in a truncated graph.
func Nearest(ctx context.Context, p *rows.Points, b base.Bandwidth, k int, o *base.Options) (*Graph, error) {
	k = min(k, p.N-1)
	held := NearestHeld(p.N, p.D, k, o)
	request := RequestOf(o, p, b, math.Inf(1))
	if err := request.TakeEqual(ctx, "", NearestNeed(p.N, p.D, k, o)); err != nil {
		return nil, SearchError(o, err)
	}
	search := codes.Nearest
	if p.D <= maxTree {
		search = tree.Nearest
	}
	found, err := search(ctx, k, request)
	if err != nil {
		return nil, err
	}
	reach := farthestOf(found)
	if o.SelfTuned {
		if err := selfTune(ctx, found, b, o); err != nil {
			return nil, err
		}
	}
	lists, err := newNearestLists(ctx, found, b, o)
	if err != nil {
		return nil, err
	}
	weights, err := lists.union(ctx, held, request)
	if err != nil {
		return nil, SearchError(o, err)
	}
	size, _ := exactLayout(o).Bytes(p.N, uint64(weights.NNZ()))
	g := &Graph{
		Result: rows.Result{
			Weights: weights, Order: found.Order, Tails: make([]float64, p.N), Peak: held + size,
			Distance: found.Distance, Stats: found.Stats,
		},
		EntryRel: distance.FoundRel(p.D), Radius: reach, SelfTuned: o.SelfTuned,
	}
	if o.SelfTuned {
		return g, nil // the lists are the whole graph: nothing is left out
	}
	g.Radius = min(g.Radius, math.Sqrt(lists.most))
	for i := range g.Tails {
		// Whatever has no weight is at least as far as the last of the nearest.
		farthest := min(found.Dist2[(i+1)*k-1], lists.most)
		g.Tails[i] = float64(p.N-1-weights.RowLen(i)) * b.Weight(farthest) * (1 + 1e-9)
	}
	return g, nil
}

// NearestHeld is what is held in addition to the matrix at most: k nearest neighbours of n points
// until it is made, or the steps that follow.
func NearestHeld(n, d, k int, o *base.Options) int64 {
	return max(mem.Saturate(float64(NearestSearchBytes(n, d, k, o))+float64(n)*float64(k)*nearestBytes), StepBytes(n, o))
}

// NearestNeed is what the graph of k nearest neighbours of n points takes at most: where no
// two points are among the nearest of each other.
func NearestNeed(n, d, k int, o *base.Options) int64 {
	k = min(k, n-1)
	size, ok := exactLayout(o).Bytes(n, 2*uint64(n)*uint64(k))
	if !ok {
		size = math.MaxInt64
	}
	return mem.Saturate(float64(NearestHeld(n, d, k, o)) + float64(size))
}

// farthestOf returns the largest distance of two neighbours.
func farthestOf(found *rows.Neighbours) float64 {
	most := 0.0
	for i := found.K - 1; i < len(found.Dist2); i += found.K {
		most = max(most, found.Dist2[i])
	}
	return math.Sqrt(most)
}

// NearestSearchBytes is what a search for k nearest neighbours takes in addition to them.
func NearestSearchBytes(n, d, k int, o *base.Options) int64 {
	workers := o.Workers.Count()
	if d <= maxTree {
		return tree.Bytes(n, d, k, workers)
	}
	return max(everyPairBytes(n, d, workers), codes.NearestBytes(n, d, k, workers))
}

// maxTree is the largest dimension in which nearest neighbours are found by the tree. In 8
// dimensions 100,000 uniform points take it much longer than codes, in 6 less than half as long.
const maxTree = 6

// nearestBytes is what a neighbour takes until the matrix is made: its distance, its
// place and weight, and these once more for the point it is a neighbour of.
const nearestBytes = 8 + 4 + 4 + 4 + 4

// nearestLists are the neighbours of every point by place, with their weights. Those
// whose weight is below the range of float32 are left out.
type nearestLists struct {
	ptr  []uint64
	ind  []uint32
	val  []float32
	most float64 // squared distance of those left out, at least
}

// newNearestLists puts the neighbours of each point in order and makes their weights.
func newNearestLists(ctx context.Context, found *rows.Neighbours, b base.Bandwidth, o *base.Options) (*nearestLists, error) {
	k := found.K
	n := len(found.Place) / k
	l := &nearestLists{ptr: make([]uint64, n+1), ind: found.Place, val: make([]float32, n*k), most: rows.RadiusSquared(b.MaxRadius())}
	counts := make([]uint64, n)
	const rowsPerPiece = 256
	if err := o.Workers.Do(ctx, split.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, rowsPerPiece)
		var entries []uint64
		for i := lo; i < hi; i++ {
			d2, place, val := found.Dist2[i*k:][:k], found.Place[i*k:][:k], l.val[i*k:][:k]
			kept, _ := slices.BinarySearchFunc(d2, l.most, func(a, b float64) int {
				if a <= b {
					return -1
				}
				return 1
			})
			o.Kernels.Weights(val[:kept], d2[:kept], b.Gamma())
			entries = SortRow(place[:kept], val, entries)
			counts[i] = uint64(kept)
		}
	})); err != nil {
		return nil, err
	}
	// Close the gaps.
	end := uint64(0)
	for i, count := range counts {
		copy(l.ind[end:], l.ind[i*k:][:count])
		copy(l.val[end:], l.val[i*k:][:count])
		end += count
		l.ptr[i+1] = end
	}
	l.ind, l.val = l.ind[:end], l.val[:end]
	return l, nil
}

// union returns the matrix that has an entry where one of two points has the other
// in its list. Weights of a pair are the same from both sides.
func (l *nearestLists) union(ctx context.Context, held int64, req *rows.Request) (*sparse.CSR, error) {
	back, err := l.transposed(ctx)
	if err != nil {
		return nil, err
	}
	n := len(l.ptr) - 1
	const rowsPerPiece = 1024
	each := func(do func(i int)) error {
		return req.Workers.Do(ctx, split.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
			lo, hi := split.Block(piece, n, rowsPerPiece)
			for i := lo; i < hi; i++ {
				do(i)
			}
		}))
	}
	counts := make([]uint64, n+1)
	if err := each(func(i int) {
		l.merge(back, i, func(uint32, float32) { counts[i+1]++ })
	}); err != nil {
		return nil, err
	}
	a, err := req.Allocate(ctx, counts, held)
	if err != nil {
		return nil, err
	}
	if err := each(func(i int) {
		at := a.Ptr[i]
		l.merge(back, i, func(column uint32, w float32) {
			a.Ind[at], a.Val[at] = column, w
			at++
		})
	}); err != nil {
		return nil, err
	}
	return req.Adopt(ctx, n, a)
}

// transposed returns the lists that each point is in, by point.
func (l *nearestLists) transposed(ctx context.Context) (*nearestLists, error) {
	n := len(l.ptr) - 1
	t := &nearestLists{ptr: make([]uint64, n+1), ind: make([]uint32, len(l.ind)), val: make([]float32, len(l.ind))}
	for _, j := range l.ind {
		t.ptr[j+1]++
	}
	for i := range n {
		t.ptr[i+1] += t.ptr[i]
	}
	next := slices.Clone(t.ptr[:n])
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for e := l.ptr[i]; e < l.ptr[i+1]; e++ {
			j := l.ind[e]
			t.ind[next[j]], t.val[next[j]] = uint32(i), l.val[e]
			next[j]++
		}
	}
	return t, nil
}

// merge visits the entries of row i that l or back has, columns ascending.
func (l *nearestLists) merge(back *nearestLists, i int, visit func(column uint32, w float32)) {
	a, b := l.ptr[i], back.ptr[i]
	for a < l.ptr[i+1] || b < back.ptr[i+1] {
		column, w := uint32(math.MaxUint32), float32(0)
		if a < l.ptr[i+1] {
			column, w = l.ind[a], l.val[a]
		}
		if b < back.ptr[i+1] && back.ind[b] <= column {
			if back.ind[b] == column {
				a++
			}
			column, w = back.ind[b], back.val[b]
			b++
		} else {
			a++
		}
		visit(column, w)
	}
}
