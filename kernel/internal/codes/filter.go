package codes

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A filterPass finds all pairs of points within a radius. Its filters lose no pair, and
// each is cheaper than the next:
//
//	balls   points against balls around tiles: no tile beyond the radius is looked at
//	codes   integer products of the codes of points (reach)
//	products
//	        bounds of squared distances by inner products in float32, of tiles of long rows
//	        of which codes leave many pairs (products); only where float32 helps, too
//	float32 squared distances, given up as soon as they exceed the radius; only where many
//	        of the pairs that codes leave exceed it
//	float64 squared distances of all pairs that are left; within rounding of the radius
//	        rows.Dist2 decides, which defines a distance
//
// The pass visits each pair once, from the point that comes first, and stores the upper
// half of the graph. A tile meets the other tiles in order, so columns ascend. A few tiles
// go together in a piece and meet a chunk of the others at a time: a chunk is so small
// that it stays in the cache.
type filterPass struct {
	ctx            context.Context
	t              *tiles
	together       int // tiles of a piece
	chunk          int // tiles that the tiles of a piece meet before lists are checked
	least          int // points of a list that is checked after a chunk; shorter lists wait
	k              *simd.Kernels
	s              *set
	checker        checker
	gamma          float64
	threshold      []int32 // of points, to compare them with points
	bias           []int32 // of columns, to compare them with points
	ballThreshold  []int32 // of balls; nil when tiles have no balls
	ballBias       []int32 // of columns, to compare them with balls; nil when tiles have no balls
	tails          *tailBounds
	scratches      []*filterScratch // nil for workers that have done nothing yet
	memory         rows.Memory
	half           []sparse.Rows // the rows of each tile, of the upper half of the matrix
	progress       *rows.Progress
	compared, left atomic.Int64 // pairs that balls leave, and that codes leave
	ranks          *par.Ranks   // who shares the pieces; nil for one process
}

// newFilterPass returns a pass over the points of s, each of which stands for some given
// points.
func newFilterPass(ctx context.Context, s *set, multiplicity func(i int) float64, req *rows.Request) (*filterPass, error) {
	t, c := s.tiles, s.codes
	f := &filterPass{
		ctx: ctx, t: t, k: req.Kernels, s: s, checker: newChecker(req.Radius, s.p.D), gamma: req.Gamma,
		threshold: make([]int32, s.n), scratches: make([]*filterScratch, req.Workers.Count()),
		half: make([]sparse.Rows, t.count()),
	}
	// There are as many pieces as keep all workers busy to the end. What is found is stored
	// by tile, so the graph does not depend on the split.
	f.ranks = req.Sharing()
	f.together = min(max(t.count()/(16*req.Workers.Count()*f.ranks.Size()), 1), mostTogether)
	f.chunk = min(max(chunkBytes/(panelColumns*(c.depth+4*s.p.D)), leastChunk), mostChunk)
	f.least = leastList
	if s.p.D > wideColumns {
		f.least = leastLongList
	}
	r := searchReach(c, req.Radius)
	for i := range f.threshold {
		f.threshold[i] = c.threshold(r.reach, i, r.radius)
	}
	f.bias = t.biases(r.reach, c.slack)
	if t.balls != nil {
		f.ballThreshold, f.ballBias = t.ballTerms(req.Radius)
	}
	var err error
	f.tails, err = newTailBounds(ctx, t, s.p.N, multiplicity, req)
	return f, err
}

// pieceCount returns the number of pieces of the pass.
func (f *filterPass) pieceCount() int { return split.Blocks(f.t.count(), f.together) }

// filterScratch is the scratch memory of a worker. Its points are the points of a piece,
// that is of the tiles that go together.
type filterScratch struct {
	rows.Writer
	near      []uint64 // of each tile, which points are near to each ball; nil when tiles have no balls
	mask      []uint64
	products  *productScratch                 // nil where products do not help
	words     [panelColumns * runTiles]uint16 // which words of the mask are not zero
	code      []int8                          // of some points of a tile
	threshold []int32
	which     []int // numbers of some points in the tile
	list      [mostTogether * panelColumns][]uint32
	given     []uint32
	d32       []float32
	wide      []float64
	ind       [mostTogether * panelColumns][]uint32 // found
	d2        [mostTogether * panelColumns][]float64
	found     int
	kept      int // pairs that the lists have memory for from pieces before
	granted   int // pairs that the worker may hold in its lists
	counts    []uint32
	lower     []uint32 // of each point, how many pairs it is the second of
	tail      tailScratch
}

