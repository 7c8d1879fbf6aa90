package poly

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// polyDoublePass is the pass of poly in float64 throughout. T is the type of the iterate.
// polyNest says in which order moments are kept.
type polyDoublePass[T rows.Float] struct {
	*step.Product[T]
	op *Poly

	shift   []float64 // what is taken from x before, and put back after; see polySinglePass
	partial []float64 // of each chunk: k sums of f x, then moments
	total   []float64
	values  []float64 // moments times coefficients
	zeros   []float64 // as many as there are axes
	scratch []polyDoubleScratch
}

// polyDoubleScratch is the scratch memory of a worker, for one panel.
type polyDoubleScratch struct {
	panel, low []float64 // where coordinates are copied to
	column     []float64 // one coordinate of the rows
	// By depth, k x polyPanel each: what moments are weighted with, and what a nest is.
	weights, results [][]float64
	wx               []float64
}

// polyRows are the rows of a panel: their coordinates, and those that degrees 2 and more
// are of.
type polyRows struct {
	count     int
	y, low    simd.Rows[float64]
	d, m      int
	projected bool // low is not y
}

func newPolyDoublePass[T rows.Float](op *Poly, p *step.Product[T]) *polyDoublePass[T] {
	k, d := p.K, op.Frame.p.D
	size := (1 + op.Nest.Size()) * k
	pass := &polyDoublePass[T]{
		Product: p, op: op, partial: make([]float64, (len(op.Bounds)-1)*size), total: make([]float64, size),
		values: make([]float64, size-k), shift: make([]float64, k), scratch: make([]polyDoubleScratch, op.Workers.Count()),
	}
	if op.Low != nil {
		pass.zeros = make([]float64, op.Low.m)
	}
	for i := range pass.scratch {
		scratch := &pass.scratch[i]
		scratch.column, scratch.wx = make([]float64, polyPanel), make([]float64, polyPanel*k)
		if !op.Frame.InPlace {
			scratch.panel = make([]float64, polyPanel*d)
		}
		if op.Low != nil {
			scratch.low = make([]float64, polyPanel*op.Low.m)
		}
		for range max(op.Series.Order(), 1) {
			scratch.weights = append(scratch.weights, make([]float64, polyPanel*k))
			scratch.results = append(scratch.results, make([]float64, polyPanel*k))
		}
	}
	return pass
}

// Prepare makes the moments of x.
func (pass *polyDoublePass[T]) Prepare(ctx context.Context) error {
	if pass.Stats != nil {
		copy(pass.shift, pass.Stats.Finish.Mean)
	}
	if err := pass.op.DoChunks(ctx, pass, pass.partial); err != nil {
		return err
	}
	addChunks(pass.total, pass.partial)
	pass.op.Nest.multiply(pass.values, pass.total[pass.K:], pass.K)
	return nil
}

// NeedsAll says that a rank needs no rows of x but its own: others send it their moments.
func (pass *polyDoublePass[T]) NeedsAll() bool { return false }

// Run adds up the moments of one chunk of rows.
func (pass *polyDoublePass[T]) Run(worker, chunk int) {
	scratch := &pass.scratch[worker]
	sums := pass.partial[chunk*len(pass.total):][:len(pass.total)]
	clear(sums)
	for lo, end := pass.op.Bounds[chunk], pass.op.Bounds[chunk+1]; lo < end; lo += polyPanel {
		pass.gather(scratch, sums, lo, min(lo+polyPanel, end))
	}
}

// MakeRows makes one chunk of rows.
func (pass *polyDoublePass[T]) MakeRows(worker, chunk int) {
	scratch := &pass.scratch[worker]
	for lo, end := pass.op.Bounds[chunk], pass.op.Bounds[chunk+1]; lo < end; lo += polyPanel {
		pass.scatter(scratch, chunk, lo, min(lo+polyPanel, end))
	}
}

