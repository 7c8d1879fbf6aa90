package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pairwise"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// UnitRows are rows of features, each divided by its norm in float64. One of them may be a
// null record, which has no direction. The operators that have a bound on what one record
// can change are built from UnitRows: that bound rests on the range of the weights between
// unit rows, and a float32 row has unit norm to 1e-7 only.
//
// UnitRows are immutable and safe for concurrent use. They are a copy: the
// features are not needed afterwards.
type UnitRows struct{ own distance.UnitRows }

// UnitOptions say which rows NewUnitRows accepts. The zero value accepts rows
// of unit norm only.
type UnitOptions struct {
	// Normalize accepts rows of any norm but zero. By default a norm must be
	// within 1e-6 of 1.
	Normalize bool
	// Nulls is the number of rows that may be null records, rows of zeros: 0 or
	// 1. Default 0.
	Nulls int
	// MaxMemory is the memory that may be taken. Default: three quarters of
	// what the machine has available.
	MaxMemory int64
	// Workers share the rows. Default: the caller works alone. The rows have the same
	// bits for any number of workers.
	Workers *par.Workers
}

// NewUnitRows divides rows of features in either precision by their norms. Errors: ErrShape and
// ErrEmpty, *privatemail.NonFiniteError, *UnitNormError, *privatemail.ZeroRowError for the first row
// of zeros beyond UnitOptions.Nulls, ErrOption, *MemoryError.
func NewUnitRows[M points.Matrix](features M, o UnitOptions) (*UnitRows, error) {
	var own *distance.UnitRows
	var err error
	switch x := any(features).(type) {
	case blas32.General:
		own, err = distance.NewUnitRows(rows.View32(x), distance.UnitOptions(o))
	case blas64.General:
		own, err = distance.NewUnitRows(rows.View64(x), distance.UnitOptions(o))
	}
	if err != nil {
		return nil, err
	}
	return &UnitRows{*own}, nil
}

// N returns the number of rows.
func (r *UnitRows) N() int { return r.own.N() }

// Null reports whether row i is the null record.
func (r *UnitRows) Null(i int) bool { return r.own.Null(i) }

// Except returns a copy of all rows but the given one, in their order. It panics if there is
// no such row.
func (r *UnitRows) Except(row int) blas64.General { return r.own.Except(row) }

// open validates what the operators of unit rows are given and fills in the defaults.
func (r *UnitRows) open(ctx context.Context, opt *Options) (*distance.UnitRows, *base.Options, error) {
	if r == nil {
		return nil, nil, fmt.Errorf("kernel: unit rows: %w", ErrEmpty)
	}
	o, err := opt.agreed(ctx)
	return &r.own, o, err
}

// Dense builds the operator dense of the rows. Squared distances are
// at least 0, and weights at least exp(-4 Gamma), so that every weight is in
// [exp(-4 Gamma), 1] whatever rounding does. The weight between a null record and any other row is exp(-Gamma) by
// definition. A Gamma above 175 is refused with ErrBandwidth; up to 175 no row
// is isolated unless it is the only one. Building it measures no pair: the degrees come
// with the first product, or when they are asked for.
func (r *UnitRows) Dense(ctx context.Context, b Bandwidth, opt *Options) (Operator64, error) {
	unit, o, err := r.open(ctx, opt)
	if err != nil {
		return nil, err
	}
	weights, err := unit.Weights(b.own)
	if err != nil {
		return nil, err
	}
	return publicOr[Operator64](pairwise.NewDense(ctx, unit.Points(), weights, b.own, o))
}

// Poly builds the operator poly of the rows. The polynomial has the given order and
// follows from public numbers alone: the centre is the origin, the inner products
// are those that unit rows may have, and f_i is exp(-Gamma) by definition,
//
//	what_ij = exp(-2 Gamma) p(2 Gamma x_i.x_j),
//
// with p the interpolant at the Chebyshev nodes of [-2 Gamma, 2 Gamma]. The weight between
// the null record and any other row is exp(-Gamma) exactly. Bandwidth.UnitPolyError says by how much
// the weights and the sums over them may be off, whatever the rows are; the certificate is
// about the rows at hand, like every certificate.
func (r *UnitRows) Poly(ctx context.Context, b Bandwidth, order int, opt *Options) (Operator64, error) {
	unit, o, err := r.open(ctx, opt)
	if err != nil {
		return nil, err
	}
	return publicOr[Operator64](poly.NewUnit(ctx, unit, b.own, order, o))
}

// UnitPolyError returns bounds of what an operator of UnitRows.Poly is off by. They follow
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
func (b Bandwidth) UnitPolyError(n, d, order int) (entry, rounding float64, err error) {
	return poly.UnitError(b.own, n, d, order)
}

// MaxUnitPolyOrder returns the largest order that UnitRows.Poly takes in d dimensions.
func MaxUnitPolyOrder(d int) int { return poly.MaxUnitOrder(d) }

// Background builds the operator background of the rows: the Gaussian kernel within a
// radius, and one constant weight beyond it. The radius is in (0, 2] and the weight in
// [exp(-4 Gamma), exp(-Gamma radius^2)], whose ends may be missed by a relative 1e-12;
// otherwise the error is ErrOption. Weights within the radius that come out below the
// constant are raised to it. All pairs are measured twice, once to count those within the
// radius and once to store them, so the memory is known before it is taken. How much it
// is depends on the data, and so do the numbers of a *MemoryError. The rows are not needed
// afterwards.
func (r *UnitRows) Background(ctx context.Context, b Bandwidth, radius, weight float64, opt *Options) (Operator64, error) {
	unit, o, err := r.open(ctx, opt)
	if err != nil {
		return nil, err
	}
	return publicOr[Operator64](pairwise.NewBackground(ctx, unit, b.own, radius, weight, o))
}
