package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/simd"
)

// polyArithmetic is how panels of type E are made and multiplied.
type polyArithmetic[E rows.Float] struct {
	// load writes rows of the frame, d numbers each.
	load func(dst []E, lo, hi int)
	// mulTrans sets dst = w' a, k x cols; see simd.Kernels.MulTrans.
	mulTrans func(dst, w, a simd.Rows[E], k, rows, cols int)
	// dots sets dst[i,j] to the product of row i of a and row j of b.
	dots func(dst, a, b simd.Rows[E], na, nb, d int)
	// sums and products are mulTrans and dots of the rows lo to hi-1 themselves, for
	// degree 1, where no panel is needed; nil where there is no such kernel.
	sums     func(dst, w simd.Rows[E], k, lo, hi int)
	products func(dst, b simd.Rows[E], k, lo, hi int)
}

func polySingle(fr *polyFrame) *polyArithmetic[float32] {
	return &polyArithmetic[float32]{fr.load32, fr.kernels.MulTrans, fr.kernels.Dots, fr.sums32, fr.products32}
}

func polyDouble(fr *polyFrame) *polyArithmetic[float64] {
	return &polyArithmetic[float64]{load: fr.load64, mulTrans: mulTrans64, dots: dots64}
}

func mulTrans64(dst, w, a simd.Rows[float64], k, rows, cols int) {
	for c := range k {
		out := dst.Data[c*dst.Stride:][:cols]
		clear(out)
		for r := range rows {
			gonum.Implementation{}.Daxpy(cols, w.Data[r*w.Stride+c], a.Data[r*a.Stride:], 1, out, 1)
		}
	}
}

func dots64(dst, a, b simd.Rows[float64], na, nb, d int) {
	for i := range na {
		for j := range nb {
			dst.Data[i*dst.Stride+j] = gonum.Implementation{}.Ddot(d, a.Data[i*a.Stride:], 1, b.Data[j*b.Stride:], 1)
		}
	}
}

// polyPass is the pass of poly. T is the type of the iterate, E that of panels.
//
// The polynomial in y_i.y_j of order P is a sum over the monomials of y_i and
// y_j, and those are nested: a monomial of degree r is a coordinate b times one
// of degree r-1 whose coordinates are none before b. So there are no panels of
// monomials. Where the weights of rows are multiplied with coordinate b, the
// sums over rows of weight times coordinates b, b+1, ... are those of the
// monomials that begin with b, and so on; on the way back the same nest is
// evaluated as Horner's scheme does. Moments are kept by segments, one for each
// visit, of k rows each.
type polyPass[E, T rows.Float] struct {
	*product[T]
	op   *poly
	math *polyArithmetic[E]

	// shift is what is taken from x before, and put back after, W 1 being known: the
	// mean in a step, where the errors of products are then relative to the spread
	// of x, and zero otherwise.
	shift   []float64
	partial []float64 // of each chunk: k sums of f x, then moments
	total   []float64
	values  []E // moments times coefficients
	scratch []polyScratch[E]
	tables  finishTables
	single  *product[float32] // the product itself where E and T are float32: tables finish its rows; nil elsewhere
}

// polyScratch is the scratch memory of a worker.
type polyScratch[E rows.Float] struct {
	panel   []E
	low     []E   // coordinates along the axes of a projection
	weights [][]E // rows x k, by depth
	results [][]E // k x rows, by depth
	sums    []E   // a segment
	wx      []float64
	tile    []float32 // a panel of W x in float32
}