const (
	// At most mostTogether tiles are a piece. A chunk is leastChunk to mostChunk tiles, and
	// no more than have codes and points that stay in a cache of chunkBytes.
	mostTogether = 8
	leastChunk   = 16
	mostChunk    = 64
	chunkBytes   = 1 << 20
	// A tile is compared with runTiles tiles at a time.
	runTiles = 16
	// A list of listPoints points is checked at once, and a list of leastList points after
	// a chunk: a few distances are measured at a time. Long rows are fetched while other
	// rows are read, which takes lists of leastLongList points.
	listPoints    = 256
	leastList     = 4
	leastLongList = 16
	// A worker may find freeFound pairs in a piece without asking for memory.
	freeFound = 1 << 15
)

// filterScratchBytes is the bytes of a filterScratch.
func filterScratchBytes(n, depth int) int64 {
	const points = mostTogether * panelColumns
	return int64(n)/leastTile*8*mostTogether + 4*int64(n) + panelColumns*((8+2)*runTiles+int64(depth)+4+8) +
		points*(3*24+2*4*listPoints) + (4+4+8)*(listPoints+panelColumns) + freeFound*24 + 8*rows.PieceRows + 1024
}

// scratch returns the scratch memory of a worker.
func (f *filterPass) scratch(worker int) *filterScratch {
	if f.scratches[worker] == nil {
		f.scratches[worker] = &filterScratch{
			Writer: rows.NewWriter(&f.memory, 0), mask: make([]uint64, panelColumns*runTiles),
			code: make([]int8, panelColumns*f.t.c.depth), threshold: make([]int32, panelColumns), granted: freeFound,
			tail: f.tails.newScratch(), lower: make([]uint32, f.s.n),
		}
		if f.t.balls != nil {
			f.scratches[worker].near = make([]uint64, f.together*f.t.count())
		}
		if f.s.products != nil {
			f.scratches[worker].products = f.s.products.scratch()
		}
	}
	return f.scratches[worker]
}

// Run does the tiles of one piece.
func (f *filterPass) Run(worker, piece int) {
	scratch, t := f.scratch(worker), f.t
	count := t.count()
	first, last := split.Block(piece, count, f.together)
	base := t.start[first]
	points := t.start[last] - base
	if f.memory.Short() {
		return
	}
	for tile := first; tile < last; tile++ {
		f.tails.bound(&scratch.tail, f.k, t.start[tile], t.start[tile+1])
		if t.balls != nil {
			f.approach(scratch, tile, f.nearOf(scratch, tile, first))
		}
	}
	scratch.empty()
	for from := first; from < count && f.alive(); from += f.chunk {
		to := min(from+f.chunk, count)
		for tile := first; tile < last; tile++ {
			if t.balls != nil {
				f.meet(scratch, tile, max(from, tile), to, f.nearOf(scratch, tile, first), base)
				continue
			}
			for run := max(from, tile); run < to; run += runTiles {
				f.compare(scratch, tile, run, min(run+runTiles, to), nil, base)
			}
		}
		for i := range points {
			if len(scratch.list[i]) >= f.least || to == count {
				f.check(scratch, base, i)
			}
		}
	}
	for tile := first; tile < last && f.alive(); tile++ {
		f.store(scratch, tile, base)
		f.progress.Advance(count - tile)
	}
}

// empty forgets what was found. Lists keep their memory from pieces before as far as it
// was granted: a point with many neighbours may be anywhere in a piece. A pair in a list
// takes half of the memory that is granted for a pair, so lists may have twice the memory
// of what is in them.
func (r *filterScratch) empty() {
	kept := 0
	for i := range r.ind {
		if size := cap(r.ind[i]); kept+size <= 2*r.granted {
			kept += size
		} else {
			r.ind[i], r.d2[i] = nil, nil
		}
		r.ind[i], r.d2[i] = r.ind[i][:0], r.d2[i][:0]
	}
	r.found, r.kept = 0, kept/2
}

