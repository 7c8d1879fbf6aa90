package truncated

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// truncatedPass is the pass of csr and pairs.
type truncatedPass struct {
	*step.Product[float32]
	op      *Truncated
	tile    int // rows of a tile
	tables  step.FinishTables
	scratch []truncatedScratch // of each worker
	sums    []float32          // of x over equal points, distinct points x k; nil when no points are equal
	first   int                // chunk of the pieces that workers sum
	halo    *transfer          // of a step of ranks that exchange what they need; nil otherwise
}

// truncatedScratch is the scratch memory of a worker.
type truncatedScratch struct {
	wx   []float32 // a tile of W x
	wide []float64 // a row
	rows graph.RowReader
}

func newTruncatedPass(op *Truncated, p *step.Product[float32]) *truncatedPass {
	k := p.K
	pass := &truncatedPass{Product: p, op: op, tile: step.PassTileRows(k), scratch: make([]truncatedScratch, op.Workers.Count())}
	if op.Group != nil {
		pass.sums = make([]float32, op.Rows.Rows()*k)
	}
	if op.Halo.Used {
		pass.halo = newTransfer(op, k)
	}
	for i := range pass.scratch {
		scratch := &pass.scratch[i]
		scratch.wx, scratch.wide, scratch.rows = make([]float32, pass.tile*k), make([]float64, k), op.Rows.Reader(k)
	}
	return pass
}

// Prepare sums x over equal points, where there are any, and asks other ranks for the rows
// that the weights of this one refer to. In a product that is no step x is complete.
func (pass *truncatedPass) Prepare(ctx context.Context) error {
	if pass.Stats != nil {
		pass.tables.Set(pass.Stats, len(pass.scratch))
	}
	from, to, shared := 0, pass.op.Rows.Chunks(), pass.Stats != nil && !pass.op.Ranks.Alone()
	if shared {
		from, to = pass.op.OwnChunks()
	}
	if pass.sums != nil {
		pass.first = from
		if err := pass.op.Workers.Do(ctx, to-from, pass); err != nil {
			return err
		}
	}
	if shared {
		return pass.fetch(ctx)
	}
	return nil
}

// Run sums one chunk of x over equal points.
func (pass *truncatedPass) Run(worker, piece int) {
	pass.addChunk(&pass.scratch[worker], pass.first+piece)
}

// fetch asks for rows of other ranks: for those of the halo, or for all of them.
func (pass *truncatedPass) fetch(ctx context.Context) error {
	factors, stride := pass.factors()
	switch {
	case pass.halo != nil:
		return pass.halo.begin(ctx, factors, stride)
	case pass.sums == nil:
		return step.CompleteRows(ctx, &pass.op.Base, pass.X)
	}
	bounds := slices.Clone(pass.op.Halo.Bounds)
	for r := range bounds {
		bounds[r] *= pass.K
	}
	return exchange.Gather(ctx, pass.op.Ranks, pass.sums, bounds)
}

// factors are what weights are multiplied with: rows of x or, where points are equal, sums.
func (pass *truncatedPass) factors() (data []float32, stride int) {
	if pass.sums != nil {
		return pass.sums, pass.K
	}
	return pass.X.Data, pass.X.Stride
}

// NeedsAll is false: fetch brings what a step needs.
func (pass *truncatedPass) NeedsAll() bool { return false }

// Fetching reports whether rows of the halo are under way.
func (pass *truncatedPass) Fetching() (early, late []int, underway bool) {
	if pass.halo == nil || pass.halo.wait == nil {
		return nil, nil, false
	}
	return pass.halo.Interior, pass.halo.Boundary, true
}

// Fetched waits for the rows of the halo.
func (pass *truncatedPass) Fetched(ctx context.Context) error {
	factors, stride := pass.factors()
	return pass.halo.end(ctx, factors, stride)
}

// MakeRows makes the rows of one chunk of weights.
func (pass *truncatedPass) MakeRows(worker, chunk int) {
	if pass.Stats == nil {
		pass.multiply(&pass.scratch[worker], chunk)
		return
	}
	pass.step(worker, chunk)
}

