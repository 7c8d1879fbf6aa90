package lattice

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// MaxNodes is the largest number of nodes of a cell along an axis. In cells of any useful
// width the error of more nodes would be mostly rounding.
const MaxNodes = 24

// Chebyshev is the interpolation on -1..1 in the nodes cos((2a+1) pi / 2p). Its basis is
// the polynomials that are 1 in one node and 0 in the others. They are products of
// differences, as simd's LagrangeBasis makes them, so the relative error of each is at most
// (4p + 4) 2^-53 at every place.
type Chebyshev struct {
	Nodes  []float64 // ascending
	Factor []float64 // 1 / prod_{b != a} (node_a - node_b)
}

// NewChebyshev returns the interpolation in p nodes.
func NewChebyshev(p int) Chebyshev {
	c := Chebyshev{make([]float64, p), make([]float64, p)}
	for a := range c.Nodes {
		c.Nodes[a] = math.Sin(math.Pi * float64(2*a+1-p) / float64(2*p)) // ascending, and exactly odd
	}
	for a := range c.Factor {
		product := 1.0
		for b, v := range c.Nodes {
			if b != a {
				product *= c.Nodes[a] - v
			}
		}
		c.Factor[a] = 1 / product
	}
	return c
}

// interpolationError bounds the error of interpolating exp(-x^2/2) in p nodes of an
// interval of half-width rho, with x the distance from a point whose distance from the
// interval is at least apart: the error is at most the returned number times
// exp(-apart^2/4). The p-th derivative is a Hermite polynomial times exp(-x^2/2), at most
// 1.0865 sqrt(p!) exp(-x^2/4) by Cramer's inequality, and the product of the distances
// from the nodes is at most 2 (rho/2)^p.
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

// AxisError bounds the error of the kernel between two points of a lattice along one axis,
// interpolated on both sides in p nodes. The error is divided by exp(-apart^2/4), where
// apart bounds the distance of the cells of the points from below. Its parts are
//
//	eps (1 + Lam)             interpolation: G - I I'G = (G - I'G) + I'(G - I G)
//	0.86 positionError        |x| exp(-x^2/2) <= 0.86 exp(-x^2/4)
//	Lam^2 (8p + 16) 2^-53     rounding of the basis, twice, and of the kernel
//
// with eps the interpolation error and Lam the bound of the sum of the basis. The part of
// rounding holds since nodes are no closer than their cells, so the kernel between nodes
// is below exp(-apart^2/2).
func (l *Lattice) AxisError(p int) float64 {
	worst, lam := 0.0, lebesgue(p)
	for a := range l.D {
		worst = max(worst, interpolationError(l.Width[a]/2, p))
	}
	return worst*(1+lam) + 0.86*l.PositionError() + lam*lam*float64(8*p+16)*0x1p-53
}

// SumError bounds the roundings of the sums on the way from a point to another, divided
// by exp(-apart^2/4) as in AxisError. The bound is the number of roundings that a term
// meets, times 2^-53, times the largest sum of the sizes of all terms: the basis on both
// sides with the kernel in between. A term meets
//
//	batch/8 + 3, and one for each batch    in the chains of simd's PointsToNodes
//	one for each slot                      where the points of a cell are split into slots
//	a band of nodes along each axis        in a transfer
//	p and p^(d-1)                          in NodesToPoints
//	2p along each axis                     in the weight of a point with itself, which is subtracted
//
// and some roundings of products, not more than 8 d in all.
func (l *Lattice) SumError(p, slots int) float64 {
	batch := l.Batch(p)
	roundings := batch/simd.NodeLanes + 3 + split.Blocks(MostPoints, batch) + slots + p + power(p, l.D-1) + 8*l.D
	for a := range l.D {
		roundings += (2*l.Reach[a] + 3) * p
	}
	return float64(roundings) * 0x1p-53 * math.Pow(lebesgue(p), float64(2*l.D))
}

// MostPoints is the most points of a cell that are summed up one after the other. The
// points of cells with more are split into slots.
const MostPoints = 4096

// batchNumbers is how many numbers of the basis a batch of points has at most, if that is
// enough for the points of all lanes: the numbers stay in the first-level cache.
const batchNumbers = 4096

// Batch returns the number of points of a batch, with p nodes of a cell along each axis.
func (l *Lattice) Batch(p int) int {
	most := batchNumbers / (power(p, l.D-1) + l.D*p)
	return min(max(most/simd.NodeLanes, 1), 16) * simd.NodeLanes
}

// power returns p^d.
func power(p, d int) int {
	out := 1
	for range d {
		out *= p
	}
	return out
}
