package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/sparse"
)

func csrCandidate(_ context.Context, p *pointSet, b Bandwidth, pr *profile, o *Options) Candidate {
	c := Candidate{Feasible: true, Radius: truncationRadius(p, b, pr, o)}
	mean, upper := pr.neighbours(c.Radius)
	if o.Neighbours > 0 { // of each point, and of some others
		upper = 2 * min(float64(o.Neighbours), float64(p.n-1))
	}
	c.Neighbours = mean
	c.Cost = csrCost(p.n, p.d, math.Ceil(upper*float64(p.n)), o)
	c.Eta = pr.dropped(b, c.Radius, o.Tolerance, farBoundOf(p)) + truncatedRel(p, b)
	if o.Layout == sparse.Compact16 {
		c.Eta += 0x1p-11
	}
	if math.IsInf(c.Radius, 1) {
		c.Reason = "every pair stored: most are within the radius the tolerance asks for"
		return c
	}
	c.Reason = fmt.Sprintf("about %.4g stored neighbours a row within %.4g", mean, c.Radius)
	return c
}

// truncationRadius returns the radius of a truncated kernel: the one asked for, or the
// one at which what is dropped and the error of float32 weights meet the tolerance.
func truncationRadius(p *pointSet, b Bandwidth, pr *profile, o *Options) float64 {
	switch {
	case o.CutoffRadius > 0:
		return o.CutoffRadius
	case o.Neighbours > 0:
		return pr.radiusFor(min(float64(o.Neighbours), float64(p.n-1)))
	}
	return pr.cutoff(b, max(o.Tolerance-truncatedRel(p, b), o.Tolerance/2), farBoundOf(p))
}

// truncatedRel is the error of a float32 weight.
func truncatedRel(p *pointSet, b Bandwidth) float64 {
	if p.d <= maxDirect {
		return directRel(p.d) + 1.18*0x1p-24 // simd.Weights
	}
	return newDistancer(p, nil).entryRel(b) + 0x1p-24 // the stored format
}

func buildCSR(ctx context.Context, p *pointSet, b Bandwidth, c *Candidate, o *Options) (Operator, error) {
	return withinTolerance(b, c.Radius, o, func(radius float64) (Operator, error) { return newCSR(ctx, p, b, radius, o) })
}

func buildPairs(ctx context.Context, p *pointSet, b Bandwidth, c *Candidate, o *Options) (Operator, error) {
	return withinTolerance(b, c.Radius, o, func(radius float64) (Operator, error) { return newPairs(ctx, p, b, radius, o) })
}

// withinTolerance builds a truncated operator, and once more with a larger radius if
// the sample that the first was chosen by was not like the rows.
func withinTolerance(b Bandwidth, radius float64, o *Options, build func(radius float64) (Operator, error)) (Operator, error) {
	op, err := build(radius)
	if err != nil || o.fixed() || math.IsInf(radius, 1) {
		return op, err
	}
	missed, eta := shortfall(op, o.Tolerance)
	if !missed {
		return op, nil
	}
	// A weight at the radius falls by the factor that is missing.
	raised := math.Sqrt(radius*radius + math.Log(eta/o.Tolerance)/b.gamma)
	if raised = min(raised, maxRadius(b)); !(raised > radius) {
		return op, nil
	}
	op.Close()
	wider, err := build(raised)
	if errors.Is(err, ErrMemory) && o.Force != "" {
		return build(radius) // what was asked for, and its certificate tells what it misses
	}
	return wider, err
}