// alive reports whether to go on: there is memory, and the context has not ended.
func (f *filterPass) alive() bool { return !f.memory.Short() && f.ctx.Err() == nil }

// nearOf returns, for each ball from the ball of a tile on, which points of the tile are
// near to the ball. first is the first tile of the piece.
func (f *filterPass) nearOf(scratch *filterScratch, tile, first int) []uint64 {
	count := f.t.count()
	return scratch.near[(tile-first)*count:][:count-tile]
}

// approach finds, for each ball from the ball of a tile on, which points of the tile are
// near to the ball.
func (f *filterPass) approach(scratch *filterScratch, tile int, near []uint64) {
	t, depth := f.t, f.t.c.depth
	f.k.ByteDotsAbove(near, t.balls.code[tile*depth:], t.panel(tile, tile+1), depth, f.ballBias[tile*panelColumns:][:panelColumns], f.ballThreshold[tile:])
	near[0] = uint64(1)<<(t.start[tile+1]-t.start[tile]) - 1 // a tile meets itself, whatever its ball
}

// meet compares the points of a tile with the points of those tiles from to to-1 whose
// balls they are near to.
func (f *filterPass) meet(scratch *filterScratch, tile, from, to int, near []uint64, base int) {
	size := f.t.start[tile+1] - f.t.start[tile]
	few := func(other int) bool { return bits.OnesCount64(near[other-tile]) <= size*3/4 }
	for from < to {
		switch {
		case near[from-tile] == 0:
			from++
		case few(from):
			scratch.which = scratch.which[:0]
			for word := near[from-tile]; word != 0; word &= word - 1 {
				scratch.which = append(scratch.which, bits.TrailingZeros64(word))
			}
			f.compare(scratch, tile, from, from+1, scratch.which, base)
			from++
		default:
			end := from + 1
			for end < min(from+runTiles, to) && !few(end) {
				end++
			}
			f.compare(scratch, tile, from, end, nil, base)
			from = end
		}
	}
}

// compare looks for pairs of points of a tile with points of the tiles from to to-1, by
// their codes. which is the numbers of the points of the tile to compare, all points where
// it is nil. Point base is the first of the piece.
func (f *filterPass) compare(scratch *filterScratch, tile, from, to int, which []int, base int) {
	t, depth := f.t, f.t.c.depth
	lo, size := t.start[tile], t.start[tile+1]-t.start[tile]
	code, threshold := t.c.code[lo*depth:], f.threshold[lo:][:size]
	if which != nil {
		size, code, threshold = len(which), scratch.code, scratch.threshold[:len(which)]
		for r, i := range which {
			copy(code[r*depth:][:depth], t.c.row(lo+i))
			threshold[r] = f.threshold[lo+i]
		}
	}
	words := to - from
	f.k.ByteDotsAbove(scratch.mask, code, t.panel(from, to), depth, f.bias[from*panelColumns:to*panelColumns], threshold)
	mask := scratch.mask[:size*words]
	if from == tile { // a point pairs only with points that come later
		for i := range size {
			mask[i*words] &= math.MaxUint64 << i << 1
		}
	}
	if f.s.products != nil && f.s.rough {
		for w := range words {
			f.s.products.sharpen(scratch.products, t, tile, from+w, which, mask, words, w, func(int) float64 { return f.checker.radius2 })
		}
	}
	left := f.list(scratch, mask, tile, from, words, which, base)
	f.compared.Add(int64(size) * int64(t.start[to]-t.start[from]))
	f.left.Add(int64(left))
}

