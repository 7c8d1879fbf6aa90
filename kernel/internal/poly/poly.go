// Package poly has the operator poly: every pair, by a polynomial in the inner product of the
// points, with the certificate of its error.
package poly

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// Poly is the kernel of a bandwidth that is wide against the extent of the
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
type Poly struct {
	step.WideBase
	Frame        *polyFrame
	Low          *polyProjection // nil when degrees 2 and more are of all coordinates
	Series       Series
	Single       bool      // float32 does
	coefficients []float64 // of the monomials, in the order of the segments of polySinglePass; nil unless single
	Nest         *polyNest // those of the pass in float64
	Factor       []float64 // f_i
	self         []float64 // f_i^2 p(|y_i|^2), the diagonal that the moments have
}

// New builds the operator poly of points in either precision.
func New(ctx context.Context, p *rows.Points, b base.Bandwidth, o *base.Options) (*Poly, error) {
	if err := o.RefuseFixed("poly"); err != nil {
		return nil, base.BuildError("poly", err)
	}
	plan, err := planPoly(ctx, p, b, o)
	if err != nil {
		return nil, base.BuildError("poly", err)
	}
	return newPoly(ctx, plan, o)
}

// newPoly builds the operator of a plan.
func newPoly(ctx context.Context, plan *polyPlan, o *base.Options) (*Poly, error) {
	if plan.choice.terms == 0 {
		return nil, fmt.Errorf("kernel: build poly: %w: %s", base.ErrTolerance, plan.why)
	}
	// The plan has looked at a sample. Where the certificate of all rows misses the
	// tolerance, the next order is tried, once.
	best := math.Inf(1)
	for range 2 {
		op, err := plan.build(ctx, o)
		switch {
		case err == nil && op.Cert.WorstConnected() <= o.Tolerance:
			return op, nil
		case err == nil:
			best = min(best, op.Cert.WorstConnected())
		case !errors.Is(err, base.ErrTolerance):
			return nil, base.BuildError("poly", err)
		}
		if plan.choice = plan.next(plan.choice.series.Order()+1, o); plan.choice.terms == 0 {
			break
		}
	}
	return nil, &base.ToleranceError{Tolerance: o.Tolerance, Eta: best, Operator: "poly"}
}

// build builds the operator a plan has chosen, and certifies it.
func (plan *polyPlan) build(ctx context.Context, o *base.Options) (_ *Poly, err error) {
	cost := polyCost(plan.frame.p, plan.choice, o)
	if err := o.Take("build poly", cost.PeakBytes); err != nil {
		return nil, err
	}
	if m := plan.choice.axes; m > 0 {
		if plan.choice.low, err = plan.frame.project(ctx, plan.axes, m, o); err != nil {
			return nil, err
		}
	}
	op := assemblePoly(plan.frame, plan.choice, o)
	op.Costs = cost
	for i, v := range plan.frame.norm2 {
		op.Factor[i] = math.Exp(-v / 2)
		op.self[i] = op.Factor[i] * op.Factor[i] * op.diagonal(i, v)
	}
	if err := op.sumDegrees(ctx); err != nil {
		return nil, err
	}
	return op, op.certify(ctx, plan, o)
}

// assemblePoly returns an operator without factors and degrees.
func assemblePoly(fr *polyFrame, c polyChoice, o *base.Options) *Poly {
	n := fr.p.N
	op := &Poly{Frame: fr, Low: c.low, Series: c.series, Single: c.single, Factor: make([]float64, n), self: make([]float64, n)}
	op.Base, op.Bounds = step.NewBase("poly", o), polyBounds(n, c.terms)
	op.Nest = newPolyNest(fr.coefficients(c.series), fr.p.D, op.axes())
	op.Pass32 = func(p *step.Product[float32]) step.Pass[float32] { return newPolyDoublePass(op, p) }
	op.Pass64 = func(p *step.Product[float64]) step.Pass[float64] { return newPolyDoublePass(op, p) }
	if c.single {
		op.setCoefficients()
		op.Pass32 = func(p *step.Product[float32]) step.Pass[float32] { return newPolySinglePass(op, p) }
	}
	return op
}

// sumDegrees sets the degrees, the product with ones.
func (op *Poly) sumDegrees(ctx context.Context) error {
	n := op.Frame.p.N
	out := rows.NewView(n, 1, 1, make([]float64, n))
	if err := step.NewProduct(&op.Base, 1, op.Pass64).Make(ctx, out, base.Ones(n), nil); err != nil {
		return err
	}
	op.RowSums = out.Data
	if n == 1 {
		op.RowSums[0] = 0
	}
	return nil
}

// diagonal returns p(y_i.y_i), given |y_i|^2.
func (op *Poly) diagonal(i int, norm2 float64) float64 {
	if op.Low == nil {
		return op.Series.At(norm2)
	}
	return op.Series.A[0] + op.Series.A[1]*norm2 + op.Series.from(2, op.Low.norm2[i])
}

// eachSegment visits the segments of monomials in the order of polySinglePass.
func (op *Poly) eachSegment(visit func(first, width int)) {
	order, d := op.Series.Order(), op.Frame.p.D
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
func (op *Poly) axes() int {
	if op.Low != nil {
		return op.Low.m
	}
	return op.Frame.p.D
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
func (op *Poly) setCoefficients() {
	if op.Series.Order() == 0 {
		return
	}
	m := op.axes()
	op.coefficients = make([]float64, 0, op.Frame.p.D+polyTerms(m, op.Series.Order())-m)
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
			op.coefficients = append(op.coefficients, w*op.Series.A[degree+1])
		}
		if degree+1 < op.Series.Order() {
			for b := coordinate; b < m; b++ {
				r, w := step(b)
				visit(b, r, degree+1, w)
			}
		}
	}
	for range op.Frame.p.D {
		op.coefficients = append(op.coefficients, op.Series.A[1])
	}
	if op.Series.Order() > 1 {
		for b := range m {
			visit(b, 1, 1, 1)
		}
	}
}

// Traffic says that no rows of the iterate travel: moments do.
func (op *Poly) Traffic(int) graphstats.Traffic { return graphstats.Traffic{} }

// Close lets go of the points.
func (op *Poly) Close() error { return step.Release(op) }

// AtOnce builds poly where a polynomial of order 1 does; nil where it does not, or where the
// operator cannot be built and another may be.
func AtOnce(ctx context.Context, p *rows.Points, b base.Bandwidth, o *base.Options) (*Poly, error) {
	plan, err := planPoly(ctx, p, b, o)
	if err != nil || plan.choice.terms == 0 || plan.choice.series.Order() > 1 {
		return nil, nil
	}
	op, err := newPoly(ctx, plan, o)
	if err != nil && ctx.Err() == nil && !base.Denied(err) {
		return nil, nil
	}
	return op, err
}
