package codes

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Nearest finds the k nearest neighbours of every point. Nearer neighbours come first;
// at the same distance by rows.Dist2, neighbours with lower given rows come first. Nearest
// does not use the radius of the request. Equal points are at distance 0 and count like
// any others.
func Nearest(ctx context.Context, k int, req *rows.Request) (*rows.Neighbours, error) {
	p := req.Points
	c, f, err := prepareNearest(ctx, k, req)
	if err != nil {
		return nil, err
	}
	found := &rows.Neighbours{
		K: k, Order: f.s.at, Place: make([]uint32, p.N*k), Dist2: make([]float64, p.N*k), Distance: f.s.distance,
	}
	f.give = func(at int, place []uint32, d2 []float64) {
		copy(found.Place[at*k:], place)
		copy(found.Dist2[at*k:], d2)
	}
	from, to := req.Sharing().Part(f.s.tiles.count())
	if err := f.find(ctx, "find nearest neighbours", from, to, req); err != nil {
		return nil, err
	}
	counted := []int64{f.compared.Load(), f.left.Load()}
	if err := req.Sum(ctx, counted); err != nil {
		return nil, err
	}
	if err := f.gather(ctx, found, req.Sharing()); err != nil {
		return nil, err
	}
	found.Stats = f.s.stats(int64(p.N)*int64(p.N-1), counted[0], counted[1], int64(p.N)*int64(k))
	c.join(found, f.s)
	return found, nil
}

// NearestByRow finds what Nearest finds, and keeps none of it: it gives away, for each given
// row, the given rows of its neighbours and their squared distances, as soon as it has them.
// Rows come in no order, and several workers give them at the same time. The slices are the
// receiver's to read until it returns. Ranks do not share the rows: each finds all.
func NearestByRow(ctx context.Context, k int, req *rows.Request, give func(row int, near []uint32, d2 []float64)) error {
	c, f, err := prepareNearest(ctx, k, req)
	if err != nil {
		return err
	}
	followers := c.byLast()
	f.give = func(at int, place []uint32, d2 []float64) {
		row := f.s.given(at)
		near := f.s.givenRows(place, &place) // in place
		give(row, near, d2)
		for _, other := range followers.of(row) {
			give(int(other), near, d2)
		}
	}
	return f.find(ctx, "find nearest neighbours", 0, f.s.tiles.count(), req)
}

// gather hands every rank the neighbours that all ranks have found, each of some tiles next to
// each other.
func (f *nearestPass) gather(ctx context.Context, found *rows.Neighbours, ranks *par.Ranks) error {
	if ranks.Alone() {
		return nil
	}
	t := f.s.tiles
	bounds := ranks.Bounds(t.count())
	for r, tile := range bounds {
		bounds[r] = t.start[tile] * f.k
	}
	if err := exchange.Gather(ctx, ranks, found.Place, bounds); err != nil {
		return err
	}
	return exchange.Gather(ctx, ranks, found.Dist2, bounds)
}

// prepareNearest does what comes before the pass of a search for the k nearest neighbours of
// every point.
func prepareNearest(ctx context.Context, k int, req *rows.Request) (*crowds, *nearestPass, error) {
	p := req.Points
	c, err := findCrowds(ctx, p, k, req.Workers)
	if err != nil {
		return nil, nil, err
	}
	s := newSet(p, c.part)
	radius, wide, err := typicalRadii(ctx, s, k, nil, req)
	if err != nil {
		return nil, nil, err
	}
	sv, err := takeSurvey(ctx, s.n, p.D, s.row, radius, req)
	if err != nil {
		return nil, nil, err
	}
	if err := s.prepare(ctx, sv, radius, req); err != nil {
		return nil, nil, err
	}
	return c, newNearestPass(ctx, s, k, radius, wide, req), nil
}

// nearestOf finds the k nearest neighbours of the listed places of a prepared set: of each
// the places of its neighbours, nearest first, and their squared distances.
func (s *set) nearestOf(ctx context.Context, k int, list []uint32, req *rows.Request) (place []uint32, d2 []float64, err error) {
	radius, wide, err := typicalRadii(ctx, s, k, list, req)
	if err != nil {
		return nil, nil, err
	}
	f := newNearestPass(ctx, s, k, radius, wide, req)
	f.listed = make([]bool, s.n)
	number := make(map[int]int, len(list)) // of a place in the list
	for e, i := range list {
		f.listed[i], number[int(i)] = true, e
	}
	place, d2 = make([]uint32, len(list)*k), make([]float64, len(list)*k)
	f.give = func(at int, near []uint32, far []float64) {
		copy(place[number[at]*k:], near)
		copy(d2[number[at]*k:], far)
	}
	if err := f.find(ctx, "repair rows", 0, s.tiles.count(), req); err != nil {
		return nil, nil, err
	}
	return place, d2, nil
}

