package codes

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// A projection takes points x to vectors z of at most depth numbers, whose distances are
// no larger: z = (y, |rest|). Here y is the first kept coordinates of u = x - centre, or
// the kept coordinates of u along some directions, and the rest is what y leaves of u.
//
// For coordinates, |z - z'| <= |u - u'| is the triangle inequality of the rest. For
// directions V of any kind, with norm |V| <= 1, y = V'u and M = I - VV' is positive
// semidefinite: the rest has the norm |sqrt(M) u|, whose square is |u|^2 - |y|^2, and
//
//	|u - u'|^2 = |y - y'|^2 + |sqrt(M)(u - u')|^2 >= |y - y'|^2 + (|rest| - |rest'|)^2.
//
// Directions are nearly the principal directions of a sample. The entries of directions
// are integers, divided by a bound of the norm of the matrix of integers. For products
// with directions u is rounded to a vector of integers a, too, times a step. No sum of
// some of the products of entries of a and of a direction v is larger than |a||v|, and a
// is kept so short that |a||v| is at most 2^24: all sums are exact in float32, in any
// order, so codes do not depend on the level of the kernels. As z is not farther from z'
// than x from x', the rounding of u changes z by no more than it changes u. This change is
// part of what is lost.
type projection struct {
	depth, kept int
	centre      []float32
	directions  []float32 // kept rows of integers, stride apart; nil when y is coordinates
	stride      int
	scale       float64 // by which products of integers with directions are multiplied
	step        float64 // from one integer of u to the next
	inverse     float32 // of the step; NaN when float32 has no such number
	most        float64 // largest norm of the integers of u
	middle      float64 // subtracted from the norms of all rests, which changes no distance
	unit        float64 // of the codes
}

const (
	// mostDepth is the largest depth of simd.ByteDotsAbove.
	mostDepth = 4096
	// Integers up to mostExact are exact in float32.
	mostExact = 1 << 24
	// mostDirection is the largest entry of a direction. In at most mostDirected
	// dimensions vectors of integers may then be long enough.
	mostDirection = 255
	mostDirected  = 1 << 14
	// Adding toInteger32 and taking it away again rounds a float32 to an integer.
	toInteger32 = 0x1.8p23
	// projectionRows are projected at a time.
	projectionRows = 64
	// cutShare is the share of the largest coordinate that codes of manyEntries entries or
	// more hold: a finer unit gains more in all entries than is lost in the few entries
	// that are cut off.
	cutShare    = 0.85
	manyEntries = 512
)

// fullDepth returns the least depth at which codes have an entry for every coordinate, or
// the largest depth where codes cannot have as many entries.
func fullDepth(d int) int { return min((d+63)/64*64, mostDepth) }

// rest reports whether y leaves something of u.
func (p *projection) rest() bool { return p.kept < len(p.centre) }

// coordinates returns the projection on the first coordinates, mostly all coordinates.
func coordinates(centre []float32) *projection {
	p := &projection{depth: fullDepth(len(centre)), kept: len(centre), centre: centre}
	if p.kept > p.depth {
		p.kept = p.depth - 1
	}
	return p
}

// along returns the projection on the first directions of a basis, for points whose
// distance from the centre is mostly below size.
func along(centre []float32, basis *mat.Dense, depth int, size float64) *projection {
	_, d := basis.Dims()
	p := &projection{depth: depth, kept: depth - 1, centre: centre, stride: (d + 15) / 16 * 16}
	// The coordinates along principal directions are of very different size. Mixed by a
	// cosine transform, which is orthonormal, they share it, and codes are finer.
	var mixed mat.Dense
	mixed.Mul(cosines(p.kept), basis.Slice(0, p.kept, 0, d))
	integers, longest := p.setDirections(&mixed)
	p.most = math.Floor(mostExact / longest * (1 - 0x1p-50))
	p.setStep(size / (p.most - math.Sqrt(float64(d))))
	p.scale = p.step / normBound(integers)
	return p
}

// cosines returns the orthonormal matrix of a cosine transform of n numbers.
func cosines(n int) *mat.Dense {
	mix := mat.NewDense(n, n, nil)
	for i := range n {
		size := math.Sqrt(2 / float64(n))
		if i == 0 {
			size = math.Sqrt(1 / float64(n))
		}
		for j := range n {
			mix.Set(j, i, size*math.Cos(math.Pi*(float64(j)+0.5)*float64(i)/float64(n)))
		}
	}
	return mix
}

// setDirections rounds rows to integers up to mostDirection, and makes them the directions
// of p. It returns the integers and the norm of the longest row, 1 at least.
func (p *projection) setDirections(mixed *mat.Dense) (integers *mat.Dense, longest float64) {
	_, d := mixed.Dims()
	p.directions = make([]float32, p.kept*p.stride)
	largest := mat.Max(mixed)
	largest = max(largest, -mat.Min(mixed))
	integers = mat.NewDense(p.kept, d, nil)
	longest = 1.0
	for t := range p.kept {
		sum := 0.0
		for c, v := range mixed.RawRowView(t) {
			v = math.RoundToEven(v * (mostDirection / largest))
			integers.Set(t, c, v)
			p.directions[t*p.stride+c] = float32(v)
			sum += v * v
		}
		longest = max(longest, math.Sqrt(sum))
	}
	return integers, longest
}

