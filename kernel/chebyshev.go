package kernel

import "math"

// maxNodes is the largest number of nodes a cell has along an axis. Rounding has
// the better of more nodes in cells of any useful width.
const maxNodes = 24

// chebyshev is the interpolation on -1..1 in the nodes cos((2a+1) pi / 2p).
type chebyshev struct {
	nodes  []float64
	factor []float64 // 1 / prod_{b != a} (node_a - node_b)
}

func newChebyshev(p int) chebyshev {
	c := chebyshev{make([]float64, p), make([]float64, p)}
	for a := range c.nodes {
		c.nodes[a] = math.Sin(math.Pi * float64(2*a+1-p) / float64(2*p)) // ascending, and exactly odd
	}
	for a := range c.factor {
		product := 1.0
		for b, v := range c.nodes {
			if b != a {
				product *= c.nodes[a] - v
			}
		}
		c.factor[a] = 1 / product
	}
	return c
}

// basis sets dst to the values at t of the polynomials that are 1 in one node and
// 0 in the others. They are products of differences, so that the relative error of
// each is at most (4p + 4) 2^-53 wherever t is.
func (c *chebyshev) basis(dst []float64, t float64) {
	p := len(dst)
	nodes, factor := c.nodes[:p], c.factor[:p]
	// The products from both ends at once: neither waits for the other.
	left, right := 1.0, 1.0
	for a := range p / 2 {
		b := p - 1 - a
		dst[a], dst[b] = left*factor[a], right*factor[b]
		left *= t - nodes[a]
		right *= t - nodes[b]
	}
	a := p / 2
	if p%2 == 1 {
		dst[a] = left * right * factor[a]
		left, right = left*(t-nodes[a]), right*(t-nodes[a])
		a++
	}
	for ; a < p; a++ {
		b := p - 1 - a
		dst[a] *= left
		dst[b] *= right
		left *= t - nodes[a]
		right *= t - nodes[b]
	}
}

// interpolationError bounds the error of interpolating exp(-x^2/2) in p nodes of an
// interval of half-width rho, with x the distance from a point that is at least
// apart from it: it is at most the returned number times exp(-apart^2/4). The p-th
// derivative is a Hermite polynomial times exp(-x^2/2), at most
// 1.0865 sqrt(p!) exp(-x^2/4) by Cramer's inequality, and the product of the
// distances from the nodes is at most 2 (rho/2)^p.
func interpolationError(rho float64, p int) float64 {
	const cramer = 1.0865
	e := 2 * cramer
	for m := 1; m <= p; m++ {
		e *= rho / 2 / math.Sqrt(float64(m))
	}
	return e
}

// lebesgue bounds sum_a |basis_a|.
func lebesgue(p int) float64 { return 1 + 2/math.Pi*math.Log(float64(p)) }

// axisError bounds the error of the kernel between two points of a lattice along
// one axis, interpolated on both sides in p nodes, divided by exp(-apart^2/4) where
// apart bounds the distance of their cells from below. Its parts are
//
//	eps (1 + Lam)             interpolation: G - I I'G = (G - I'G) + I'(G - I G)
//	0.86 positionError        |x| exp(-x^2/2) <= 0.86 exp(-x^2/4)
//	Lam^2 (8p + 16) 2^-53     rounding of the basis, twice, and of the kernel
//
// with Lam the bound of the basis. The part of rounding holds since the kernel
// between nodes, which are no closer than the cells, is below exp(-apart^2/2).
func (l *lattice) axisError(p int) float64 {
	worst, lam := 0.0, lebesgue(p)
	for a := range l.d {
		worst = max(worst, interpolationError(l.width[a]/2, p))
	}
	return worst*(1+lam) + 0.86*l.positionError() + lam*lam*float64(8*p+16)*0x1p-53
}