// typicalRadii returns two radii, by a sample: about the distance of the k-th neighbour of
// the median of the listed places, and a radius within which most of these have k
// neighbours. A list of nil has all places.
func typicalRadii(ctx context.Context, s *set, k int, list []uint32, req *rows.Request) (median, wide float64, err error) {
	sample := rows.Spread(min(s.n, mostSampled), s.n)
	queries := rows.Spread(min(len(sample), 64), len(sample))
	for q, at := range queries {
		queries[q] = sample[at]
	}
	if list != nil {
		queries = rows.Spread(min(len(list), 64), len(list))
		for q, at := range queries {
			queries[q] = int(list[at])
		}
	}
	at := k * len(sample) / s.n
	// A point has about at neighbours in the sample within the distance of its k-th
	// neighbour, give or take sqrt(at).
	sure := at + 1 + int(2*math.Sqrt(float64(at)))
	b, err := boundSample(ctx, s, sample, queries, req)
	if err != nil {
		return 0, 0, err
	}
	radii, wides := make([]float64, len(queries)), make([]float64, len(queries))
	if err := req.Workers.Do(ctx, len(queries), par.Func(func(_, q int) {
		x := s.row(queries[q])
		exact := func(j int) float64 {
			if sample[j] == queries[q] {
				return math.Inf(1) // behind all others, it has no rank that is asked for
			}
			return rows.Dist2(x, s.row(sample[j]))
		}
		others := len(sample)
		if _, self := slices.BinarySearch(sample, queries[q]); self {
			others--
		}
		d2 := b.ranked(q, len(sample), []int{min(at, others-1), min(sure, others-1)}, exact)
		radii[q], wides[q] = math.Sqrt(d2[0]), math.Sqrt(d2[1])
	})); err != nil {
		return 0, 0, err
	}
	return quantile(radii, 0.5), quantile(wides, 0.9), nil
}

// sampleBounds are bounds of the squared distances of some queries from all of a sample, query
// by query; nil where there are none.
type sampleBounds struct{ low, high []float64 }

// ranked returns the squared distances at some ranks of those of a query from a sample of n
// points. exact returns one of them. The point itself is infinitely far.
func (b sampleBounds) ranked(q, n int, ranks []int, exact func(j int) float64) []float64 {
	if b.low != nil {
		return ranked(ranks, b.low[q*n:][:n], b.high[q*n:][:n], exact)
	}
	all, out := make([]float64, n), make([]float64, len(ranks))
	for j := range all {
		all[j] = exact(j)
	}
	slices.Sort(all)
	for e, rank := range ranks {
		out[e] = all[rank]
	}
	return out
}

// boundSample bounds the squared distances of queries, panelColumns at most, from a sample, by
// products where rows are long. All are places.
func boundSample(ctx context.Context, s *set, sample, queries []int, req *rows.Request) (b sampleBounds, err error) {
	if s.p.D <= wideColumns {
		return b, nil
	}
	centre, err := mean(ctx, s.row, sample, s.p.D, req.Workers)
	if err != nil {
		return b, err
	}
	// The queries are rows behind the sample.
	row := func(i int) []float32 {
		if i < len(sample) {
			return s.row(sample[i])
		}
		return s.row(queries[i-len(sample)])
	}
	p, err := newProducts(ctx, row, len(sample)+len(queries), centre, req)
	if p == nil {
		return b, err
	}
	b = sampleBounds{make([]float64, len(queries)*len(sample)), make([]float64, len(queries)*len(sample))}
	scratches := make([]*productScratch, req.Workers.Count())
	return b, req.Workers.Do(ctx, split.Blocks(len(sample), panelColumns), par.Func(func(worker, piece int) {
		if scratches[worker] == nil {
			scratches[worker] = p.scratch()
			for q := range queries {
				p.load(scratches[worker].left, q, len(sample)+q)
			}
		}
		lo, hi := split.Block(piece, len(sample), panelColumns)
		p.multiply(scratches[worker], len(queries), lo, hi, func(products []float32, width, from, to int) {
			for q := range queries {
				for j := from; j < to; j++ {
					at := q*len(sample) + j
					b.low[at], b.high[at] = p.bounds(p.norm[len(sample)+q], p.norm[j], products[q*width+j-from])
					if sample[j] == queries[q] {
						b.low[at], b.high[at] = math.Inf(1), math.Inf(1)
					}
				}
			}
		})
	}))
}

// NearestBytes is the bytes that a search for k nearest neighbours takes in addition to them: those of
// a search for pairs, and what the workers keep the neighbours of a tile in.
func NearestBytes(n, d, k, workers int) int64 {
	tiles := int64(n)/leastTile + 1
	return Bytes(n, d, workers) + panelColumns*mostSampled*(8+8) + min(int64(workers), tiles)*(panelColumns*24+4+8)*int64(k)
}