// setStep sets the step of the integers of u. It is made the inverse of a float32, as
// round needs it; where float32 has no such number, round makes NaN and shorten does all
// points.
func (p *projection) setStep(step float64) {
	p.step = step
	p.inverse = float32(1 / p.step)
	if step := 1 / float64(p.inverse); step > 0 && !math.IsInf(step, 0) {
		p.step = step
	} else {
		p.inverse = float32(math.NaN())
	}
}

// normBound returns a bound of the norm of a matrix A of integers, which is sharp for
// nearly orthogonal rows of nearly equal norm. With G = A A' = g (I + E) the bound is
// sqrt(g (1 + |E|)), and |E| <= |E^4|_F^(1/4).
func normBound(a *mat.Dense) float64 {
	rows, _ := a.Dims()
	var gram mat.SymDense
	gram.SymOuterK(1, a) // exact: its entries are integers
	g := mat.Trace(&gram) / float64(rows)
	if g == 0 {
		return 1
	}
	var e, e2 mat.Dense
	e.Scale(1/g, &gram)
	for i := range rows {
		e.Set(i, i, e.At(i, i)-1)
	}
	e2.Mul(&e, &e)
	e.Mul(&e2, &e2)
	norm := math.Sqrt(math.Sqrt(mat.Norm(&e, 2)))
	return math.Sqrt(g * (1 + norm*(1+1e-6) + 1e-9))
}

// projectScratch is the scratch memory of a worker, for projectionRows points. The last
// three fields are nil when there are no directions.
type projectScratch struct {
	z        []float64 // of each point, depth apart
	lost     []float64 // bound of the error of each z
	whole    []float64 // |a|^2 of each point
	integers []float32 // a of each point, stride apart, and a row of zeros
	index    []uint32  // 0, 1, 2 and so on
	products []float32 // of each a with the directions
}

// newProjectScratch returns scratch memory for p.
func newProjectScratch(p *projection) *projectScratch {
	r := &projectScratch{z: make([]float64, projectionRows*p.depth), lost: make([]float64, projectionRows), whole: make([]float64, projectionRows)}
	if p.directions != nil {
		r.integers = make([]float32, (projectionRows+1)*p.stride)
		r.products = make([]float32, projectionRows*p.kept)
		for i := range projectionRows {
			r.index = append(r.index, uint32(i))
		}
	}
	return r
}

// projectScratchBytes is the bytes of a projectScratch in d dimensions.
func projectScratchBytes(d int) int64 {
	return projectionRows * (8*int64(fullDepth(d)) + 16 + 2*4*int64(d+16) + 4*int64(d) + 4)
}

// width returns how many numbers z has.
func (p *projection) width() int {
	if p.rest() {
		return p.kept + 1
	}
	return p.kept
}

// project leaves z of n rows, at most projectionRows, in scratch.z, and the bounds of the
// errors of z in scratch.lost.
func (p *projection) project(scratch *projectScratch, k *simd.Kernels, rows func(i int) []float32, n int) {
	if p.directions == nil {
		for i := range n {
			p.pick(scratch, i, rows(i))
		}
		return
	}
	for i := range n {
		p.round(scratch.integers[i*p.stride:], rows(i))
	}
	zeros := scratch.integers[projectionRows*p.stride:][:p.stride]
	k.SqDists64(scratch.whole, zeros, simd.RowsOf(scratch.integers, p.stride), scratch.index[:n])
	root := math.Sqrt(float64(len(p.centre)))
	for i, whole := range scratch.whole[:n] {
		if whole <= p.most*p.most {
			// u and u/step are rounded to float32 before u/step is rounded to integers.
			scratch.lost[i] = p.step * (0.5*root + 0x1p-22*(math.Sqrt(whole)+root)) * (1 + 0x1p-40)
		} else {
			p.shorten(scratch, i, rows(i))
		}
	}
	k.Dots(simd.RowsOf(scratch.products, p.kept), simd.RowsOf(scratch.integers, p.stride), simd.RowsOf(p.directions, p.stride), n, p.kept, p.stride)
	for i := range n {
		p.finish(scratch, i)
	}
}

// pick makes z of row i where y is coordinates.
func (p *projection) pick(scratch *projectScratch, i int, row []float32) {
	z := scratch.z[i*p.depth:][:p.width()]
	to, centre := z[:p.kept], p.centre[:p.kept]
	for c, v := range row[:p.kept] {
		to[c] = float64(v) - float64(centre[c])
	}
	scratch.lost[i] = 0
	if p.rest() {
		sum := 0.0
		for c := p.kept; c < len(row); c++ {
			e := float64(row[c]) - float64(p.centre[c])
			sum += float64(e * e)
		}
		norm := math.Sqrt(sum)
		z[p.kept] = norm - p.middle
		scratch.lost[i] = norm * float64(len(row)+8) * 0x1p-52
	}
}

