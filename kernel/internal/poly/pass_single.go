package poly

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// polySinglePass is the pass of poly with panels of float32.
//
// The polynomial in y_i.y_j of order P is a sum over the monomials of y_i and
// y_j, and those are nested: a monomial of degree r is a coordinate b times one
// of degree r-1 whose coordinates are all b or later. So there are no panels of
// monomials. Where the weights of rows are multiplied with coordinate b, the
// sums over rows of weight times coordinates b, b+1, ... are those of the
// monomials that begin with b, and so on; on the way back the same nest is
// evaluated as Horner's scheme does. Moments are kept by segments, one for each
// visit, of k rows each.
type polySinglePass struct {
	*step.Product[float32]
	op *Poly

	// shift is what is taken from x before, and put back after, W 1 being known: the
	// mean in a step, where the errors of products are then relative to the spread
	// of x, and zero otherwise.
	shift   []float64
	partial []float64 // of each chunk: k sums of f x, then moments
	total   []float64
	values  []float32 // moments times coefficients
	scratch []polySingleScratch
	tables  step.FinishTables
}

// polySingleScratch is the scratch memory of a worker.
type polySingleScratch struct {
	panel   []float32
	low     []float32   // coordinates along the axes of a projection
	weights [][]float32 // rows x k, by depth
	results [][]float32 // k x rows, by depth
	sums    []float32   // a segment
	wx      []float64
	tile    []float32 // a panel of W x
}

func newPolySinglePass(op *Poly, p *step.Product[float32]) *polySinglePass {
	k, d := p.K, op.Frame.p.D
	size := (1 + len(op.coefficients)) * k
	pass := &polySinglePass{
		Product: p, op: op, partial: make([]float64, (len(op.Bounds)-1)*size), total: make([]float64, size),
		values: make([]float32, size-k), shift: make([]float64, k), scratch: make([]polySingleScratch, op.Workers.Count()),
	}
	for i := range pass.scratch {
		scratch := &pass.scratch[i]
		scratch.panel, scratch.sums, scratch.wx, scratch.tile = make([]float32, polyPanel*d), make([]float32, d*k), make([]float64, k), make([]float32, polyPanel*k)
		if op.Low != nil {
			scratch.low = make([]float32, polyPanel*op.Low.m)
		}
		for range max(op.Series.Order(), 1) {
			scratch.weights = append(scratch.weights, make([]float32, polyPanel*k))
			scratch.results = append(scratch.results, make([]float32, polyPanel*k))
		}
	}
	return pass
}

// Prepare makes the moments of x.
func (pass *polySinglePass) Prepare(ctx context.Context) error {
	if pass.Stats != nil {
		copy(pass.shift, pass.Stats.Finish.Mean)
		pass.tables.Set(pass.Stats, len(pass.scratch))
	}
	if err := pass.op.DoChunks(ctx, pass, pass.partial); err != nil {
		return err
	}
	pass.combine()
	return nil
}

// combine adds the chunks and multiplies the moments with their coefficients.
func (pass *polySinglePass) combine() {
	addChunks(pass.total, pass.partial)
	moments := pass.total[pass.K:]
	pass.op.eachSegment(func(first, width int) {
		coefficients := pass.op.coefficients[first:][:width]
		for c := range pass.K {
			at := first*pass.K + c*width
			for t, v := range coefficients {
				pass.values[at+t] = float32(v * moments[at+t])
			}
		}
	})
}

// addChunks sets total to the sum of the chunks, in their order.
func addChunks(total, chunks []float64) {
	size := copy(total, chunks)
	for from := size; from < len(chunks); from += size {
		for i, v := range chunks[from:][:size] {
			total[i] += v
		}
	}
}

// NeedsAll says that a rank needs no rows of x but its own: others send it their moments.
func (pass *polySinglePass) NeedsAll() bool { return false }

// Run adds up the moments of one chunk of rows.
func (pass *polySinglePass) Run(worker, chunk int) {
	sums := pass.partial[chunk*len(pass.total):][:len(pass.total)]
	clear(sums)
	for lo, end := pass.op.Bounds[chunk], pass.op.Bounds[chunk+1]; lo < end; lo += polyPanel {
		hi := min(lo+polyPanel, end)
		pass.gather(pass.load(worker, lo, hi), sums, lo, hi)
	}
}

// MakeRows makes one chunk of rows.
func (pass *polySinglePass) MakeRows(worker, chunk int) {
	fast := pass.Stats != nil
	if fast {
		pass.tables.Begin(worker, chunk)
	}
	for lo, end := pass.op.Bounds[chunk], pass.op.Bounds[chunk+1]; lo < end; lo += polyPanel {
		hi := min(lo+polyPanel, end)
		scratch := pass.load(worker, lo, hi)
		pass.scatter(scratch, chunk, lo, hi, fast)
		if fast {
			pass.tables.Rows(pass.op.Kernels, worker, chunk, lo, hi, pass.Dst, pass.X, scratch.tile)
		}
	}
	if fast {
		pass.tables.End(worker, chunk)
	}
}

// load leaves the coordinates of rows lo to hi-1 in the scratch of a worker.
func (pass *polySinglePass) load(worker, lo, hi int) *polySingleScratch {
	scratch, op := &pass.scratch[worker], pass.op
	if op.Series.Order() > 0 && !pass.direct() {
		op.Frame.load32(scratch.panel, lo, hi)
	}
	if op.Low != nil {
		copy(scratch.low, op.Low.low[lo*op.Low.m:hi*op.Low.m])
	}
	return scratch
}

