package kernel

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/simd"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// truncatedPass is the state of one product of csr or pairs; it is reused from step to step.
type truncatedPass struct {
	op        *truncated
	k, tile   int // columns, rows of a tile
	dst, x    rows.View[float32]
	stats     *Stats // nil: dst = W x
	tables    finishTables
	room      []passRoom // of each worker
	sums      []float32  // of x over equal points, distinct points x k; nil if none are
	adding    bool       // first half, where points are equal: fill sums
	nonFinite atomic.Bool
}

// passTile is the most rows whose products are made before they are used. They stay
// in the second-level cache. Products and the rest of a step wait for different
// things, memory and arithmetic, and every change from one to the other costs: with
// 32 columns tiles of 64 rows take a tenth longer.
const passTile = 1024

// passTileRows is the number of rows of a tile of k columns.
func passTileRows(k int) int { return max(64, min(passTile, 1<<15/k&^15)) }

// passRoom is the scratch memory of a worker.
type passRoom struct {
	wx     []float32 // a tile of W x
	wide   []float64 // a row
	rows   rowReader
	finish simd.StepFinish
}

func newTruncatedPass(op *truncated, k int) *truncatedPass {
	pass := &truncatedPass{op: op, k: k, tile: passTileRows(k), room: make([]passRoom, op.workers.Count())}
	if op.group != nil {
		pass.sums = make([]float32, op.rows.Rows()*k)
	}
	for i := range pass.room {
		room := &pass.room[i]
		room.wx, room.wide, room.rows = make([]float32, pass.tile*k), make([]float64, k), op.rows.reader(k)
	}
	return pass
}

// grow makes room for the classes of any chunk, so that no later step allocates,
// whichever worker takes which chunk.
func (pass *truncatedPass) grow(ps *partials) {
	slots := 0
	for i := range ps.chunk {
		slots = max(slots, len(ps.chunk[i].classes)+1)
	}
	for i := range pass.room {
		f := &pass.room[i].finish
		f.Weight, f.Extra = slices.Grow(f.Weight[:0], slots), slices.Grow(f.Extra[:0], slots)
		f.Target = slices.Grow(f.Target[:0], slots*pass.k)
		f.Class = slices.Grow(f.Class[:0], slots*simd.ClassWidth(pass.k))
	}
}

func (pass *truncatedPass) run(ctx context.Context, dst, x rows.View[float32], st *Stats) (err error) {
	pass.dst, pass.x, pass.stats = dst, x, st
	pass.nonFinite.Store(false)
	chunks := pass.op.rows.Chunks()
	if pass.sums != nil {
		pass.adding = true
		err = pass.op.workers.Do(ctx, chunks, pass)
		pass.adding = false
	}
	if err == nil {
		err = pass.op.workers.Do(ctx, chunks, pass)
	}
	pass.dst, pass.x, pass.stats = rows.View[float32]{}, rows.View[float32]{}, nil
	return productError(pass.op.name, err)
}

// Run does one chunk of weights.
func (pass *truncatedPass) Run(worker, chunk int) {
	room := &pass.room[worker]
	switch {
	case pass.adding:
		pass.addChunk(room, chunk)
	case pass.stats == nil:
		pass.multiply(room, chunk)
	default:
		pass.step(room, chunk)
	}
}

// multiply writes a chunk of W x to dst, and tells of numbers that are not finite
// among its rows of x, which the product has just read.
func (pass *truncatedPass) multiply(room *passRoom, chunk int) {
	op, k, x, dst := pass.op, pass.k, pass.x, pass.dst
	lo, hi := op.bounds[chunk], op.bounds[chunk+1]
	if pass.sums == nil {
		room.rows.mul(dst.Data[lo*dst.Stride:], dst.Stride, lo, hi, k, x.Data, x.Stride)
	} else {
		for from := lo; from < hi; from += pass.tile {
			to := min(from+pass.tile, hi)
			pass.product(room, chunk, from, to)
			for i := from; i < to; i++ {
				copy(dst.Row(i), room.wx[(i-from)*k:][:k])
			}
		}
	}
	if !op.kernels.Finite(x.Data[lo*x.Stride:(hi-1)*x.Stride+k]) && checkFinite("x", rows.NewView(hi-lo, k, x.Stride, x.Data[lo*x.Stride:])) != nil {
		pass.nonFinite.Store(true)
	}
}

