package kernel

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A projection takes points to vectors of depth numbers whose distances are no
// larger: z = (y, |rest|), with y the first coordinates of u = x - centre, or those
// along some directions, and the norm of what these leave of u.
//
// For coordinates, |z - z'| <= |u - u'| is the triangle inequality of the rest. For
// directions V of any kind, with norm |V| <= 1, y = V'u and M = I - VV' is positive
// semidefinite: the rest has the norm |sqrt(M) u|, whose square is |u|^2 - |y|^2, and
//
//	|u - u'|^2 = |y - y'|^2 + |sqrt(M)(u - u')|^2 >= |y - y'|^2 + (|rest| - |rest'|)^2.
//
// Directions are the principal ones of a sample, nearly. Their entries are integers,
// divided by a bound of the norm of the integer matrix, and u is rounded to integers
// for them too: all products are exact, so that codes do not depend on the level of
// the kernels. As z is not farther from z' than x from x', the rounding of u costs no
// more than its own size, which is part of what is lost.
type projection struct {
	depth, kept int
	centre      []float64
	directions  []float32 // kept rows of integers, stride apart; nil: coordinates
	stride      int
	scale       float64 // of products with directions
	grid        float64 // step of the integers of u
	middle      float64 // of the norms of rests: what is subtracted from all changes no distance
	unit        float64
}

const (
	// mostDepth is the largest depth of simd.Above8.
	mostDepth = 4096
	// Sums of so many products of integers of these sizes are exact in float32.
	exactRun      = 128
	mostDirection = 511
	mostDigit     = 255
	// Integers of two digits, from -mostDigit to mostDigit.
	digitBase = 2*mostDigit + 1
	mostGrid  = mostDigit * (digitBase + 1)
	// Adding it and taking it away again rounds to an integer.
	toInteger = 0x1.8p52
	// projectionRows are projected at a time.
	projectionRows = 64
)

// fullDepth is the depth at which all coordinates have a place, if there is one.
func fullDepth(d int) int { return min((d+63)/64*64, mostDepth) }

// rest tells whether something is left.
func (p *projection) rest() bool { return p.kept < len(p.centre) }

// coordinates returns the projection on the first coordinates, mostly all of them.
func coordinates(centre []float64) *projection {
	p := &projection{depth: fullDepth(len(centre)), kept: len(centre), centre: centre}
	if p.kept > p.depth {
		p.kept = p.depth - 1
	}
	return p
}

// along returns the projection on the first directions of a basis, with rows of
// numbers.
func along(centre []float64, basis *mat.Dense, depth int, grid float64) *projection {
	_, d := basis.Dims()
	p := &projection{depth: depth, kept: depth - 1, centre: centre, grid: grid, stride: (d + exactRun - 1) / exactRun * exactRun}
	// The coordinates along principal directions are of very different size; mixed
	// by a cosine transform, which is orthonormal, they share it, and codes are finer.
	mix := mat.NewDense(p.kept, p.kept, nil)
	for i := range p.kept {
		size := math.Sqrt(2 / float64(p.kept))
		if i == 0 {
			size = math.Sqrt(1 / float64(p.kept))
		}
		for j := range p.kept {
			mix.Set(j, i, size*math.Cos(math.Pi*(float64(j)+0.5)*float64(i)/float64(p.kept)))
		}
	}
	var mixed mat.Dense
	mixed.Mul(mix, basis.Slice(0, p.kept, 0, d))
	p.directions = make([]float32, p.kept*p.stride)
	largest := mat.Max(&mixed)
	largest = max(largest, -mat.Min(&mixed))
	integers := mat.NewDense(p.kept, d, nil)
	for t := range p.kept {
		for c := range d {
			v := math.RoundToEven(mixed.At(t, c) * (mostDirection / largest))
			integers.Set(t, c, v)
			p.directions[t*p.stride+c] = float32(v)
		}
	}
	p.scale = grid / normBound(integers)
	return p
}

// normBound returns a number that the norm of a matrix of integers with nearly
// orthogonal rows of nearly equal norm does not exceed. With G = A A' = g (I + E) it
// is sqrt(g (1 + |E|)), and |E| <= |E^4|_F^(1/4).
func normBound(a *mat.Dense) float64 {
	rows, _ := a.Dims()
	var e, e2 mat.Dense
	e.Mul(a, a.T()) // integers, exact
	g := mat.Trace(&e) / float64(rows)
	if g == 0 {
		return 1
	}
	e.Scale(1/g, &e)
	for i := range rows {
		e.Set(i, i, e.At(i, i)-1)
	}
	e2.Mul(&e, &e)
	e.Mul(&e2, &e2)
	norm := math.Sqrt(math.Sqrt(mat.Norm(&e, 2)))
	return math.Sqrt(g * (1 + norm*(1+1e-6) + 1e-9))
}