// gather adds the moments of a panel to sums.
func (pass *polySinglePass) gather(scratch *polySingleScratch, sums []float64, lo, hi int) {
	op, k, w := pass.op, pass.K, scratch.weights[0]
	for i := lo; i < hi; i++ {
		f, row := op.Factor[i], w[(i-lo)*k:][:k]
		for c, v := range pass.X.Row(i) {
			fx := f * (float64(v) - pass.shift[c])
			sums[c] += fx
			row[c] = float32(fx)
		}
	}
	switch {
	case pass.direct():
		op.Frame.sums32(simd.RowsOf(scratch.sums, op.Frame.p.D), simd.RowsOf(w, k), k, lo, hi)
		sums = sums[k:]
		for i, v := range scratch.sums {
			sums[i] += float64(v)
		}
	case op.Series.Order() > 0:
		pass.addMoments(scratch, sums[k:], hi-lo, 0, 0)
	}
}

// direct reports whether rows are read where they are.
func (pass *polySinglePass) direct() bool {
	return pass.op.Series.Order() == 1
}

// coordinates returns the panel that monomials at a depth go on with, and its width:
// the first coordinate is one of all, the others may be along axes.
func (pass *polySinglePass) coordinates(scratch *polySingleScratch, depth int) ([]float32, int) {
	if depth > 0 && pass.op.Low != nil {
		return scratch.low, pass.op.Low.m
	}
	return scratch.panel, pass.op.Frame.p.D
}

// addMoments adds the moments of all monomials that begin with those the weights
// of this depth have been multiplied with, and go on with coordinates from first
// on; it returns what is left of sums.
func (pass *polySinglePass) addMoments(scratch *polySingleScratch, sums []float64, rows, first, depth int) []float64 {
	panel, d := pass.coordinates(scratch, depth)
	k, w := pass.K, scratch.weights[depth]
	width := d - first
	part := scratch.sums[:width*k]
	pass.op.Kernels.MulTrans(simd.RowsOf(part, width), simd.RowsOf(w, k), simd.RowsOf(panel[first:], d), k, rows, width)
	for i, v := range part {
		sums[i] += float64(v)
	}
	sums = sums[width*k:]
	if depth+1 == pass.op.Series.Order() {
		return sums
	}
	next := scratch.weights[depth+1]
	panel, d = pass.coordinates(scratch, depth+1)
	for b := first; b < d; b++ {
		for r := range rows {
			v := panel[r*d+b]
			for c := range k {
				next[r*k+c] = w[r*k+c] * v
			}
		}
		sums = pass.addMoments(scratch, sums, rows, b, depth+1)
	}
	return sums
}

// evaluate leaves, for each row of a panel, the sum over the monomials that
// addMoments visits, in results of this depth; it returns what is left of values.
func (pass *polySinglePass) evaluate(scratch *polySingleScratch, values []float32, rows, first, depth int) []float32 {
	panel, d := pass.coordinates(scratch, depth)
	k, out := pass.K, scratch.results[depth]
	width := d - first
	pass.op.Kernels.Dots(simd.RowsOf(out, polyPanel), simd.RowsOf(values, width), simd.RowsOf(panel[first:], d), k, rows, width)
	values = values[width*k:]
	if depth+1 == pass.op.Series.Order() {
		return values
	}
	inner := scratch.results[depth+1]
	panel, d = pass.coordinates(scratch, depth+1)
	for b := first; b < d; b++ {
		values = pass.evaluate(scratch, values, rows, b, depth+1)
		for c := range k {
			to, from := out[c*polyPanel:][:rows], inner[c*polyPanel:][:rows]
			for r, v := range from {
				to[r] += panel[r*d+b] * v
			}
		}
	}
	return values
}

// scatter makes the rows of a panel, or leaves W x in the tile of the scratch.
func (pass *polySinglePass) scatter(scratch *polySingleScratch, chunk, lo, hi int, fast bool) {
	op, wx, out := pass.op, scratch.wx, scratch.results[0]
	switch {
	case pass.direct():
		op.Frame.products32(simd.RowsOf(out, polyPanel), simd.RowsOf(pass.values, op.Frame.p.D), pass.K, lo, hi)
	case op.Series.Order() > 0:
		pass.evaluate(scratch, pass.values, hi-lo, 0, 0)
	default:
		clear(out)
	}
	x, shift, stepping := pass.X, pass.shift, pass.Stats != nil
	for i := lo; i < hi; i++ {
		f, self := op.Factor[i], op.self[i]
		for c, v := range x.Row(i) {
			sum := float64(op.Series.A[0]*pass.total[c]) + float64(out[c*polyPanel+i-lo])
			wx[c] = float64(f*sum) - float64(self*(float64(v)-shift[c]))
			if stepping {
				wx[c] += float64(op.RowSums[i] * shift[c])
			}
		}
		if !fast {
			pass.Put(chunk, i, wx)
			continue
		}
		tile := scratch.tile[(i-lo)*pass.K:][:pass.K]
		for c, v := range wx {
			tile[c] = float32(v)
		}
	}
}
