package codes

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// A nearestPass finds the k nearest neighbours of every point. For each point it keeps the
// nearest points seen so far, k at most, and looks for others within a radius, by the
// filters of filterPass. Once a point has k neighbours, its radius is the distance of the
// farthest of them. Before, its radius is one within which most points have k neighbours:
// all points within it are found, so if they are k or more, the k nearest are among them. A
// point that has found fewer than k is looked at once more, and begins with k points
// wherever they are. Tiles next to the tile of the point come first, which makes the radius
// small early. The neighbours do not depend on the order of the tiles.
type nearestPass struct {
	ctx           context.Context
	s             *set
	k             int
	listed        []bool  // which places to find neighbours of; nil for all
	wide2         float64 // square of the radius to begin with
	off           float64 // simd.SqDists64 and rows.Dist2 differ by no more than this share of either
	kernels       *simd.Kernels
	reach         reach   // of points among each other
	bias          []int32 // of columns, to compare them with points
	ballReach     reach   // of balls and points
	ballThreshold []int32 // of balls; nil when tiles have no balls
	// give takes the places of the k neighbours of a place, nearest first, and their squared
	// distances, which are in the memory of a worker. Workers call it at the same time.
	give           func(at int, place []uint32, d2 []float64)
	scratches      []*nearestScratch // nil for workers that have done nothing yet
	progress       *rows.Progress
	compared, left atomic.Int64 // pairs that balls leave, and that codes leave
}

// nearestScratch is the scratch memory of a worker.
type nearestScratch struct {
	near      []uint64 // which points of the tile are near to each ball
	ballBias  []int32  // of the points of the tile, to compare them with balls
	mask      []uint64
	products  *productScratch // nil where products do not help
	which     []int           // numbers of the open points of the tile
	code      []int8          // of the open points of the tile, where some are not
	threshold []int32         // of the open points of the tile
	list      []uint32        // places whose distances are to be measured
	given     []uint32        // given rows at these places
	d32       []float32       // their squared distances in float32
	wide      []float64       // the same in float64
	most      []float64       // of each point of the tile, the squared distance that others must not exceed
	open      []bool          // of each point of the tile, whether neighbours are looked for
	found     []candidates    // of each point of the tile, the nearest so far
	place     []uint32        // of the neighbours of a point, nearest first
	d2        []float64       // their squared distances
}

// newNearestPass returns a pass for the k nearest neighbours. radius is the usual radius of a
// point, and wide the radius to begin with.
func newNearestPass(ctx context.Context, s *set, k int, radius, wide float64, req *rows.Request) *nearestPass {
	r := searchReach(s.codes, radius)
	f := &nearestPass{
		ctx: ctx, s: s, k: k, wide2: wide * wide, off: float64(2*s.p.D+16) * 0x1p-53, kernels: req.Kernels, reach: r.reach, bias: s.tiles.biases(r.reach, s.codes.slack),
		scratches: make([]*nearestScratch, req.Workers.Count()),
	}
	if balls := s.tiles.balls; balls != nil {
		// With the largest radius of a ball as the usual reach, the thresholds of balls do
		// not depend on the points.
		f.ballReach = reach{usual: balls.widest}
		f.ballThreshold = make([]int32, s.tiles.count())
		for ball := range f.ballThreshold {
			f.ballThreshold[ball] = balls.threshold(f.ballReach, ball, 0)
		}
	}
	return f
}

// scratch returns the scratch memory of a worker.
func (f *nearestPass) scratch(worker int) *nearestScratch {
	if f.scratches[worker] == nil {
		f.scratches[worker] = &nearestScratch{
			near: make([]uint64, f.s.tiles.count()), ballBias: make([]int32, panelColumns), mask: make([]uint64, panelColumns*runTiles),
			threshold: make([]int32, panelColumns),
			most:      make([]float64, panelColumns), open: make([]bool, panelColumns),
			found: make([]candidates, panelColumns), place: make([]uint32, f.k), d2: make([]float64, f.k),
		}
		all := make([]neighbour, panelColumns*f.k)
		for i := range panelColumns {
			f.scratches[worker].found[i] = all[i*f.k:][:0:f.k]
		}
		if f.s.products != nil {
			f.scratches[worker].products = f.s.products.scratch()
		}
	}
	return f.scratches[worker]
}

