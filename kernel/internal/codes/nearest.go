package codes

import (
	"context"
	"math"
	"slices"

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
	if err := par.Gather(ctx, ranks, found.Place, bounds); err != nil {
		return err
	}
	return par.Gather(ctx, ranks, found.Dist2, bounds)
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
	radii, wides := make([]float64, len(queries)), make([]float64, len(queries))
	scratch := make([][]float64, req.Workers.Count())
	if err := req.Workers.Do(ctx, len(queries), par.Func(func(worker, q int) {
		d2 := slices.Grow(scratch[worker][:0], len(sample))
		scratch[worker] = d2
		for _, j := range sample {
			if i := queries[q]; j != i {
				d2 = append(d2, rows.Dist2(s.row(i), s.row(j)))
			}
		}
		slices.Sort(d2)
		radii[q], wides[q] = math.Sqrt(d2[min(at, len(d2)-1)]), math.Sqrt(d2[min(sure, len(d2)-1)])
	})); err != nil {
		return 0, 0, err
	}
	return quantile(radii, 0.5), quantile(wides, 0.9), nil
}

// NearestBytes is the bytes that a search for k nearest neighbours takes beside them: those of
// a search for pairs, and what the workers keep the neighbours of a tile in.
func NearestBytes(n, d, k, workers int) int64 {
	tiles := int64(n)/leastTile + 1
	return Bytes(n, d, workers) + min(int64(workers), tiles)*panelColumns*(4+8)*int64(k)
}