// load returns the rows lo to hi-1.
func (pass *polyDoublePass[T]) load(scratch *polyDoubleScratch, lo, hi int) polyRows {
	op := pass.op
	p := polyRows{count: hi - lo, d: op.Frame.p.D, m: op.axes(), projected: op.Low != nil}
	p.y = op.Frame.panel64(scratch.panel, lo, hi)
	p.low = p.y
	if op.Low != nil {
		for i, v := range op.Low.low[lo*op.Low.m : hi*op.Low.m] {
			scratch.low[i] = float64(v)
		}
		p.low = simd.RowsOf(scratch.low, op.Low.m)
	}
	return p
}

// gather adds the moments of a panel to sums.
func (pass *polyDoublePass[T]) gather(scratch *polyDoubleScratch, sums []float64, lo, hi int) {
	op, k, w, order := pass.op, pass.K, scratch.weights[0], pass.op.Series.Order()
	for i := lo; i < hi; i++ {
		f := op.Factor[i]
		for c, v := range pass.X.Row(i) {
			fx := float64(f * (float64(v) - pass.shift[c]))
			sums[c] += fx
			w[c*polyPanel+i-lo] = fx
		}
	}
	if order == 0 {
		return
	}
	p := pass.load(scratch, lo, hi)
	sums = pass.addLinear(w, sums[k:], p.y, 0, p.d, p.count)
	if order > 1 {
		pass.addProducts(scratch, sums, p, 0, 0)
	}
}

// addLinear adds the moments of the coordinates of y from first to m-1, with weights w, to
// sums; it returns what is left of sums.
func (pass *polyDoublePass[T]) addLinear(w, sums []float64, y simd.Rows[float64], first, m, count int) []float64 {
	width := m - first
	from := simd.RowsOf(y.Data[first:], y.Stride)
	for c := range pass.K {
		pass.op.Kernels.AddRows(sums[:width], w[c*polyPanel:][:count], from)
		sums = sums[width:]
	}
	return sums
}

// addProducts adds the moments of two and more coordinates, from first on, with the weights
// of a depth; see polyNest.products. It returns what is left of sums.
func (pass *polyDoublePass[T]) addProducts(scratch *polyDoubleScratch, sums []float64, p polyRows, first, depth int) []float64 {
	w, left := scratch.weights[depth], pass.op.Series.Order()-depth
	if width := p.m - first; polyBlocked(width, left) {
		size, from := simd.MomentsSize(width), simd.RowsOf(p.low.Data[first:], p.low.Stride)
		for c := range pass.K {
			pass.op.Kernels.AddMoments(sums[:size], from, w[c*polyPanel:][:p.count], width)
			sums = sums[size:]
		}
		return sums
	}
	next := scratch.weights[depth+1]
	for b := first; b < p.m; b++ {
		column := scratch.takeColumn(p, b)
		for c := range pass.K {
			to, from := next[c*polyPanel:][:p.count], w[c*polyPanel:][:p.count]
			for r, v := range column {
				to[r] = from[r] * v
			}
		}
		sums = pass.addLinear(next, sums, p.low, b, p.m, p.count)
		if left > 2 {
			sums = pass.addProducts(scratch, sums, p, b, depth+1)
		}
	}
	return sums
}

// takeColumn returns coordinate b of the rows.
func (s *polyDoubleScratch) takeColumn(p polyRows, b int) []float64 {
	column := s.column[:p.count]
	for r := range column {
		column[r] = p.low.Data[r*p.low.Stride+b]
	}
	return column
}

// evaluate leaves, for each row of a panel, the sum over all monomials in the results of
// depth 0.
func (pass *polyDoublePass[T]) evaluate(scratch *polyDoubleScratch, p polyRows) {
	order, out := pass.op.Series.Order(), scratch.results[0]
	switch {
	case order == 0:
		clear(out)
	case order == 1 || !p.projected:
		pass.evaluateNest(scratch, pass.values, p, 0, 0)
	default:
		values := pass.evaluateForms(out, pass.values, nil, p.y, 0, p.d, p.count)
		if !polyBlocked(p.m, order) {
			pass.evaluateProducts(scratch, values, p, 0, 0)
			return
		}
		inner := scratch.results[1]
		pass.evaluateBlocks(inner, values, p)
		for i, v := range inner {
			out[i] += v
		}
	}
}

