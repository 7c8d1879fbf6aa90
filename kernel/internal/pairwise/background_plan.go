package pairwise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// BackgroundCandidate plans the kernel with a constant background for rows of unit
// norm: the least radius at which the constant halfway between the weights at the
// radius and of opposite rows is close enough for all pairs beyond it.
func BackgroundCandidate(_ context.Context, p *rows.Points, b base.Bandwidth, pr *profile.Profile, o *base.Options) step.Candidate {
	c := step.EveryPair(p.N)
	off, ok := offUnit(p)
	switch {
	case !ok:
		c.Reason = "for rows of unit norm"
		return c
	case 4*b.Gamma() > distance.MaxUnitExponent:
		c.Reason = "for a sigma of at least 0.0535"
		return c
	}
	rel := rescaledRel(b, off) + (&distance.UnitWeights{Bandwidth: b}).EntryRel(p.D)
	eta := func(r float64) float64 {
		constant, gap := backgroundWeight(b, r)
		var rows []float64
		cut := pr.CutAt(r)
		for i := range pr.Rows {
			beyond := max(float64(pr.Points-1)-pr.Within(i, cut), 0)
			rows = append(rows, beyond*gap/max(pr.Degree(i, b), constant*float64(pr.Points-1)))
		}
		slices.Sort(rows)
		return rows[(len(rows)-1)*99/100] + rel
	}
	c.Radius = profile.Bisect(2, func(r float64) bool { return eta(r) <= o.Tolerance })
	c.Eta = eta(c.Radius)
	mean, upper := pr.Neighbours(c.Radius)
	c.MeanNeighbours = mean
	c.Cost = backgroundCost(p.N, p.D, math.Ceil(upper*float64(p.N)), o)
	c.Cost.PeakBytes = mem.Saturate(float64(c.Cost.PeakBytes) + 8*float64(p.N)*float64(p.D)) // the rows in float64
	c.Feasible = true
	c.Reason = fmt.Sprintf("about %.4g stored neighbours a row within %.4g and a constant beyond", mean, c.Radius)
	radius := c.Radius
	c.Build = func(ctx context.Context, o *base.Options) (step.Operator, error) {
		return step.OrNil[step.Operator](backgroundOf(ctx, p, b, radius, o))
	}
	return c
}

// backgroundWeight returns the constant for a radius, and how far from it the weights
// of unit rows beyond the radius are at most.
func backgroundWeight(b base.Bandwidth, radius float64) (constant, gap float64) {
	edge, low := b.Weight(radius*radius), b.Weight(4)
	return (edge + low) / 2, (edge - low) / 2
}

// offUnit reports whether all rows are of unit norm, and by how much they are not.
func offUnit(p *rows.Points) (off float64, ok bool) {
	for i := range p.N {
		sum := 0.0
		for _, v := range p.Single.Row(i) {
			sum += float64(v) * float64(v)
		}
		off = max(off, math.Abs(math.Sqrt(sum)-1))
		if !(off <= distance.UnitTolerance) {
			return off, false
		}
	}
	return off + float64(p.D+4)*0x1p-53, true
}

// rescaledRel bounds the relative error of a weight between rows that were divided by
// their norms. No norm differs from 1 by more than off, so the distance, at most 2 with
// all rounding, changes by at most twice off and its square by 8 off + 4 off^2.
func rescaledRel(b base.Bandwidth, off float64) float64 {
	return math.Expm1(b.Gamma() * (8*off*(1+off) + 4*off*off))
}

// backgroundOf builds the operator of points that are of unit norm but for rounding.
func backgroundOf(ctx context.Context, p *rows.Points, b base.Bandwidth, radius float64, o *base.Options) (*Background, error) {
	own := 8 * int64(p.N) * int64(p.D)
	if err := o.Take("build background: unit rows", own); err != nil {
		return nil, err
	}
	unit, err := distance.NewUnitRows(p.Single, distance.UnitOptions{MaxMemory: o.MaxMemory})
	if err != nil {
		return nil, err
	}
	constant, _ := backgroundWeight(b, radius)
	op, err := NewBackground(ctx, unit, b, radius, constant, o.Beside(own))
	if err != nil {
		return nil, err
	}
	// Relative to the rows as they were given.
	off, _ := offUnit(p)
	rel := rescaledRel(b, off)
	op.Cert.EntryRel += rel
	eta := make([]float64, p.N)
	for i := range eta {
		eta[i] = op.Cert.Eta(i)
		eta[i] += rel * (1 + eta[i])
	}
	op.Cert.SetRows(eta)
	if worst := op.Cert.WorstConnected(); o.Isolated != base.Keep && worst > o.Tolerance { // nothing repairs a row
		return nil, &base.ToleranceError{Tolerance: o.Tolerance, Eta: worst, Operator: op.Name()}
	}
	return op, nil
}

// LeastBackground is what the operator takes at the least with n points in d dimensions.
func LeastBackground(n, d int, o *base.Options) int64 {
	return mem.Saturate(8*float64(n)*float64(d) + float64(backgroundBytes(n, d, o)))
}