// find lets the workers do the tiles from to to-1.
func (f *nearestPass) find(ctx context.Context, stage string, from, to int, req *rows.Request) error {
	f.progress = req.Stage(stage, to-from)
	if err := req.Workers.Do(ctx, to-from, par.Func(func(worker, tile int) { f.Run(worker, from+tile) })); err != nil {
		return err
	}
	return ctx.Err() // a piece may have been left half done
}

// Run does one tile.
func (f *nearestPass) Run(worker, tile int) {
	scratch, t := f.scratch(worker), f.s.tiles
	points := t.start[tile+1] - t.start[tile]
	lo, few := t.start[tile], false
	for i := range points {
		scratch.found[i], scratch.most[i] = scratch.found[i][:0], f.wide2
		scratch.open[i] = f.asked(lo + i)
		few = few || scratch.open[i]
	}
	if few {
		f.sweep(scratch, tile, tile, tile)
		few = false
	}
	for i := range points {
		scratch.open[i] = scratch.open[i] && len(scratch.found[i]) < f.k
		few = few || scratch.open[i]
	}
	if few && f.ctx.Err() == nil {
		from, to := f.begin(scratch, tile)
		f.sweep(scratch, tile, from, to)
	}
	if f.ctx.Err() == nil { // otherwise a sweep may have ended early
		for i := range points {
			if f.asked(lo + i) {
				f.settle(scratch.found[i], lo+i, 0)
				for e, c := range scratch.found[i] {
					scratch.place[e], scratch.d2[e] = c.place, c.d2
				}
				f.give(lo+i, scratch.place, scratch.d2)
			}
		}
	}
	f.progress.Add()
}

// asked reports whether the neighbours of a place are looked for.
func (f *nearestPass) asked(at int) bool { return f.listed == nil || f.listed[at] }

// begin gives the open points of a tile their k nearest of the points of some tiles: the
// tile itself and as many tiles around it as have k other points. It returns these tiles,
// from to to-1.
func (f *nearestPass) begin(scratch *nearestScratch, tile int) (from, to int) {
	t := f.s.tiles
	lo, hi := t.start[tile], t.start[tile+1]
	for from, to = tile, tile+1; t.start[to]-t.start[from] <= f.k; {
		from, to = max(from-1, 0), min(to+1, t.count())
	}
	for i := lo; i < hi; i++ {
		if !scratch.open[i-lo] {
			continue
		}
		scratch.found[i-lo], scratch.most[i-lo] = scratch.found[i-lo][:0], math.Inf(1)
		scratch.list = scratch.list[:0]
		for j := t.start[from]; j < t.start[to]; j++ {
			if j != i {
				scratch.list = append(scratch.list, uint32(j))
			}
		}
		f.check(scratch, lo, i-lo, false)
	}
	return from, to
}

// sweep looks for neighbours of the open points of a tile in all tiles but the tiles from
// to to-1, which are seen already. It goes outwards from the seen tiles.
func (f *nearestPass) sweep(scratch *nearestScratch, tile, from, to int) {
	t, c := f.s.tiles, f.s.codes
	lo, hi, count := t.start[tile], t.start[tile+1], t.count()
	if t.balls != nil {
		for j := range scratch.ballBias {
			scratch.ballBias[j] = padBias
			if i := lo + j; i < hi && scratch.open[j] {
				scratch.ballBias[j] = f.ballReach.bias(c.norm2[i], bounded(f.radius(scratch, j)+c.slack[i]))
			}
		}
		f.kernels.ByteDotsAbove(scratch.near, t.balls.code, t.panel(tile, tile+1), c.depth, scratch.ballBias, f.ballThreshold)
	}
	// The tiles from before to behind-1 are seen.
	for before, behind := from, to; before > 0 || behind < count; {
		if f.ctx.Err() != nil {
			return
		}
		if behind < count {
			end := min(behind+runTiles, count)
			f.visit(scratch, tile, behind, end)
			behind = end
		}
		if before > 0 {
			begin := max(before-runTiles, 0)
			f.visit(scratch, tile, begin, before)
			before = begin
		}
	}
}

// radius returns the distance that neighbours of point i of the tile must not exceed,
// rounded up, in units of codes.
func (f *nearestPass) radius(scratch *nearestScratch, i int) float64 {
	return bounded(math.Sqrt(scratch.most[i]) * (1 + 0x1p-30) / f.s.codes.unit)
}

