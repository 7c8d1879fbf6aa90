package kernel

import (
	"context"
	"fmt"
	"math"
)

// newUnitPoly builds the operator poly of unit rows. The polynomial has the given order and
// follows from public numbers alone.
func newUnitPoly(ctx context.Context, rows *innerUnitRows, b innerBandwidth, order int, o *innerOptions) (*poly, error) {
	if _, err := rows.weights(b); err != nil {
		return nil, err
	}
	op, err := assembleUnitPoly(ctx, rows, b, order, o)
	return op, buildError("poly", err)
}

func assembleUnitPoly(ctx context.Context, rows *innerUnitRows, b innerBandwidth, order int, o *innerOptions) (*poly, error) {
	if err := o.refuseFixed("poly"); err != nil {
		return nil, err
	}
	n, d := rows.N(), rows.dim()
	s, err := unitSeries(b, d, order)
	if err != nil {
		return nil, err
	}
	fr := &polyFrame{p: rows.points(), scale: math.Sqrt(2 * b.Gamma()), inPlace: true, square: 2 * b.Gamma(), kernels: o.Kernels}
	plan := &polyPlan{frame: fr, choice: polyChoice{series: s, terms: polyTerms(d, order) + 1}}
	cost := polyCost(fr.p, plan.choice, o)
	if err := o.take("build poly", cost.PeakBytes); err != nil {
		return nil, err
	}
	if err := fr.measure(ctx, o); err != nil {
		return nil, err
	}
	op := assemblePoly(fr, plan.choice, o)
	op.costs = cost
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

// unitPolyError returns bounds of what an operator of newUnitPoly is off by.
func unitPolyError(b innerBandwidth, n, d, order int) (entry, rounding float64, err error) {
	if err := b.Check(); err != nil {
		return 0, 0, err
	}
	if n < 2 || d < 1 {
		return 0, 0, fmt.Errorf("kernel: unit poly: %w: %d x %d", innerErrShape, n, d)
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

// maxUnitPolyOrder returns the largest order that newUnitPoly takes in d dimensions.
func maxUnitPolyOrder(d int) int {
	order := 0
	for order < maxPolyOrder && polyTerms(d, order+1)+1 <= maxPolyTerms {
		order++
	}
	return order
}

// unitSeries returns the polynomial for unit rows.
func unitSeries(b innerBandwidth, d, order int) (series, error) {
	if order < 0 || order > maxUnitPolyOrder(d) {
		return series{}, fmt.Errorf("%w: order %d in %d dimensions, want up to %d terms of an order up to %d", innerErrTolerance, order, d, maxPolyTerms, maxPolyOrder)
	}
	reach := 2 * b.Gamma() * (1 + float64(8*d+64)*0x1p-53)
	if reach > maxPolyReach {
		return series{}, fmt.Errorf("%w: exponents of unit rows reach %.3g at %v", innerErrTolerance, reach, b)
	}
	s := chebyshevSeries(-reach, reach, order)
	if s.error() > math.Exp(-reach)/16 {
		return series{}, fmt.Errorf("%w: a polynomial of order %d is off by more than a sixteenth of the smallest weight at %v", innerErrTolerance, order, b)
	}
	return s, nil
}