// projectRoom is the scratch memory of a worker.
type projectRoom struct {
	z        []float64
	lost     []float64
	whole    []float64
	digits   [2][]float32
	products []float32
}

func newProjectRoom(p *projection) *projectRoom {
	r := &projectRoom{z: make([]float64, projectionRows*p.depth), lost: make([]float64, projectionRows), whole: make([]float64, projectionRows)}
	if p.directions != nil {
		for i := range r.digits {
			r.digits[i] = make([]float32, projectionRows*p.stride)
		}
		r.products = make([]float32, projectionRows*p.kept)
	}
	return r
}

func projectRoomBytes(d int) int64 {
	return projectionRows * (8*int64(fullDepth(d)) + 16 + 8*int64(d+exactRun) + 4*int64(d))
}

// width is how many numbers of z there are.
func (p *projection) width() int {
	if p.rest() {
		return p.kept + 1
	}
	return p.kept
}

// project leaves z of up to projectionRows rows in room.z, and bounds of its errors
// in room.lost.
func (p *projection) project(room *projectRoom, k *Kernels, rows func(i int) []float32, n int) {
	if p.directions == nil {
		for i := range n {
			p.pick(room, i, rows(i))
		}
		return
	}
	for i := range n {
		p.round(room, i, rows(i))
	}
	width := p.width()
	for i := range n {
		clear(room.z[i*p.depth:][:width])
	}
	for which, size := range []float64{digitBase, 1} {
		for from := 0; from < p.stride; from += exactRun {
			k.Dots(room.products, p.kept, room.digits[which][from:], p.stride, n, p.directions[from:], p.stride, p.kept, exactRun)
			for i := range n {
				z := room.z[i*p.depth:][:p.kept]
				for t, v := range room.products[i*p.kept:][:p.kept] {
					z[t] += size * float64(v)
				}
			}
		}
	}
	for i := range n {
		p.finish(room, i)
	}
}

// pick takes the coordinates of row i.
func (p *projection) pick(room *projectRoom, i int, row []float32) {
	z := room.z[i*p.depth:][:p.width()]
	for c, v := range row[:p.kept] {
		z[c] = float64(v) - p.centre[c]
	}
	room.lost[i] = 0
	if p.rest() {
		sum := 0.0
		for c := p.kept; c < len(row); c++ {
			e := float64(row[c]) - p.centre[c]
			sum += float64(e * e)
		}
		norm := math.Sqrt(sum)
		z[p.kept] = norm - p.middle
		room.lost[i] = norm * float64(len(row)+8) * 0x1p-52
	}
}

// round leaves the digits of the integers nearest to u/grid in the room, the sum of
// their squares, and what rounding has lost.
func (p *projection) round(room *projectRoom, i int, row []float32) {
	high, low := room.digits[0][i*p.stride:][:len(row)], room.digits[1][i*p.stride:][:len(row)]
	inverse := 1 / p.grid
	missed, size, whole := 0.0, 0.0, 0.0
	for c, v := range row {
		u := (float64(v) - p.centre[c]) * inverse
		q := u
		if q > mostGrid {
			q = mostGrid
		} else if q < -mostGrid {
			q = -mostGrid
		}
		q = (q + toInteger) - toInteger
		h := (float64(q*(1.0/digitBase)) + toInteger) - toInteger
		high[c], low[c] = float32(h), float32(q-h*digitBase)
		e := u - q
		missed += float64(e * e)
		size += float64(u * u)
		whole += q * q
	}
	tiny := float64(len(row)+64) * 0x1p-50
	room.lost[i] = (math.Sqrt(missed)*(1+tiny) + tiny*math.Sqrt(size)) * p.grid
	room.whole[i] = whole
}

// finish makes z of row i from sums of products.
func (p *projection) finish(room *projectRoom, i int) {
	z := room.z[i*p.depth:][:p.kept+1]
	sum := 0.0
	for t, v := range z[:p.kept] {
		v *= p.scale
		z[t] = v
		sum += float64(v * v)
	}
	// The difference of squares is off by a few units in the last place of either,
	// and a root by no more than the root of that.
	size := room.whole[i] * p.grid * p.grid
	z[p.kept] = math.Sqrt(max(size-sum, 0)) - p.middle
	room.lost[i] += math.Sqrt(size*float64(p.kept+16)*0x1p-52) + math.Sqrt(size)*0x1p-48
}