func newPolyPass[E, T rows.Float](op *poly, math *polyArithmetic[E], p *product[T]) *polyPass[E, T] {
	k, d := p.k, op.frame.p.D
	size := (1 + op.terms()) * k
	pass := &polyPass[E, T]{
		product: p, op: op, math: math, partial: make([]float64, (len(op.bounds)-1)*size), total: make([]float64, size),
		values: make([]E, size-k), shift: make([]float64, k), scratch: make([]polyScratch[E], op.workers.Count()),
	}
	if _, ok := any(math).(*polyArithmetic[float32]); ok {
		pass.single, _ = any(p).(*product[float32])
	}
	for i := range pass.scratch {
		scratch := &pass.scratch[i]
		scratch.panel, scratch.sums, scratch.wx, scratch.tile = make([]E, polyPanel*d), make([]E, d*k), make([]float64, k), make([]float32, polyPanel*k)
		if op.low != nil {
			scratch.low = make([]E, polyPanel*op.low.m)
		}
		for range max(op.series.order(), 1) {
			scratch.weights = append(scratch.weights, make([]E, polyPanel*k))
			scratch.results = append(scratch.results, make([]E, polyPanel*k))
		}
	}
	return pass
}

// prepare makes the moments of x.
func (pass *polyPass[E, T]) prepare(ctx context.Context) error {
	if pass.stats != nil {
		copy(pass.shift, pass.stats.finish.mean)
		if pass.single != nil {
			pass.tables.set(pass.stats, len(pass.scratch))
		}
	}
	if err := pass.op.workers.Do(ctx, len(pass.op.bounds)-1, pass); err != nil {
		return err
	}
	pass.combine()
	return nil
}

// combine adds the chunks and multiplies the moments with their coefficients.
func (pass *polyPass[E, T]) combine() {
	size := len(pass.total)
	copy(pass.total, pass.partial[:size])
	for from := size; from < len(pass.partial); from += size {
		for i, v := range pass.partial[from:][:size] {
			pass.total[i] += v
		}
	}
	moments := pass.total[pass.k:]
	pass.op.eachSegment(func(first, width int) {
		coefficients := pass.op.coefficients[first:][:width]
		for c := range pass.k {
			at := first*pass.k + c*width
			for t, v := range coefficients {
				pass.values[at+t] = E(v * moments[at+t])
			}
		}
	})
}

// Run adds up the moments of one chunk of rows.
func (pass *polyPass[E, T]) Run(worker, chunk int) {
	sums := pass.partial[chunk*len(pass.total):][:len(pass.total)]
	clear(sums)
	for lo, end := pass.op.bounds[chunk], pass.op.bounds[chunk+1]; lo < end; lo += polyPanel {
		hi := min(lo+polyPanel, end)
		pass.gather(pass.load(worker, lo, hi), sums, lo, hi)
	}
}

// rows makes one chunk of rows.
func (pass *polyPass[E, T]) rows(worker, chunk int) {
	fast := pass.single != nil && pass.stats != nil
	if fast {
		pass.tables.begin(worker, chunk)
	}
	for lo, end := pass.op.bounds[chunk], pass.op.bounds[chunk+1]; lo < end; lo += polyPanel {
		hi := min(lo+polyPanel, end)
		scratch := pass.load(worker, lo, hi)
		pass.scatter(scratch, chunk, lo, hi, fast)
		if fast {
			pass.tables.rows(pass.op.kernels, worker, chunk, lo, hi, pass.single.dst, pass.single.x, scratch.tile)
		}
	}
	if fast {
		pass.tables.end(worker, chunk)
	}
}

// load leaves the coordinates of rows lo to hi-1 in the scratch of a worker.
func (pass *polyPass[E, T]) load(worker, lo, hi int) *polyScratch[E] {
	scratch, op := &pass.scratch[worker], pass.op
	if op.series.order() > 0 && !pass.direct() {
		pass.math.load(scratch.panel, lo, hi)
	}
	if op.low != nil {
		for i, v := range op.low.low[lo*op.low.m : hi*op.low.m] {
			scratch.low[i] = E(v)
		}
	}
	return scratch
}

