package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/grid"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// Build opens points and builds an operator of them: it is Open and Points.Build, but for
// Options.Ranks, which share the look at the points, too.
func Build(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Operator, error) {
	pts, err := openShared(ctx, p, opt)
	if err != nil {
		return nil, err
	}
	return pts.Build(ctx, b, opt)
}

// Build builds the operator that Options.Operator names. Without a name it builds the
// first operator that Plan lists. If too many of its rows miss the tolerance, or if it
// takes more memory than the memory limit, Build goes on to the next one. A *ToleranceError or
// *MemoryError says that no operator can serve.
func (p *Points) Build(ctx context.Context, b Bandwidth, opt *Options) (_ Operator, err error) {
	defer par.Catch(&err)
	o, err := p.options(ctx, b, opt)
	if err != nil {
		return nil, err
	}
	op, err := p.build(ctx, b, o, opt.calibration())
	if err != nil {
		return nil, err
	}
	return public(op), nil
}

func (p *Points) build(ctx context.Context, b Bandwidth, o *base.Options, own *Calibration) (step.Operator, error) {
	pts := p.rows
	if o.CutoffRadius > 0 && o.Operator == "pairs" {
		if err := truncated.ForeseePairs(pts, p.foreseenSample(o), o); err != nil {
			return nil, err
		}
		return step.OrNil[step.Operator](truncated.NewPairs(ctx, pts, b.own, o.CutoffRadius, o)) // nothing to choose
	}
	if o.Fixed() && (o.Operator == "" || o.Operator == "csr") {
		// Nothing to choose: the search finds out exactly what a sample could
		// only guess.
		op, err := p.csrAsAsked(ctx, b, o)
		if errors.Is(err, ErrMemory) && !base.Denied(err) && o.Operator == "" && o.CutoffRadius > 0 && pts.D <= base.MaxDirect {
			if err := truncated.ForeseePairs(pts, p.foreseenSample(o), o); err != nil {
				return nil, err
			}
			return step.OrNil[step.Operator](truncated.NewPairs(ctx, pts, b.own, o.CutoffRadius, o))
		}
		return op, err
	}
	if o.Operator == "" && !o.Fixed() && pts.N > surveyedAtOnce {
		// Where a polynomial of order 1 does, nothing else comes near it, and the
		// sample that all the others need would take longer than the rest.
		if op, err := poly.AtOnce(ctx, pts, b.own, o.Whole()); op != nil || err != nil {
			return step.OrNil[step.Operator](op, err)
		}
	}
	candidates, err := p.plan(ctx, b, o, own)
	if err != nil {
		return nil, err
	}
	return build(ctx, candidates, o)
}

// csrAsAsked builds csr with the options as they are, unless it has no hope.
func (p *Points) csrAsAsked(ctx context.Context, b Bandwidth, o *base.Options) (step.Operator, error) {
	if err := truncated.ForeseeCSR(p.rows, p.foreseenSample(o), o); err != nil {
		return nil, err
	}
	return step.OrNil[step.Operator](truncated.NewCSR(ctx, p.rows, b.own, o.CutoffRadius, o))
}

// surveyedAtOnce is a number of points of which a sample costs nothing to speak of.
const surveyedAtOnce = 1 << 16

// build builds the first candidate that keeps what it promised.
func build(ctx context.Context, candidates []Candidate, o *base.Options) (step.Operator, error) {
	var isolated error
	for i := range candidates {
		c := &candidates[i]
		if !c.Feasible {
			break
		}
		op, err := c.build(ctx, c.method.options(o))
		switch {
		case err == nil && (o.Operator != "" || o.Fixed()):
			return op, nil // what was asked for
		case err == nil:
			missed, eta := shortfallOf(op, o.Tolerance)
			if !missed {
				return op, nil
			}
			c.limit, c.Eta = byTolerance, eta
			op.Close()
		case o.Operator != "" || base.Denied(err):
			return nil, err
		case errors.Is(err, ErrIsolated):
			isolated = err // another may see farther
		case errors.Is(err, ErrTolerance):
			c.limit = byTolerance
			if e := (*ToleranceError)(nil); errors.As(err, &e) {
				c.Eta = e.Eta
			}
		case errors.Is(err, ErrMemory):
			c.limit = byMemory
			if e := (*MemoryError)(nil); errors.As(err, &e) {
				c.Cost.PeakBytes = c.method.with(e.Need, o)
			}
		default:
			return nil, err
		}
		c.Feasible, c.Reason = false, "tried: "+c.Reason
	}
	if isolated != nil {
		return nil, isolated
	}
	return nil, infeasible(candidates, o)
}

// shortfallOf is step.Shortfall, but for a grid that has taken out too many rows, which have
// neighbours all the same.
func shortfallOf(op step.Operator, tolerance float64) (missed bool, eta float64) {
	if _, ok := op.(*grid.Grid); ok && float64(op.Certificate().Isolated) > step.MissedShare*float64(op.N()) {
		return true, math.Inf(1)
	}
	return step.Shortfall(op, tolerance)
}

// infeasible says why no candidate can serve: the one that would take the least memory
// beyond the memory limit, or else the one that would come closest to the tolerance.
func infeasible(candidates []Candidate, o *base.Options) error {
	var least, closest *Candidate
	for i := range candidates {
		c := &candidates[i]
		if c.limit == byMemory && (least == nil || c.Cost.PeakBytes < least.Cost.PeakBytes) {
			least = c
		}
		if c.limit == byTolerance && (closest == nil || c.Eta < closest.Eta) {
			closest = c
		}
	}
	switch {
	case least != nil:
		err := base.Refused("build "+least.Name, least.Cost.PeakBytes, o.MaxMemory, false)
		switch {
		case least.Name != "csr":
		case o.Fixed():
			base.Advise(err, "a smaller sigma or cutoff or a larger tolerance stores fewer weights")
		default:
			base.Advise(err, "a smaller sigma or cutoff or a larger tolerance stores fewer weights; the operator dense stores none")
		}
		return err
	case closest != nil:
		return base.Priced(ToleranceError{Tolerance: o.Tolerance, Eta: closest.Eta, Operator: closest.Name}, closest.Seconds, closest.Cost.PeakBytes)
	}
	for _, c := range candidates {
		if o.Operator == "" || o.Operator == c.Name {
			return fmt.Errorf("kernel: build: %w: %s: %s", ErrOperator, c.Name, c.Reason)
		}
	}
	return unknownOperator(o.Operator)
}
