package poly

import "github.com/seed-64e14a55/privatemail/internal/simd"

// A polyNest is the order in which the pass in float64 keeps moments. Like those of
// polySinglePass, monomials are nested: those of degrees up to r in coordinates from some
// first one on are its linear ones and, for each coordinate b from there on, b times those
// of degrees up to r-1 in coordinates from b on. Where r is 2 and there are several
// coordinates, the products of two of them make one block, as simd.AddMoments has it.
//
// So there are two kinds of segments, runs of linear monomials and blocks. For each
// segment the k columns of x follow each other.
type polyNest struct {
	coefficients []float64 // of one column; 0 for what a block has twice, or beyond its columns
	widths       []int     // of the segments
}

// polyBlocked reports whether the products of two of width coordinates are a block. A block
// of fewer coordinates than its lanes would be mostly empty.
func polyBlocked(width, degree int) bool { return degree == 2 && width >= 8 }

// polyBlockNumbers is how many numbers there may be in blocks for one monomial.
const polyBlockNumbers = 1.8

// newPolyNest returns the nest of the polynomial a_1 u + a_2 u^2 + ..., u = y_i.y_j, whose linear
// monomials are of d coordinates and the others of m.
func newPolyNest(a []float64, d, m int) *polyNest {
	n := &polyNest{}
	order := len(a) - 1
	if order < 1 {
		return n
	}
	n.linear(a, polyMonomial{last: -1, ways: 1}, 0, d)
	if order > 1 {
		n.products(a, polyMonomial{last: -1, ways: 1}, 0, m)
	}
	return n
}

// A polyMonomial is a product of degree coordinates, of which the last occurs run times at
// the end. It occurs ways times among the products of degree coordinates in any order.
type polyMonomial struct {
	degree, last, run int
	ways              float64
}

// times returns the monomial times coordinate b, which is not before the last.
func (p polyMonomial) times(b int) polyMonomial {
	next := polyMonomial{degree: p.degree + 1, last: b, run: 1, ways: p.ways * float64(p.degree+1)}
	if b == p.last {
		next.run = p.run + 1
		next.ways /= float64(next.run)
	}
	return next
}

// linear adds the segment of p times the coordinates from first to m-1.
func (n *polyNest) linear(a []float64, p polyMonomial, first, m int) {
	for b := first; b < m; b++ {
		next := p.times(b)
		n.coefficients = append(n.coefficients, next.ways*a[next.degree])
	}
	n.widths = append(n.widths, m-first)
}

// products adds the segments of p times two coordinates from first to m-1 and more.
func (n *polyNest) products(a []float64, p polyMonomial, first, m int) {
	left := len(a) - 1 - p.degree
	if polyBlocked(m-first, left) {
		n.block(a, p, first, m)
		return
	}
	for b := first; b < m; b++ {
		n.linear(a, p.times(b), b, m)
		if left > 2 {
			n.products(a, p.times(b), b, m)
		}
	}
}

// block adds the segment of p times two coordinates from first to m-1.
func (n *polyNest) block(a []float64, p polyMonomial, first, m int) {
	const lanes = 8
	for b := first; b < m; b += lanes {
		for t := b; t < m; t++ {
			for c := b; c < b+lanes; c++ {
				coefficient := 0.0
				if c <= t {
					next := p.times(c).times(t)
					coefficient = next.ways * a[next.degree]
				}
				n.coefficients = append(n.coefficients, coefficient)
			}
		}
	}
	n.widths = append(n.widths, simd.MomentsSize(m-first))
}

// Size is the number of moments of one column.
func (n *polyNest) Size() int { return len(n.coefficients) }

// multiply sets values to the moments of k columns times their coefficients.
func (n *polyNest) multiply(values, moments []float64, k int) {
	first := 0
	for _, width := range n.widths {
		coefficients := n.coefficients[first:][:width]
		for range k {
			for t, v := range coefficients {
				values[t] = 0
				if v != 0 { // a moment that overflows must not come in by a zero
					values[t] = v * moments[t]
				}
			}
			values, moments = values[width:], moments[width:]
		}
		first += width
	}
}
