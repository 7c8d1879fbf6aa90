package kernel

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// A filterPass finds all pairs of points within a radius, by filters that are each
// cheaper than the next and lose no pair:
//
//	balls   points against balls around tiles: no tile beyond the radius is looked at
//	codes   integer products of the codes of points (reach)
//	float32 squared distances, given up as soon as they exceed the radius
//	float64 those within rounding of the radius, by the definition of a distance
//
// It visits each pair once, from the point that comes first, and stores half of the
// graph. A tile of points meets the others in order, so columns ascend.
type filterPass struct {
	ctx            context.Context
	t              *tiles
	k              *Kernels
	d              int
	x              []float32 // the points
	checker        checker
	gamma          float64
	threshold      []int32 // of points, and
	bias           []int32 // of columns, among each other
	ballThreshold  []int32 // of balls, and
	ballBias       []int32 // of columns with balls
	tails          *tailBounds
	rooms          []*filterRoom
	memory         memory
	pieces         []sparse.Rows // of each tile
	lower          []uint32      // how many pairs each point is the second of
	progress       *progress
	compared, left atomic.Int64 // pairs after balls, and after codes
}

func newFilterPass(ctx context.Context, s *search, b Bandwidth, radius float64, multiplicity func(i int) float64, o *Options) *filterPass {
	t, c := s.tiles, s.codes
	f := &filterPass{
		ctx: ctx, t: t, k: o.Kernels, d: s.p.d, x: s.x, checker: newChecker(radius, s.p.d), gamma: b.gamma,
		threshold: make([]int32, s.n), rooms: make([]*filterRoom, o.Workers.Workers()),
		pieces: make([]sparse.Rows, t.count()), lower: make([]uint32, s.n),
	}
	r := searchReach(c, radius)
	for i := range f.threshold {
		f.threshold[i] = r.threshold(c.norm2[i], c.sum[i], bounded(r.radius+c.slack[i]))
	}
	f.bias = t.biases(r.reach, c.slack)
	if t.balls != nil {
		f.ballThreshold, f.ballBias = t.ballTerms(radius)
	}
	f.tails = newTailBounds(t, b, radius, s.p.n, multiplicity)
	return f
}

// filterRoom is the scratch memory of a worker.
type filterRoom struct {
	rowWriter
	near      []uint64 // points of the tile that are near to each ball
	mask      []uint64
	code      []int8 // of some points of a tile
	threshold []int32
	which     []int // points of the tile
	list      [panelColumns][]uint32
	d32       []float32
	wide      []float64
	ind       [panelColumns][]uint32 // found
	d2        [panelColumns][]float64
	found     int
	granted   int // how many there is memory for
	counts    []uint32
	tail      tailRoom
}

const (
	// runTiles are compared at a time.
	runTiles = 16
	// A list of this many points is checked.
	listPoints = 256
	// What a worker may find in a tile without asking for memory.
	freeFound = 1 << 14
)

func filterRoomBytes(n, depth int) int64 {
	return int64(n)/leastTile*8 + panelColumns*(8*runTiles+int64(depth)+4+8+2*4*listPoints) + 4*2*listPoints + freeFound*24 + 8*pieceRows + 1024
}

func (f *filterPass) room(worker int) *filterRoom {
	if f.rooms[worker] == nil {
		f.rooms[worker] = &filterRoom{
			rowWriter: rowWriter{memory: &f.memory}, near: make([]uint64, f.t.count()), mask: make([]uint64, panelColumns*runTiles),
			code: make([]int8, panelColumns*f.t.c.depth), threshold: make([]int32, panelColumns), granted: freeFound,
			d32: make([]float32, listPoints+panelColumns*runTiles), tail: f.tails.room(),
		}
	}
	return f.rooms[worker]
}

// Run does one tile.
func (f *filterPass) Run(worker, tile int) {
	room, t := f.room(worker), f.t
	lo, hi := t.start[tile], t.start[tile+1]
	if f.memory.short.Load() {
		return
	}
	f.tails.bound(&room.tail, f.k, lo, hi)
	for i := range hi - lo {
		room.ind[i], room.d2[i] = room.ind[i][:0], room.d2[i][:0]
	}
	room.found = 0
	count := t.count()
	if t.balls == nil {
		for from := tile; from < count && f.alive(); from += runTiles {
			f.compare(room, tile, from, min(from+runTiles, count), nil)
		}
	} else {
		f.meet(room, tile)
	}
	for i := range hi - lo {
		f.check(room, lo, i)
	}
	if f.alive() {
		f.store(room, tile)
		f.progress.advance(count - tile)
	}
}

// alive tells whether it makes sense to go on.
func (f *filterPass) alive() bool { return !f.memory.short.Load() && f.ctx.Err() == nil }

// meet compares the points of a tile with the tiles whose balls they are near to.
func (f *filterPass) meet(room *filterRoom, tile int) {
	t, count, depth := f.t, f.t.count(), f.t.c.depth
	size := t.start[tile+1] - t.start[tile]
	near := room.near[tile:count]
	f.k.Above8(near, t.balls.code[tile*depth:], t.panel(tile, tile+1), depth, f.ballBias[tile*panelColumns:][:panelColumns], f.ballThreshold[tile:count])
	few := func(other int) bool { return bits.OnesCount64(near[other-tile]) <= size*3/4 }
	near[0] = uint64(1)<<size - 1 // itself, whatever the ball
	for from := tile; from < count; {
		switch {
		case near[from-tile] == 0:
			from++
		case few(from):
			room.which = room.which[:0]
			for word := near[from-tile]; word != 0; word &= word - 1 {
				room.which = append(room.which, bits.TrailingZeros64(word))
			}
			f.compare(room, tile, from, from+1, room.which)
			from++
		default:
			to := from + 1
			for to < min(from+runTiles, count) && !few(to) {
				to++
			}
			f.compare(room, tile, from, to, nil)
			from = to
		}
		if from%64 == 0 && !f.alive() {
			return
		}
	}
}