// visit looks for neighbours of the open points of a tile in the tiles from to to-1.
func (f *nearestPass) visit(scratch *nearestScratch, tile, from, to int) {
	t, c := f.s.tiles, f.s.codes
	lo, hi := t.start[tile], t.start[tile+1]
	if t.balls != nil {
		for from < to && scratch.near[from] == 0 {
			from++
		}
		for from < to && scratch.near[to-1] == 0 {
			to--
		}
		if from == to {
			return
		}
	}
	scratch.which = scratch.which[:0]
	for i := range hi - lo {
		if scratch.open[i] {
			scratch.threshold[len(scratch.which)] = c.threshold(f.reach, lo+i, f.radius(scratch, i))
			scratch.which = append(scratch.which, i)
		}
	}
	open := len(scratch.which)
	code := c.code[lo*c.depth:]
	if open < hi-lo {
		code = f.openCodes(scratch, lo, hi)
	}
	words := to - from
	f.kernels.ByteDotsAbove(scratch.mask, code, t.panel(from, to), c.depth, f.bias[from*panelColumns:to*panelColumns], scratch.threshold[:open])
	mask := scratch.mask[:open*words]
	for row, i := range scratch.which {
		for w := range words {
			if t.balls != nil && scratch.near[from+w]>>i&1 == 0 {
				mask[row*words+w] = 0
			}
			if from+w == tile {
				mask[row*words+w] &^= 1 << i // the point itself
			}
		}
	}
	left := 0
	if f.s.products == nil {
		left = f.look(scratch, tile, from, words, 0, words, false)
	} else {
		for w := range words { // a tile at a time makes limits small early
			sharp := f.s.products.sharpen(scratch.products, t, tile, from+w, scratch.which, mask, words, w, func(i int) float64 { return scratch.most[i] })
			left += f.look(scratch, tile, from, words, w, w+1, sharp)
		}
	}
	f.compared.Add(int64(open) * int64(t.start[to]-t.start[from]))
	f.left.Add(int64(left))
}

// look measures the distances of the open points of a tile from the points in the mask, whose
// rows have that many words and begin at tile from: of the words first to end-1. sharp says that
// distances in float32 have been looked at. look returns how many points were in the mask.
func (f *nearestPass) look(scratch *nearestScratch, tile, from, words, first, end int, sharp bool) (left int) {
	lo := f.s.tiles.start[tile]
	for row, i := range scratch.which {
		scratch.list = scratch.list[:0]
		for w := first; w < end; w++ {
			at := uint32(f.s.tiles.start[from+w])
			for word := scratch.mask[row*words+w]; word != 0; word &= word - 1 {
				scratch.list = append(scratch.list, at+uint32(bits.TrailingZeros64(word)))
			}
		}
		left += len(scratch.list)
		f.check(scratch, lo, i, sharp)
	}
	return left
}

// openCodes returns the codes of the open points of lo to hi-1, one behind the other.
func (f *nearestPass) openCodes(scratch *nearestScratch, lo, hi int) []int8 {
	scratch.code = scratch.code[:0]
	for i := lo; i < hi; i++ {
		if scratch.open[i-lo] {
			scratch.code = append(scratch.code, f.s.codes.row(i)...)
		}
	}
	return scratch.code
}

// check measures the distances of point lo+i from the points in the list. Points that are
// nearer than the farthest neighbour so far become neighbours. sharp says that distances in
// float32 have been looked at.
func (f *nearestPass) check(scratch *nearestScratch, lo, i int, sharp bool) {
	if len(scratch.list) == 0 {
		return
	}
	all, at := f.s.p.Single, lo+i
	d := all.Cols
	x := f.s.row(at)
	near, given := scratch.list, f.s.givenRows(scratch.list, &scratch.given)
	if !sharp {
		limit := float32(math.Inf(1))
		if most := scratch.most[i]; !math.IsInf(most, 1) {
			limit = newChecker(math.Sqrt(most), d).limit
		}
		near, given = f.s.sift(f.kernels, x, near, given, limit, &scratch.d32)
	}
	scratch.wide = slices.Grow(scratch.wide[:0], len(near))[:len(near)]
	f.kernels.SqDists64(scratch.wide, x, simd.RowsOf(all.Data, all.Stride), given)
	for e, j := range near {
		if v := scratch.wide[e]; v <= scratch.most[i]*(1+2*f.off) {
			f.offer(scratch, lo, i, neighbour{v, j, given[e], false})
		}
	}
}