// step makes a chunk of the next iterate.
func (pass *truncatedPass) step(room *passRoom, chunk int) {
	op, p, dst, x := pass.op, &pass.stats.partials.chunk[chunk], pass.dst, pass.x
	lo, hi := op.bounds[chunk], op.bounds[chunk+1]
	pass.tables.begin(&room.finish, p)
	faint, _ := slices.BinarySearch(op.faint, uint32(lo))
	for from := lo; from < hi; {
		to := min(from+pass.tile, hi)
		if faint < len(op.faint) {
			at := int(op.faint[faint])
			if at == from {
				pass.faintRow(room, chunk, from)
				from, faint = from+1, faint+1
				continue
			}
			to = min(to, at)
		}
		pass.product(room, chunk, from, to)
		op.kernels.FinishStep(&room.finish, simd.RowsOf(dst.Data[from*dst.Stride:], dst.Stride), simd.RowsOf(x.Data[from*x.Stride:], x.Stride),
			room.wx, op.degrees[from:to], pass.tables.slots(p, from, to))
		from = to
	}
	pass.tables.end(&room.finish, p)
}

// faintRow makes row i of the next iterate with a product in float64.
func (pass *truncatedPass) faintRow(room *passRoom, chunk, i int) {
	op, wx := pass.op, room.wide
	if pass.sums == nil {
		ind, val := room.rows.row(i)
		sparse.MulRow(wx, ind, val, pass.x.Data, pass.x.Stride)
	} else {
		g := op.point(chunk, i)
		ind, val := room.rows.row(g)
		sparse.MulRow(wx, ind, val, pass.sums, pass.k)
		for c, v := range pass.x.Row(i) {
			wx[c] += float64(pass.sums[g*pass.k+c]) - float64(v)
		}
	}
	finishRow(&pass.stats.finish, &pass.stats.partials.chunk[chunk], i, op.degrees[i], wx, pass.x.Row(i), pass.dst.Row(i))
}

// product leaves rows from to to-1 of W x in room.wx.
func (pass *truncatedPass) product(room *passRoom, chunk, from, to int) {
	op, k := pass.op, pass.k
	if pass.sums == nil {
		room.rows.mul(room.wx, k, from, to, k, pass.x.Data, pass.x.Stride)
		return
	}
	first, last := op.point(chunk, from), op.point(chunk, to-1)
	room.rows.mul(room.wx, k, first, last+1, k, pass.sums, k)
	// The products of distinct points become those of rows, from the last on: there
	// are no fewer rows, and none is written before its place has been read. Rows
	// before which no point has an equal one are in their places.
	whole := op.first(first) == from && op.first(last+1) == to
	if whole && last-first == to-1-from {
		return
	}
	for i, g := to-1, last; i >= from; i-- {
		if op.first(g) > i {
			g--
		}
		others, equal, wx := room.wx[(g-first)*k:][:k], pass.sums[g*k:][:k], room.wx[(i-from)*k:][:k]
		for c, v := range pass.x.Row(i) {
			// In this order a point without equals adds exactly zero.
			wx[c] = float32(float64(others[c]) + (float64(equal[c]) - float64(v)))
		}
	}
}

// addChunk sums x over the points equal to each distinct one of a chunk. Mostly few
// are, and tiles without them are copied.
func (pass *truncatedPass) addChunk(room *passRoom, chunk int) {
	op, k, x := pass.op, pass.k, pass.x
	lo, hi := op.rows.Chunk(chunk)
	for from := lo; from < hi; from += pass.tile {
		to := min(from+pass.tile, hi)
		first, behind := op.first(from), op.first(to)
		switch {
		case behind-first > to-from:
			for g := from; g < to; g++ {
				pass.addEqual(room.wide, g)
			}
		case x.Stride == k:
			copy(pass.sums[from*k:], x.Data[first*k:behind*k])
		default:
			for g := from; g < to; g++ {
				copy(pass.sums[g*k:], x.Row(first+g-from))
			}
		}
	}
}

// addEqual sums x over the points equal to distinct point g, in float64.
func (pass *truncatedPass) addEqual(sum []float64, g int) {
	clear(sum)
	for i := pass.op.first(g); i < pass.op.first(g+1); i++ {
		for c, v := range pass.x.Row(i) {
			sum[c] += float64(v)
		}
	}
	for c, v := range sum {
		pass.sums[g*pass.k+c] = float32(v)
	}
}
