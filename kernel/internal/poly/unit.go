package poly

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
)

// NewUnit builds the operator poly of unit rows. The polynomial has the given order and
// follows from public numbers alone.
func NewUnit(ctx context.Context, rows *distance.UnitRows, b base.Bandwidth, order int, o *base.Options) (*Poly, error) {
	if _, err := rows.Weights(b); err != nil {
		return nil, err
	}
	op, err := assembleUnitPoly(ctx, rows, b, order, o)
	return op, base.BuildError("poly", err)
}

func assembleUnitPoly(ctx context.Context, rows *distance.UnitRows, b base.Bandwidth, order int, o *base.Options) (*Poly, error) {
	if err := o.RefuseFixed("poly"); err != nil {
		return nil, err
	}
	n, d := rows.N(), rows.Dim()
	s, err := UnitSeries(b, d, order)
	if err != nil {
		return nil, err
	}
	fr := &polyFrame{p: rows.Points(), scale: math.Sqrt(2 * b.Gamma()), InPlace: true, square: 2 * b.Gamma(), kernels: o.Kernels}
	plan := &polyPlan{frame: fr, choice: polyChoice{series: s, terms: polyTerms(d, order) + 1}}
	cost := polyCost(fr.p, plan.choice, o)
	if err := o.Take("build poly", cost.PeakBytes); err != nil {
		return nil, err
	}
	if err := fr.measure(ctx, o); err != nil {
		return nil, err
	}
	op := assemblePoly(fr, plan.choice, o)
	op.Costs = cost
	for i := range n {
		op.Factor[i] = b.Weight(1)
		if rows.Null(i) {
			op.Factor[i] = 1 / s.A[0]
		}
		op.self[i] = op.Factor[i] * op.Factor[i] * s.At(fr.norm2[i])
	}
	if err := op.sumDegrees(ctx); err != nil {
		return nil, err
	}
	return op, op.certify(ctx, plan, o)
}

// UnitError returns bounds of what an operator of NewUnit is off by.
func UnitError(b base.Bandwidth, n, d, order int) (entry, rounding float64, err error) {
	if err := b.Check(); err != nil {
		return 0, 0, err
	}
	if n < 2 || d < 1 {
		return 0, 0, fmt.Errorf("kernel: unit poly: %w: %d x %d", base.ErrShape, n, d)
	}
	s, err := UnitSeries(b, d, order)
	if err != nil {
		return 0, 0, fmt.Errorf("kernel: unit poly: %w", err)
	}
	square := b.Weight(2)
	entry = square * s.Error() * (1 + 0x1p-50)
	low := b.Weight(4) - entry // UnitSeries has seen to it that it is positive
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

// MaxUnitOrder returns the largest order that NewUnit takes in d dimensions.
func MaxUnitOrder(d int) int {
	order := 0
	for order < maxPolyOrder && polyTerms(d, order+1)+1 <= maxPolyTerms {
		order++
	}
	return order
}

// UnitSeries returns the polynomial for unit rows.
func UnitSeries(b base.Bandwidth, d, order int) (Series, error) {
	if order < 0 || order > MaxUnitOrder(d) {
		return Series{}, fmt.Errorf("%w: order %d in %d dimensions, want up to %d terms of an order up to %d", base.ErrTolerance, order, d, maxPolyTerms, maxPolyOrder)
	}
	reach := 2 * b.Gamma() * (1 + float64(8*d+64)*0x1p-53)
	if reach > maxPolyReach {
		return Series{}, fmt.Errorf("%w: exponents of unit rows reach %.3g at %v", base.ErrTolerance, reach, b)
	}
	s := chebyshevSeries(-reach, reach, order)
	if s.Error() > math.Exp(-reach)/16 {
		return Series{}, fmt.Errorf("%w: a polynomial of order %d is off by more than a sixteenth of the smallest weight at %v", base.ErrTolerance, order, b)
	}
	return s, nil
}