// round sets a to the integers nearest to u/step where u/step is small, as it mostly is.
// Where it is not, a comes out too long or not a number, and project calls shorten.
func (p *projection) round(a, row []float32) {
	centre, inverse := p.centre[:len(row)], p.inverse
	a = a[:len(row)]
	for c, v := range row {
		a[c] = (float32((v-centre[c])*inverse) + toInteger32) - toInteger32
	}
}

// shorten makes the integers a of row i where round cannot: of u, or of the longest vector
// along u that is short enough.
func (p *projection) shorten(scratch *projectScratch, i int, row []float32) {
	a := scratch.integers[i*p.stride:][:len(row)]
	size := 0.0
	u := func(c int) float64 { return (float64(row[c]) - float64(p.centre[c])) / p.step }
	for c := range row {
		size += float64(u(c) * u(c))
	}
	factor := min((p.most-math.Sqrt(float64(len(row))))/math.Sqrt(size), 1)
	missed, whole := 0.0, 0.0
	for c := range row {
		q := (float64(u(c)*factor) + toInteger) - toInteger
		a[c] = float32(q)
		e := u(c) - q
		missed += float64(e * e)
		whole += q * q
	}
	tiny := float64(len(row)+64) * 0x1p-50
	scratch.lost[i] = (math.Sqrt(missed)*(1+tiny) + tiny*math.Sqrt(size)) * p.step
	scratch.whole[i] = whole
}

// finish makes z of row i from its products with the directions.
func (p *projection) finish(scratch *projectScratch, i int) {
	z := scratch.z[i*p.depth:][:p.kept+1]
	sum := 0.0
	for t, product := range scratch.products[i*p.kept:][:p.kept] {
		v := float64(product) * p.scale
		z[t] = v
		sum += float64(v * v)
	}
	// The difference of squares is off by a few units in the last place of either square,
	// and its root is off by no more than the root of this error.
	size := scratch.whole[i] * p.step * p.step
	z[p.kept] = math.Sqrt(max(size-sum, 0)) - p.middle
	scratch.lost[i] += math.Sqrt(size*float64(p.kept+16)*0x1p-52) + math.Sqrt(size)*0x1p-48
}

// inPieces calls do for pieces of projectionRows of n points, with the scratch memory of
// the worker.
func (p *projection) inPieces(ctx context.Context, n int, req *rows.Request, do func(scratch *projectScratch, lo, hi int)) error {
	scratches := make([]*projectScratch, req.Workers.Count())
	return req.Workers.Do(ctx, split.Blocks(n, projectionRows), par.Func(func(worker, piece int) {
		if scratches[worker] == nil {
			scratches[worker] = newProjectScratch(p)
		}
		lo, hi := split.Block(piece, n, projectionRows)
		do(scratches[worker], lo, hi)
	}))
}

// fit sets the middle of the rests and the unit of the codes, by a sample of n points.
func (p *projection) fit(ctx context.Context, row func(i int) []float32, n int, req *rows.Request) error {
	width := p.width()
	largest, rests := make([]float64, n), make([]float64, n)
	if err := p.inPieces(ctx, n, req, func(scratch *projectScratch, lo, hi int) {
		p.project(scratch, req.Kernels, func(i int) []float32 { return row(lo + i) }, hi-lo)
		for i := range hi - lo {
			z := scratch.z[i*p.depth:][:width]
			if p.rest() {
				rests[lo+i] = z[p.kept]
			}
			most := 0.0
			for _, v := range z[:p.kept] {
				if size := math.Abs(v); size > most { // max takes longer: it looks for NaN
					most = size
				}
			}
			largest[lo+i] = most
		}
	}); err != nil {
		return err
	}
	low, high := quantile(rests, 0.01), quantile(rests, 0.99)
	p.middle = low + (high-low)/2
	most := quantile(largest, 0.99)
	if p.kept >= manyEntries {
		most *= cutShare
	}
	p.unit = positive(max(most, (high-low)/2), slices.Max(largest)) / 127
	return nil
}

// encode returns the codes of n points.
func (p *projection) encode(ctx context.Context, row func(i int) []float32, n int, req *rows.Request) (*codes, error) {
	c, width := newCodes(n, p.depth, p.unit), p.width()
	bounds := encodeBounds(n, req.Sharing())
	first, end := bounds[req.Sharing().Rank()], bounds[req.Sharing().Rank()+1]
	err := p.inPieces(ctx, end-first, req, func(scratch *projectScratch, lo, hi int) {
		lo, hi = lo+first, hi+first
		if p.directions == nil && !p.rest() {
			for i := lo; i < hi; i++ {
				c.roundRow(i, row(i), p.centre, req.Kernels)
			}
			return
		}
		p.project(scratch, req.Kernels, func(i int) []float32 { return row(lo + i) }, hi-lo)
		for i := range hi - lo {
			c.roundVector(lo+i, scratch.z[i*p.depth:][:width], scratch.lost[i])
		}
	})
	if err == nil {
		err = c.gather(ctx, req.Sharing(), bounds)
	}
	c.widest = slices.Max(c.slack)
	return c, err
}
