package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// poly is the kernel of a bandwidth that is wide against the extent of the
// points. With y_i = sqrt(2 Gamma) (p_i - centre) and f_i = exp(-|y_i|^2/2),
//
//	w_ij = f_i f_j exp(u_ij),   u_ij = y_i.y_j,   |u_ij| <= t = max |y_i|^2,
//
// and a polynomial p of low degree P stands for exp:
//
//	what_ij = f_i f_j p(u_ij)  for i != j,   what_ii = 0.
//
// A product is then two passes over the points, the first for the moments of x,
// sums of f_j x_j times monomials of y_j, the second for the rows. There are d
// monomials of degree 1, d(d+1)/2 of degree 2 and C(P+d, d) up to degree P, and a
// product costs 4 n k flops for each.
//
// # The bound
//
// The coefficients are those of the interpolant at the Chebyshev nodes of [-t, t],
// or of Taylor's polynomial at 0. The first has
//
//	|what_ij - w_ij| <= f_i f_j e^t 2 (t/2)^(P+1)/(P+1)!
//
// and the sum over j of f_j is known. The second has |what_ij - w_ij| <= t_i^(P-1)
// u_ij^2/(P+1)! with t_i = |y_i| max |y_j|, because f_i f_j and w_ij are at most 1, and
//
//	sum over j != i of u_ij^2 = y_i' C y_i - |y_i|^4,   C = sum_j y_j y_j',
//
// which for centred features in many dimensions is far below n t^2: with unit rows
// at sigma 5 order 1 is good for 2e-5. C costs n d^2 flops, and so do the bounds
// of all rows; it is made only where the first bound does not do. A polynomial that
// may be zero or negative somewhere in [-t, t] is not used.
//
// In many dimensions terms of degree 2 and more are made of coordinates along some
// axes only, where the rest of the points, which adds to the bound, is short; see
// polyProjection.
//
// In float32 a sum is off by at most Rounding, which grows with e^2t: where it would be
// above the tolerance the panels are float64.
//
// Ranks make the moments of their chunks of rows, gather those of all chunks and add them in
// order: of an iterate they need their own rows only.
type poly struct {
	wideBase
	frame        *polyFrame
	low          *polyProjection // nil when degrees 2 and more are of all coordinates
	series       series
	single       bool      // float32 does
	coefficients []float64 // of the monomials, in the order of the segments of polySinglePass; nil unless single
	nest         *polyNest // those of the pass in float64
	factor       []float64 // f_i
	self         []float64 // f_i^2 p(|y_i|^2), the diagonal that the moments have
}