// list appends the points in a mask to the lists of the points of a tile. A row of the
// mask is of one point of the tile, as which has it, and has a word for each of words tiles
// from the tile from on. Lists that are long are checked. list returns how many points were
// in the mask.
func (f *filterPass) list(scratch *filterScratch, mask []uint64, tile, from, words int, which []int, base int) (left int) {
	t, lo := f.t, f.t.start[tile]
	// Which words are zero is hard to predict: this loop has no branch.
	count := 0
	for at, word := range mask {
		scratch.words[count&(panelColumns*runTiles-1)] = uint16(at)
		count += int((word | -word) >> 63)
	}
	row, end := 0, words
	for _, at := range scratch.words[:count] {
		for int(at) >= end {
			row, end = row+1, end+words
		}
		i := row
		if which != nil {
			i = which[row]
		}
		i += lo - base
		list, first := scratch.list[i], uint32(t.start[from+int(at)-(end-words)])
		for word := mask[at]; word != 0; word &= word - 1 {
			list = append(list, first+uint32(bits.TrailingZeros64(word)))
			left++
		}
		scratch.list[i] = list
		if len(list) >= listPoints {
			f.check(scratch, base, i)
		}
	}
	return left
}

// To read a row takes most of the time of a distance, so a distance in float64 costs little
// more than one in float32. Distances in float32 come first where rows have more than
// wideColumns columns and less than the share roughShare of the pairs that codes leave are
// within the radius.
const (
	wideColumns = 64
	roughShare  = 0.4
)

// DefinedColumns is the most columns of rows whose weights are made of distances by
// rows.Dist2, as the weights of a cell list are: it does not matter there which search
// finds a pair.
const DefinedColumns = 12

// check measures the distances of point base+i from the points in its list, and keeps the
// points within the radius.
func (f *filterPass) check(scratch *filterScratch, base, i int) {
	list, all := scratch.list[i], f.s.p.Single
	if len(list) == 0 {
		return
	}
	x := f.s.row(base + i)
	given := f.s.givenRows(list, &scratch.given)
	if f.s.rough {
		list, given = f.s.sift(f.k, x, list, given, f.checker.limit, &scratch.d32)
	}
	scratch.wide = slices.Grow(scratch.wide[:0], len(list))[:len(list)]
	f.k.SqDists64(scratch.wide, x, simd.RowsOf(all.Data, all.Stride), given)
	ind, d2 := scratch.ind[i], scratch.d2[i]
	before, defined := len(ind), f.s.p.D <= DefinedColumns
	low, high := f.checker.radius2-f.checker.band, f.checker.radius2+f.checker.band
	for e, v := range scratch.wide {
		// Next to the radius rows.Dist2 decides: simd.SqDists64 is off by (d/16 + 8) 2^-53
		// and rows.Dist2 by (d + 2) 2^-53.
		if v > high {
			continue
		}
		if defined || v >= low {
			y := rows.Dist2(x, all.Row(int(given[e])))
			if y > f.checker.radius2 {
				continue
			}
			if defined {
				v = y
			}
		}
		ind, d2 = append(ind, list[e]), append(d2, v)
	}
	scratch.ind[i], scratch.d2[i], scratch.list[i] = ind, d2, list[:0]
	scratch.found += len(ind) - before
	if held := scratch.found + scratch.kept; held > scratch.granted {
		more := max(scratch.found, held-scratch.granted)
		if !f.memory.Take(more) {
			f.memory.Exhaust()
			return
		}
		scratch.granted += more
	}
}

// store makes rows of the half of the pairs that were found from the points of a tile.
func (f *filterPass) store(scratch *filterScratch, tile, base int) {
	lo, hi := f.t.start[tile]-base, f.t.start[tile+1]-base
	found := 0
	for i := lo; i < hi; i++ {
		found += len(scratch.ind[i])
	}
	ind, val := scratch.Grow(found)
	if len(ind) < found {
		return
	}
	scratch.counts = scratch.counts[:0]
	for i := lo; i < hi; i++ {
		n := len(scratch.ind[i])
		copy(ind, scratch.ind[i])
		f.k.Weights(val[:n], scratch.d2[i], f.gamma)
		for _, j := range scratch.ind[i] {
			scratch.lower[j]++
		}
		ind, val = ind[n:], val[n:]
		scratch.counts = append(scratch.counts, uint32(n))
	}
	scratch.End(scratch.counts)
	f.half[tile] = scratch.Cut()
}

// lower returns, for each point, how many pairs it is the second of.
func (f *filterPass) lower() []uint32 {
	sum := make([]uint32, f.s.n)
	for _, scratch := range f.scratches {
		if scratch != nil {
			for i, count := range scratch.lower {
				sum[i] += count
			}
		}
	}
	return sum
}
