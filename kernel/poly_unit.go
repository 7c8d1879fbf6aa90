package kernel

import (
	"context"
	"fmt"
	"math"
)

// NewUnitPoly builds the operator poly of unit rows. The polynomial has the given order and
// follows from public numbers alone: the centre is the origin, the inner products
// are those that unit rows may have, and f_i is exp(-Gamma) by definition,
//
//	what_ij = exp(-2 Gamma) p(2 Gamma x_i.x_j),
//
// with p the interpolant at the Chebyshev nodes of [-2 Gamma, 2 Gamma]. The weight between
// the null record and any other row is exp(-Gamma) exactly. UnitPolyError says by how much
// the weights and the sums over them may be off, whatever the rows are; the certificate is
// about the rows at hand, like every certificate.
func NewUnitPoly(ctx context.Context, rows *UnitRows, b Bandwidth, order int, opt *Options) (Operator64, error) {
	_, o, err := rows.open(ctx, b, opt)
	if err != nil {
		return nil, err
	}
	op, err := newUnitPoly(ctx, rows, b, order, o)
	return orNil[Operator64](op, buildError("poly", err))
}

func newUnitPoly(ctx context.Context, rows *UnitRows, b Bandwidth, order int, o *Options) (*poly, error) {
	if err := o.refuseFixed("poly"); err != nil {
		return nil, err
	}
	n, d := rows.N(), rows.dim()
	s, err := unitSeries(b, d, order)
	if err != nil {
		return nil, err
	}
	fr := &polyFrame{p: rows.points(), scale: math.Sqrt(2 * b.gamma), inPlace: true, square: 2 * b.gamma, kernels: o.Kernels}
	plan := &polyPlan{frame: fr, choice: polyChoice{series: s, terms: polyTerms(d, order) + 1}}
	cost := polyCost(fr.p, plan.choice, o)
	if err := o.take("build poly", cost.PeakBytes); err != nil {
		return nil, err
	}
	if err := fr.measure(ctx, o); err != nil {
		return nil, err
	}
	op := assemblePoly(fr, plan.choice, o)
	op.cost = cost
	for i := range n {
		op.factor[i] = b.Weight(1)
		if rows.Null(i) {
			op.factor[i] = 1 / s.a[0]
		}
		op.self[i] = op.factor[i] * op.factor[i] * s.at(fr.norm2[i])
	}
	if err := op.sumDegrees(ctx); err != nil {
		return nil, err
	}
	return op, op.certify(ctx, plan, o)
}

// UnitPolyError returns bounds of what an operator of NewUnitPoly is off by. They follow
// from public numbers alone and hold for every set of n unit rows of d columns with at most
// one null record. In exact arithmetic
//
//	|what_ij - w_ij| <= entry   for all pairs,
//
// where what is symmetric and its degrees are its own row sums. As they are computed in
// float64, a degree is off by at most rounding times itself, and a sum of what_ij x_j by
// at most rounding times max_j |x_j| and the degree. (Step64 sums x less its mean, which is
// up to twice as large, and adds the mean times the degree. Divided by the degree, that is
// off by no more than 4 rounding max_j |x_j|, twice what is said here, and half of it
// enters the step.)
//
// entry is 2 (t/2)^(P+1)/(P+1)!, with t = 2 Gamma = 1/sigma^2 and P the order, plus the
// rounding of the coefficients. It is at most a sixteenth of exp(-4 Gamma), the smallest
// weight there is. Errors: ErrBandwidth, ErrShape, and ErrTolerance for an order that is
// too low for that or has too many terms.
func UnitPolyError(b Bandwidth, n, d, order int) (entry, rounding float64, err error) {
	if err := b.Check(); err != nil {
		return 0, 0, err
	}
	if n < 2 || d < 1 {
		return 0, 0, fmt.Errorf("kernel: unit poly: %w: %d x %d", ErrShape, n, d)
	}
	s, err := unitSeries(b, d, order)
	if err != nil {
		return 0, 0, fmt.Errorf("kernel: unit poly: %w", err)
	}
	square := b.Weight(2)
	entry = square * s.error() * (1 + 0x1p-50)
	low := b.Weight(4) - entry // unitSeries has seen to it that it is positive
	// The moments have the row itself, whose weight is at most 1 + entry, or within the
	// hundredth that polyRounding adds of it for the null record. Rows are of
	// unit norm but for (2 d + 8) 2^-53, which moves u by as much twice and p(u) by no more
	// than its slope. They are not scaled: the coefficient of degree r has 2 Gamma to the
	// power r, whose r roundings, which polyRounding counts, would move p(u) by no more than
	// one of u. For the diagonal, which is taken off, |x_i|^2 is made of scaled coordinates,
	// with four roundings more. The factors are rounded too.
	rounding = polyRounding(s, n, d, false) * (1 + (1+entry)/(float64(n-1)*low))
	moved := s.reach() * float64(4*d+32) * 0x1p-53
	rounding += square * (s.slope() + math.Abs(s.linear())) * moved / low
	rounding += 32 * 0x1p-53
	return entry, rounding, nil
}

// MaxUnitPolyOrder returns the largest order that NewUnitPoly takes in d dimensions.
func MaxUnitPolyOrder(d int) int {
	order := 0
	for order < maxPolyOrder && polyTerms(d, order+1)+1 <= maxPolyTerms {
		order++
	}
	return order
}

// unitSeries returns the polynomial for unit rows.
func unitSeries(b Bandwidth, d, order int) (series, error) {
	if order < 0 || order > MaxUnitPolyOrder(d) {
		return series{}, fmt.Errorf("%w: order %d in %d dimensions, want up to %d terms of an order up to %d", ErrTolerance, order, d, maxPolyTerms, maxPolyOrder)
	}
	reach := 2 * b.gamma * (1 + float64(8*d+64)*0x1p-53)
	if reach > maxPolyReach {
		return series{}, fmt.Errorf("%w: exponents of unit rows reach %.3g at %v", ErrTolerance, reach, b)
	}
	s := chebyshevSeries(-reach, reach, order)
	if s.error() > math.Exp(-reach)/16 {
		return series{}, fmt.Errorf("%w: a polynomial of order %d is off by more than a sixteenth of the smallest weight at %v", ErrTolerance, order, b)
	}
	return s, nil
}