// gather adds the moments of a panel to sums.
func (pass *polyPass[E, T]) gather(scratch *polyScratch[E], sums []float64, lo, hi int) {
	op, k, w := pass.op, pass.k, scratch.weights[0]
	for i := lo; i < hi; i++ {
		f, row := op.factor[i], w[(i-lo)*k:][:k]
		for c, v := range pass.x.Row(i) {
			fx := f * (float64(v) - pass.shift[c])
			sums[c] += fx
			row[c] = E(fx)
		}
	}
	switch {
	case pass.direct():
		pass.math.sums(simd.RowsOf(scratch.sums, op.frame.p.D), simd.RowsOf(w, k), k, lo, hi)
		sums = sums[k:]
		for i, v := range scratch.sums {
			sums[i] += float64(v)
		}
	case op.series.order() > 0:
		pass.addMoments(scratch, sums[k:], hi-lo, 0, 0)
	}
}

// direct tells whether rows are read where they are.
func (pass *polyPass[E, T]) direct() bool {
	return pass.op.series.order() == 1 && pass.math.sums != nil
}

// coordinates returns the panel that monomials at a depth go on with, and its width:
// the first coordinate is one of all, the others may be along axes.
func (pass *polyPass[E, T]) coordinates(scratch *polyScratch[E], depth int) ([]E, int) {
	if depth > 0 && pass.op.low != nil {
		return scratch.low, pass.op.low.m
	}
	return scratch.panel, pass.op.frame.p.D
}

// addMoments adds the moments of all monomials that begin with those the weights
// of this depth have been multiplied with, and go on with coordinates from first
// on; it returns what is left of sums.
func (pass *polyPass[E, T]) addMoments(scratch *polyScratch[E], sums []float64, rows, first, depth int) []float64 {
	panel, d := pass.coordinates(scratch, depth)
	k, w := pass.k, scratch.weights[depth]
	width := d - first
	part := scratch.sums[:width*k]
	pass.math.mulTrans(simd.RowsOf(part, width), simd.RowsOf(w, k), simd.RowsOf(panel[first:], d), k, rows, width)
	for i, v := range part {
		sums[i] += float64(v)
	}
	sums = sums[width*k:]
	if depth+1 == pass.op.series.order() {
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
func (pass *polyPass[E, T]) evaluate(scratch *polyScratch[E], values []E, rows, first, depth int) []E {
	panel, d := pass.coordinates(scratch, depth)
	k, out := pass.k, scratch.results[depth]
	width := d - first
	pass.math.dots(simd.RowsOf(out, polyPanel), simd.RowsOf(values, width), simd.RowsOf(panel[first:], d), k, rows, width)
	values = values[width*k:]
	if depth+1 == pass.op.series.order() {
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
func (pass *polyPass[E, T]) scatter(scratch *polyScratch[E], chunk, lo, hi int, fast bool) {
	op, wx, out := pass.op, scratch.wx, scratch.results[0]
	switch {
	case pass.direct():
		pass.math.products(simd.RowsOf(out, polyPanel), simd.RowsOf(pass.values, op.frame.p.D), pass.k, lo, hi)
	case op.series.order() > 0:
		pass.evaluate(scratch, pass.values, hi-lo, 0, 0)
	default:
		clear(out)
	}
	x, shift, stepping := pass.x, pass.shift, pass.stats != nil
	for i := lo; i < hi; i++ {
		f, self := op.factor[i], op.self[i]
		for c, v := range x.Row(i) {
			sum := float64(op.series.a[0]*pass.total[c]) + float64(out[c*polyPanel+i-lo])
			wx[c] = float64(f*sum) - float64(self*(float64(v)-shift[c]))
			if stepping {
				wx[c] += float64(op.degrees[i] * shift[c])
			}
		}
		if !fast {
			pass.put(chunk, i, wx)
			continue
		}
		tile := scratch.tile[(i-lo)*pass.k:][:pass.k]
		for c, v := range wx {
			tile[c] = float32(v)
		}
	}
}
