package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/grid"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
)

func mustPoints(t pointtest.Tester, p blas32.General) *rows.Points {
	t.Helper()
	pts, err := base.Points32(t.Context(), p, &base.Options{Kernels: simd.At(simd.Best())})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return pts
}

// planOf opens points and plans.
func planOf(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) ([]Candidate, error) {
	pts, err := Open(p, opt)
	if err != nil {
		return nil, err
	}
	return pts.Plan(ctx, b, opt)
}

// bandwidthForDegree opens points and finds a bandwidth.
func bandwidthForDegree(ctx context.Context, p blas32.General, degree, cutoff float64, opt *Options) (Bandwidth, float64, error) {
	pts, err := Open(p, opt)
	if err != nil {
		return Bandwidth{}, 0, err
	}
	return pts.BandwidthForDegree(ctx, degree, cutoff, opt)
}

// roomOf returns the operator that a room has built.
func roomOf(op Operator) step.Operator {
	switch op := op.(type) {
	case *operator:
		return op.Operator
	case *operator64:
		return op.Operator
	case *truncatedOperator:
		return op.Operator
	}
	panic("an operator of no room")
}

// as returns the operator that a room has built for a constructor.
func as[C step.Operator, I Operator](op I, err error) (C, error) {
	if err != nil {
		var none C
		return none, err
	}
	return roomOf(op).(C), nil
}

// asOperator returns what a constructor returns as an Operator.
func asOperator[I Operator](op I, err error) (Operator, error) {
	if err != nil {
		return nil, err
	}
	return op, nil
}

// openCSR opens points and builds the operator csr, whatever a plan would say.
func openCSR(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Truncated, error) {
	pts, o, err := open(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	radius, err := pts.cutoff(ctx, b, o)
	if err != nil {
		return nil, err
	}
	return publicOr[Truncated](truncated.NewCSR(ctx, pts.rows, b.own, radius, o))
}

// openPairs opens points and builds the operator pairs.
func openPairs(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Truncated, error) {
	pts, o, err := open(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	radius, err := pts.cutoff(ctx, b, o)
	if err != nil {
		return nil, err
	}
	return publicOr[Truncated](truncated.NewPairs(ctx, pts.rows, b.own, radius, o))
}

// cutoff returns the radius of a truncated kernel. It needs a sample only if the radius is to
// follow from the tolerance.
func (p *Points) cutoff(ctx context.Context, b Bandwidth, o *base.Options) (float64, error) {
	if o.Fixed() {
		return o.CutoffRadius, nil
	}
	pr, err := p.profile(ctx, o)
	if err != nil {
		return 0, err
	}
	return truncated.CutoffFor(p.rows, b.own, pr, o), nil
}

// openGrid opens points and builds the operator grid.
func openGrid(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Operator64, error) {
	pts, o, err := open(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	return publicOr[Operator64](grid.New(ctx, pts.rows, b.own, o))
}

// openPoly opens points in either precision and builds the operator poly.
func openPoly[M points.Matrix](ctx context.Context, p M, b Bandwidth, opt *Options) (Operator64, error) {
	pts, o, err := openEither(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	return publicOr[Operator64](poly.New(ctx, pts, b.own, o))
}