// evaluateNest leaves the sum over the monomials in coordinates from first on, those that
// addLinear and addProducts visit, in the results of a depth; it returns what is left of
// values.
func (pass *polyDoublePass[T]) evaluateNest(scratch *polyDoubleScratch, values []float64, p polyRows, first, depth int) []float64 {
	out, left := scratch.results[depth], pass.op.Series.Order()-depth
	y, m := p.low, p.m
	if depth == 0 {
		y, m = p.y, p.d
	}
	if width := m - first; polyBlocked(width, left) {
		return pass.evaluateForms(out, values, values[width*pass.K:], y, first, m, p.count)
	}
	values = pass.evaluateForms(out, values, nil, y, first, m, p.count)
	if left > 1 {
		values = pass.evaluateProducts(scratch, values, p, first, depth)
	}
	return values
}

// evaluateForms sets out to linear polynomials of the coordinates from first to m-1 and,
// unless blocks are nil, their products. It returns what is behind both.
func (pass *polyDoublePass[T]) evaluateForms(out, linear, blocks []float64, y simd.Rows[float64], first, m, count int) []float64 {
	width := m - first
	rest, size := linear[width*pass.K:], 0
	if blocks != nil {
		size = simd.MomentsSize(width)
		rest = blocks[size*pass.K:]
	}
	from := simd.RowsOf(y.Data[first:], y.Stride)
	for c := range pass.K {
		pass.op.Kernels.QuadraticForms(out[c*polyPanel:][:count], from, linear[c*width:][:width], blocks[c*size:][:size])
	}
	return rest
}

// evaluateBlocks sets out to the products of two axes alone.
func (pass *polyDoublePass[T]) evaluateBlocks(out, blocks []float64, p polyRows) {
	size := simd.MomentsSize(p.m)
	for c := range pass.K {
		pass.op.Kernels.QuadraticForms(out[c*polyPanel:][:p.count], p.low, pass.zeros, blocks[c*size:][:size])
	}
}

// evaluateProducts adds to the results of a depth each coordinate from first on times its
// nest; it returns what is left of values.
func (pass *polyDoublePass[T]) evaluateProducts(scratch *polyDoubleScratch, values []float64, p polyRows, first, depth int) []float64 {
	out, inner := scratch.results[depth], scratch.results[depth+1]
	for b := first; b < p.m; b++ {
		values = pass.evaluateNest(scratch, values, p, b, depth+1)
		column := scratch.takeColumn(p, b)
		for c := range pass.K {
			to, from := out[c*polyPanel:][:p.count], inner[c*polyPanel:][:p.count]
			for r, v := range column {
				to[r] += float64(v * from[r])
			}
		}
	}
	return values
}

// scatter makes the rows lo to hi-1.
func (pass *polyDoublePass[T]) scatter(scratch *polyDoubleScratch, chunk, lo, hi int) {
	op, k, out := pass.op, pass.K, scratch.results[0]
	pass.evaluate(scratch, pass.load(scratch, lo, hi))
	x, shift, stepping := pass.X, pass.shift, pass.Stats != nil
	for i := lo; i < hi; i++ {
		f, self, wx := op.Factor[i], op.self[i], scratch.wx[(i-lo)*k:][:k]
		for c, v := range x.Row(i) {
			sum := float64(op.Series.A[0]*pass.total[c]) + out[c*polyPanel+i-lo]
			wx[c] = float64(f*sum) - float64(self*(float64(v)-shift[c]))
			if stepping {
				wx[c] += float64(op.RowSums[i] * shift[c])
			}
		}
	}
	pass.PutRows(chunk, lo, hi, scratch.wx)
}
