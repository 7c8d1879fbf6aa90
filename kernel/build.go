package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
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
// takes more memory than the budget, Build goes on to the next one. A *ToleranceError or
// *MemoryError says that no operator can serve.
func (p *Points) Build(ctx context.Context, b Bandwidth, opt *Options) (_ Operator, err error) {
	defer par.Catch(&err)
	o, err := p.options(ctx, b, opt)
	if err != nil {
		return nil, err
	}
	pts := p.rows
	if o.CutoffRadius > 0 && o.Operator == "pairs" {
		if err := p.foreseePairs(o); err != nil {
			return nil, err
		}
		return orNil[Operator](newPairs(ctx, pts, b, o.CutoffRadius, o)) // nothing to choose
	}
	if o.fixed() && (o.Operator == "" || o.Operator == "csr") {
		// Nothing to choose: the search finds out exactly what a sample could
		// only guess.
		op, err := p.foreseenCSR(ctx, b, o)
		if errors.Is(err, ErrMemory) && !denied(err) && o.Operator == "" && o.CutoffRadius > 0 && pts.D <= maxDirect {
			if err := p.foreseePairs(o); err != nil {
				return nil, err
			}
			return orNil[Operator](newPairs(ctx, pts, b, o.CutoffRadius, o))
		}
		return orNil[Operator](op, err)
	}
	if o.Operator == "" && !o.fixed() && pts.N > surveyedAtOnce {
		// Where a polynomial of order 1 does, nothing else comes near it, and the
		// sample that all the others need would take longer than the rest.
		poly, err := planPoly(ctx, pts, b, o.whole())
		if err == nil && poly.choice.terms > 0 && poly.choice.series.order() <= 1 {
			if op, err := newPoly(ctx, poly, o.whole()); err == nil || ctx.Err() != nil || denied(err) {
				return orNil[Operator](op, err)
			}
		}
	}
	candidates, err := p.plan(ctx, b, o)
	if err != nil {
		return nil, err
	}
	return build(ctx, pts, b, candidates, o)
}

// surveyedAtOnce is a number of points of which a sample costs nothing to speak of.
const surveyedAtOnce = 1 << 16

// build builds the first candidate that keeps what it promised.
func build(ctx context.Context, p *rows.Points, b Bandwidth, candidates []Candidate, o *Options) (Operator, error) {
	var isolated error
	for i := range candidates {
		c := &candidates[i]
		if !c.Feasible {
			break
		}
		op, err := c.method.build(ctx, p, b, c, c.method.options(o))
		switch {
		case err == nil && (o.Operator != "" || o.fixed()):
			return op, nil // what was asked for
		case err == nil:
			missed, eta := shortfall(op, o.Tolerance)
			if !missed {
				return op, nil
			}
			c.limit, c.Eta = byTolerance, eta
			op.Close()
		case o.Operator != "" || denied(err):
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

// missedShare is the share of rows that may miss the tolerance. 99 in 100 rows should meet
// it, and a sample of some hundred rows cannot tell 1 in 100 from 4 in 100.
const missedShare = 0.04

// shortfall tells whether more rows than missedShare miss the tolerance, and returns the
// error that 99 in 100 rows do not exceed. Isolated rows, and rows whose weights are below
// the range of float32, do not count.
func shortfall(op Operator, tolerance float64) (missed bool, eta float64) {
	cert := op.Certificate()
	if cert.Row == nil {
		return cert.RowMax > tolerance, cert.RowMax
	}
	if _, ok := op.(*grid); ok && float64(cert.Isolated) > missedShare*float64(op.N()) {
		return true, math.Inf(1) // the grid has taken them out, but they have neighbours
	}
	least := underflowDegree(op.N(), tolerance)
	var connected []float32
	above := 0
	for i, d := range op.Degrees() {
		if d < least {
			continue
		}
		connected = append(connected, cert.Row[i])
		if float64(cert.Row[i]) > tolerance*(1+0x1p-23) {
			above++
		}
	}
	if len(connected) == 0 {
		return false, 0
	}
	return float64(above) > missedShare*float64(len(connected)), float64(ranked(connected, split.Part(len(connected)-1, 99, 100)))
}

// underflowDegree is the degree below which weights beyond the range of float32 matter.
func underflowDegree(n int, tolerance float64) float64 { return 0x1p-125 * float64(n) / tolerance }

// infeasible says why no candidate can serve: the one that would take the least memory
// beyond the budget, or else the one that would come closest to the tolerance.
func infeasible(candidates []Candidate, o *Options) error {
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
		e := &MemoryError{What: "build " + least.Name, Need: least.Cost.PeakBytes, Budget: o.BudgetBytes}
		if least.Name == "csr" {
			e.instead = "a smaller sigma or cutoff or a larger tolerance stores fewer weights"
			if !o.fixed() {
				e.instead += "; the operator dense stores none"
			}
		}
		return e
	case closest != nil:
		return &ToleranceError{Tolerance: o.Tolerance, Eta: closest.Eta, Operator: closest.Name, seconds: closest.Seconds, bytes: closest.Cost.PeakBytes}
	}
	for _, c := range candidates {
		if o.Operator == "" || o.Operator == c.Name {
			return fmt.Errorf("kernel: build: %w: %s: %s", ErrOperator, c.Name, c.Reason)
		}
	}
	return unknownOperator(o.Operator)
}