// multiply writes a chunk of W x to dst, and tells of numbers that are not finite
// among its rows of x, which the product has just read.
func (pass *truncatedPass) multiply(scratch *truncatedScratch, chunk int) {
	op, k, x, dst := pass.op, pass.K, pass.X, pass.Dst
	lo, hi := op.Bounds[chunk], op.Bounds[chunk+1]
	if pass.sums == nil {
		scratch.rows.Mul(dst.Data[lo*dst.Stride:], dst.Stride, lo, hi, k, x.Data, x.Stride)
	} else {
		for from := lo; from < hi; from += pass.tile {
			to := min(from+pass.tile, hi)
			pass.multiplyTile(scratch, chunk, from, to)
			for i := from; i < to; i++ {
				copy(dst.Row(i), scratch.wx[(i-from)*k:][:k])
			}
		}
	}
	if !op.Kernels.Finite(x.Data[lo*x.Stride:(hi-1)*x.Stride+k]) && base.CheckFinite("x", rows.NewView(hi-lo, k, x.Stride, x.Data[lo*x.Stride:])) != nil {
		pass.NonFinite.Store(true)
	}
}

// step makes a chunk of the next iterate.
func (pass *truncatedPass) step(worker, chunk int) {
	op, scratch := pass.op, &pass.scratch[worker]
	lo, hi := op.Bounds[chunk], op.Bounds[chunk+1]
	pass.tables.Begin(worker, chunk)
	faint, _ := slices.BinarySearch(op.Faint, uint32(lo))
	for from := lo; from < hi; {
		to := min(from+pass.tile, hi)
		if faint < len(op.Faint) {
			at := int(op.Faint[faint])
			if at == from {
				pass.faintRow(scratch, chunk, from)
				from, faint = from+1, faint+1
				continue
			}
			to = min(to, at)
		}
		pass.multiplyTile(scratch, chunk, from, to)
		pass.tables.Rows(op.Kernels, worker, chunk, from, to, pass.Dst, pass.X, scratch.wx)
		from = to
	}
	pass.tables.End(worker, chunk)
}

// faintRow makes row i of the next iterate with a product in float64.
func (pass *truncatedPass) faintRow(scratch *truncatedScratch, chunk, i int) {
	op, wx := pass.op, scratch.wide
	if pass.sums == nil {
		ind, val := scratch.rows.Weights(i)
		step.MulRow(wx, ind, val, pass.X.Data, pass.X.Stride)
	} else {
		g := op.point(chunk, i)
		ind, val := scratch.rows.Weights(g)
		step.MulRow(wx, ind, val, pass.sums, pass.K)
		for c, v := range pass.X.Row(i) {
			wx[c] += float64(pass.sums[g*pass.K+c]) - float64(v)
		}
	}
	pass.Put(chunk, i, wx)
}

// multiplyTile leaves rows from to to-1 of W x in scratch.wx.
func (pass *truncatedPass) multiplyTile(scratch *truncatedScratch, chunk, from, to int) {
	op, k := pass.op, pass.K
	if pass.sums == nil {
		scratch.rows.Mul(scratch.wx, k, from, to, k, pass.X.Data, pass.X.Stride)
		return
	}
	first, last := op.point(chunk, from), op.point(chunk, to-1)
	scratch.rows.Mul(scratch.wx, k, first, last+1, k, pass.sums, k)
	// The products of distinct points become those of rows, from the last on: there
	// are no fewer rows, and none is written before its place has been read. Rows
	// before which no point has an equal one are in their places.
	whole := op.First(first) == from && op.First(last+1) == to
	if whole && last-first == to-1-from {
		return
	}
	for i, g := to-1, last; i >= from; i-- {
		if op.First(g) > i {
			g--
		}
		others, equal, wx := scratch.wx[(g-first)*k:][:k], pass.sums[g*k:][:k], scratch.wx[(i-from)*k:][:k]
		for c, v := range pass.X.Row(i) {
			// In this order a point without equals adds exactly zero.
			wx[c] = float32(float64(others[c]) + (float64(equal[c]) - float64(v)))
		}
	}
}

// addChunk sums x over the points equal to each distinct one of a chunk. Mostly few
// are, and tiles without them are copied.
func (pass *truncatedPass) addChunk(scratch *truncatedScratch, chunk int) {
	op, k, x := pass.op, pass.K, pass.X
	lo, hi := op.Rows.Chunk(chunk)
	for from := lo; from < hi; from += pass.tile {
		to := min(from+pass.tile, hi)
		first, behind := op.First(from), op.First(to)
		switch {
		case behind-first > to-from:
			for g := from; g < to; g++ {
				pass.addEqual(scratch.wide, g)
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
	for i := pass.op.First(g); i < pass.op.First(g+1); i++ {
		for c, v := range pass.X.Row(i) {
			sum[c] += float64(v)
		}
	}
	for c, v := range sum {
		pass.sums[g*pass.K+c] = float32(v)
	}
}