// compare looks for pairs of points of a tile, those given or all, with points of
// the tiles from to to-1.
func (f *filterPass) compare(room *filterRoom, tile, from, to int, which []int) {
	t, depth := f.t, f.t.c.depth
	lo, size := t.start[tile], t.start[tile+1]-t.start[tile]
	code, threshold := t.c.code[lo*depth:], f.threshold[lo:][:size]
	if which != nil {
		size, code, threshold = len(which), room.code, room.threshold[:len(which)]
		for r, i := range which {
			copy(code[r*depth:][:depth], t.c.row(lo+i))
			threshold[r] = f.threshold[lo+i]
		}
	}
	words := to - from
	f.k.Above8(room.mask, code, t.panel(from, to), depth, f.bias[from*panelColumns:to*panelColumns], threshold)
	left := 0
	for r := range size {
		i := r
		if which != nil {
			i = which[r]
		}
		mask := room.mask[r*words:][:words]
		if from == tile { // only those that come later
			mask[0] &= math.MaxUint64 << i << 1
		}
		list := room.list[i]
		before := len(list)
		for w, word := range mask {
			first := uint32(t.start[from+w])
			for ; word != 0; word &= word - 1 {
				list = append(list, first+uint32(bits.TrailingZeros64(word)))
			}
		}
		room.list[i] = list
		left += len(list) - before
		if len(list) >= listPoints {
			f.check(room, lo, i)
		}
	}
	f.compared.Add(int64(size) * int64(t.start[to]-t.start[from]))
	f.left.Add(int64(left))
}

// check measures the distances of point lo+i from those in its list.
func (f *filterPass) check(room *filterRoom, lo, i int) {
	list, d := room.list[i], f.d
	if len(list) == 0 {
		return
	}
	x := f.x[(lo+i)*d:][:d]
	room.d32 = slices.Grow(room.d32[:0], len(list))[:len(list)]
	f.k.SqDistsTo(room.d32, x, f.x, d, list, f.checker.limit)
	near := list[:0]
	for e, j := range list {
		if room.d32[e] <= f.checker.limit {
			near = append(near, j)
		}
	}
	room.wide = slices.Grow(room.wide[:0], len(near))[:len(near)]
	f.k.WideDistsTo(room.wide, x, f.x, d, near)
	ind, d2 := room.ind[i], room.d2[i]
	before := len(ind)
	for e, j := range near {
		if v := room.wide[e]; f.checker.within(v, x, f.x[int(j)*d:][:d]) {
			ind, d2 = append(ind, j), append(d2, v)
		}
	}
	room.ind[i], room.d2[i], room.list[i] = ind, d2, list[:0]
	room.found += len(ind) - before
	if room.found > room.granted {
		if !f.memory.take(room.found) {
			f.memory.short.Store(true)
			return
		}
		room.granted += room.found
	}
}

// store hands over what was found from the points of a tile.
func (f *filterPass) store(room *filterRoom, tile int) {
	size := f.t.start[tile+1] - f.t.start[tile]
	ind, val := room.room(room.found)
	if len(ind) < room.found {
		return
	}
	room.counts = room.counts[:0]
	for i := range size {
		n := len(room.ind[i])
		copy(ind, room.ind[i])
		f.k.Weights(val[:n], room.d2[i], f.gamma)
		for _, j := range room.ind[i] {
			atomic.AddUint32(&f.lower[j], 1)
		}
		ind, val = ind[n:], val[n:]
		room.counts = append(room.counts, uint32(n))
	}
	room.rows(room.counts)
	f.pieces[tile] = room.cut()
}

// A checker decides whether two points are within a radius of each other.
type checker struct {
	radius2 float64 // as radiusSquared has it
	band    float64 // squared distances so near to it are summed up once more
	limit   float32 // above which a distance in float32 is beyond it
}

func newChecker(radius float64, d int) checker {
	r2 := radiusSquared(radius)
	// simd.SqDistsTo is off by (d/64 + 10) 2^-24, and by d 2^-149 where squares are
	// too small for float32; and the distance that decides by (d + 2) 2^-53.
	limit := r2*(1+float64(d/64+12)*0x1p-24) + float64(d)*0x1p-148
	c := checker{radius2: r2, band: r2 * float64(2*d+16) * 0x1p-53, limit: float32(math.Inf(1))}
	if limit < math.MaxFloat32 {
		c.limit = roundUp(limit)
	}
	return c
}

// within tells whether x and y, whose squared distance is d2 by simd.WideDistsTo, are
// within the radius by dist2. The two are off by (d/16 + 8) and by (d + 2) 2^-53.
func (c *checker) within(d2 float64, x, y []float32) bool {
	if math.Abs(d2-c.radius2) <= c.band {
		d2 = dist2(x, y)
	}
	return d2 <= c.radius2
}