// NewPoly builds the operator poly of points in either precision: every pair, by a
// polynomial in the inner product of the points. Its order is the least whose certificate
// meets the tolerance in every row; if there is none the error is ErrTolerance. The
// operator reads the points as long as it lives; they must not change.
func NewPoly[M points.Matrix](ctx context.Context, p M, b Bandwidth, opt *Options) (Operator64, error) {
	pts, o, err := openEither(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	return orNil[Operator64](polyOf(ctx, pts, b, o))
}

func polyOf(ctx context.Context, p *rows.Points, b Bandwidth, o *Options) (*poly, error) {
	if err := o.refuseFixed("poly"); err != nil {
		return nil, buildError("poly", err)
	}
	plan, err := planPoly(ctx, p, b, o)
	if err != nil {
		return nil, buildError("poly", err)
	}
	return newPoly(ctx, plan, o)
}

func newPoly(ctx context.Context, plan *polyPlan, o *Options) (*poly, error) {
	if plan.choice.terms == 0 {
		return nil, fmt.Errorf("kernel: build poly: %w: %s", ErrTolerance, plan.why)
	}
	// The plan has looked at a sample. Where the certificate of all rows misses the
	// tolerance, the next order is tried, once.
	best := math.Inf(1)
	for range 2 {
		op, err := plan.build(ctx, o)
		switch {
		case err == nil && op.cert.worstConnected() <= o.Tolerance:
			return op, nil
		case err == nil:
			best = min(best, op.cert.worstConnected())
		case !errors.Is(err, ErrTolerance):
			return nil, buildError("poly", err)
		}
		if plan.choice = plan.next(plan.choice.series.order()+1, o); plan.choice.terms == 0 {
			break
		}
	}
	return nil, &ToleranceError{Tolerance: o.Tolerance, Eta: best, Operator: "poly"}
}

// build builds the operator a plan has chosen, and certifies it.
func (plan *polyPlan) build(ctx context.Context, o *Options) (_ *poly, err error) {
	cost := polyCost(plan.frame.p, plan.choice, o)
	if err := o.take("build poly", cost.PeakBytes); err != nil {
		return nil, err
	}
	if m := plan.choice.axes; m > 0 {
		if plan.choice.low, err = plan.frame.project(ctx, plan.axes, m, o); err != nil {
			return nil, err
		}
	}
	op := assemblePoly(plan.frame, plan.choice, o)
	op.cost = cost
	for i, v := range plan.frame.norm2 {
		op.factor[i] = math.Exp(-v / 2)
		op.self[i] = op.factor[i] * op.factor[i] * op.diagonal(i, v)
	}
	if err := op.sumDegrees(ctx); err != nil {
		return nil, err
	}
	return op, op.certify(ctx, plan, o)
}

// assemblePoly returns an operator without factors and degrees.
func assemblePoly(fr *polyFrame, c polyChoice, o *Options) *poly {
	n := fr.p.N
	op := &poly{frame: fr, low: c.low, series: c.series, single: c.single, factor: make([]float64, n), self: make([]float64, n)}
	op.base, op.bounds = newBase("poly", o), polyBounds(n, c.terms)
	op.nest = newPolyNest(fr.coefficients(c.series), fr.p.D, op.axes())
	op.pass32 = func(p *product[float32]) pass[float32] { return newPolyDoublePass(op, p) }
	op.pass64 = func(p *product[float64]) pass[float64] { return newPolyDoublePass(op, p) }
	if c.single {
		op.setCoefficients()
		op.pass32 = func(p *product[float32]) pass[float32] { return newPolySinglePass(op, p) }
	}
	return op
}

// sumDegrees sets the degrees, the product with ones.
func (op *poly) sumDegrees(ctx context.Context) error {
	n := op.frame.p.N
	out := rows.NewView(n, 1, 1, make([]float64, n))
	if err := newProduct(&op.base, 1, op.pass64).run(ctx, out, ones(n), nil); err != nil {
		return err
	}
	op.degrees = out.Data
	if n == 1 {
		op.degrees[0] = 0
	}
	return nil
}

// diagonal returns p(y_i.y_i), given |y_i|^2.
func (op *poly) diagonal(i int, norm2 float64) float64 {
	if op.low == nil {
		return op.series.at(norm2)
	}
	return op.series.a[0] + op.series.a[1]*norm2 + op.series.from(2, op.low.norm2[i])
}

// eachSegment visits the segments of monomials in the order of polySinglePass.
func (op *poly) eachSegment(visit func(first, width int)) {
	order, d := op.series.order(), op.frame.p.D
	if order > 0 {
		visit(0, d)
	}
	if order > 1 {
		first, m := d, op.axes()
		for b := range m {
			first = eachPolySegment(m, b, order-1, first, visit)
		}
	}
}

// axes is the number of coordinates that degrees 2 and more are of.
func (op *poly) axes() int {
	if op.low != nil {
		return op.low.m
	}
	return op.frame.p.D
}

func eachPolySegment(d, coordinate, order, first int, visit func(first, width int)) int {
	width := d - coordinate
	visit(first, width)
	first += width
	if order > 1 {
		for b := coordinate; b < d; b++ {
			first = eachPolySegment(d, b, order-1, first, visit)
		}
	}
	return first
}

// polyTerms returns the number of monomials of degrees 1 to order in d variables, or
// some number above maxPolyTerms where there are more, which an int of 32 bits holds
// with something added.
func polyTerms(d, order int) int {
	count := 1.0 // C(order+d, d)
	for r := 1; r <= order; r++ {
		count *= float64(d+r) / float64(r)
		if count > 2*maxPolyTerms {
			return 2 * maxPolyTerms
		}
	}
	return int(math.Round(count)) - 1
}

// setCoefficients sets the factor of each monomial in p(y_i.y_j): a_r times the
// number of ways to order its r coordinates.
func (op *poly) setCoefficients() {
	if op.series.order() == 0 {
		return
	}
	m := op.axes()
	op.coefficients = make([]float64, 0, op.frame.p.D+polyTerms(m, op.series.order())-m)
	// ways is the number of orders of the monomial so far, whose last coordinate occurs
	// run times.
	var visit func(coordinate, run, degree int, ways float64)
	visit = func(coordinate, run, degree int, ways float64) {
		step := func(b int) (int, float64) {
			if b == coordinate {
				return run + 1, ways * float64(degree+1) / float64(run+1)
			}
			return 1, ways * float64(degree+1)
		}
		for b := coordinate; b < m; b++ {
			_, w := step(b)
			op.coefficients = append(op.coefficients, w*op.series.a[degree+1])
		}
		if degree+1 < op.series.order() {
			for b := coordinate; b < m; b++ {
				r, w := step(b)
				visit(b, r, degree+1, w)
			}
		}
	}
	for range op.frame.p.D {
		op.coefficients = append(op.coefficients, op.series.a[1])
	}
	if op.series.order() > 1 {
		for b := range m {
			visit(b, 1, 1, 1)
		}
	}
}

// traffic says that no rows of the iterate travel: moments do.
func (op *poly) traffic(int) Traffic { return Traffic{} }

// Close lets go of the points.
func (op *poly) Close() error { return release(op) }
