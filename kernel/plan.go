package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/grid"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pairwise"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// quickEnough is the time, in seconds of one worker, up to which the dense operator,
// which needs no tolerance, is the first choice: no other gains what could be noticed.
const quickEnough = 0.05

// A Candidate is an operator that Plan has looked at, with what it would cost.
type Candidate struct {
	Name string
	// Seconds is the estimated time of building the operator and of Options.Steps steps,
	// with Options.Workers. Cost has the times of one worker.
	Seconds float64
	Cost    Cost
	// Eta is the error expected for 99 in 100 rows, isolated ones aside.
	Eta float64
	// Radius is the cutoff, +Inf where every pair has a weight, and MeanNeighbours is the
	// mean number of neighbours of a point within the cutoff.
	Radius, MeanNeighbours float64
	// Degrees says what the degrees of the rows will be like.
	Degrees Degrees
	// Feasible is false when the candidate cannot serve. Reason says why it cannot, or
	// what speaks for it and against it. A candidate that cannot do what is asked for, or
	// that Options.Operator does not name, has no Cost, and NaN for Seconds and Eta.
	Feasible bool
	Reason   string

	method method
	limit  limit
	build  func(ctx context.Context, o *base.Options) (step.Operator, error)
}

// Degrees are the degrees of a graph as a sample of its rows has them.
type Degrees struct {
	// Mean is the mean degree, and Quantiles are the degrees that 1, 10, 50, 90
	// and 99 in 100 rows do not exceed.
	Mean      float64
	Quantiles [5]float64
	// Isolated is the number of rows expected to have no neighbour: none within
	// the radius, or none whose weight is in the range of float32.
	Isolated float64
}

// A limit is what makes a candidate infeasible.
type limit int

const (
	byNature    limit = iota // it does not do what is asked for
	byMemory                 // it would exceed the memory limit
	byTolerance              // it would miss the tolerance
)

// A method is an operator the plan can choose.
type method struct {
	name     string
	estimate func(ctx context.Context, p *rows.Points, b base.Bandwidth, pr *profile.Profile, o *base.Options) step.Candidate
	// What building and stepping mostly consist of, for the calibration.
	building, stepping workClass
	truncates          bool // it can serve a graph that is fixed
	// least is what it takes at the least with n points in d dimensions, in bytes.
	least func(n, d int, o *base.Options) int64
}

// options returns those that the method plans and builds with.
func (m *method) options(o *base.Options) *base.Options {
	if m.truncates {
		return o
	}
	return o.Whole()
}

// with adds what comes on top of the memory that the method counts itself.
func (m *method) with(bytes int64, o *base.Options) int64 {
	if m.truncates {
		return bytes
	}
	return min(bytes, math.MaxInt64-o.StepBytes) + o.StepBytes
}

func methods() []method {
	return []method{
		{"dense", pairwise.DenseCandidate, vectorWork, vectorWork, false, pairwise.LeastDense},
		{"csr", truncated.CSRCandidate, searchWork, sparseWork, true, truncated.LeastCSR},
		{"pairs", truncated.PairsCandidate, vectorWork, vectorWork, true, truncated.LeastPairs},
		{"background", pairwise.BackgroundCandidate, vectorWork, scalarWork, false, pairwise.LeastBackground},
		{"poly", poly.Candidate, vectorWork, vectorWork, false, poly.Least},
		{"grid", grid.Candidate, vectorWork, vectorWork, false, grid.Least},
	}
}

// Plan lists every operator with its cost, the best first and those that
// cannot serve last. It looks at a sample of points and builds nothing.
func (p *Points) Plan(ctx context.Context, b Bandwidth, opt *Options) (_ []Candidate, err error) {
	defer par.Catch(&err)
	o, err := p.options(ctx, b, opt)
	if err != nil {
		return nil, err
	}
	return p.plan(ctx, b, o, opt.calibration())
}

func (p *Points) plan(ctx context.Context, b Bandwidth, o *base.Options, own *Calibration) ([]Candidate, error) {
	if o.Operator != "" && !slices.Contains(OperatorNames(), o.Operator) {
		return nil, unknownOperator(o.Operator)
	}
	pr, err := p.profile(ctx, o)
	if err != nil {
		return nil, err
	}
	speed, err := speedOf(ctx, o, own)
	if err != nil {
		return nil, err
	}
	var all []Candidate
	for _, m := range methods() {
		c := candidateOf(step.EveryPair(p.rows.N))
		switch {
		case o.Operator != "" && o.Operator != m.name:
			c.Reason = fmt.Sprintf("operator %s was asked for", o.Operator)
		case o.Fixed() && !m.truncates:
			c.Reason = base.RefusedFixed(m.name)
		default:
			c = candidateOf(m.estimate(ctx, p.rows, b.own, pr, m.options(o)))
			c.Cost.PeakBytes = m.with(c.Cost.PeakBytes, o)
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("kernel: plan: %w", err)
		}
		c.Name, c.method = m.name, m
		c.Cost.BuildSeconds *= m.building(speed, p.rows.D)
		c.Cost.StepSeconds *= m.stepping(speed, p.rows.D)
		c.Seconds = (c.Cost.BuildSeconds + float64(o.Steps)*c.Cost.StepSeconds) / float64(o.Workers.Count())
		if !c.Feasible { // it has no cost
			c.Cost, c.Seconds, c.Eta = Cost{}, math.NaN(), math.NaN()
		}
		c.Degrees = Degrees(pr.Degrees(b.own, c.Radius))
		if o.SelfTuned { // a sample does not know the scales
			c.Degrees = Degrees{Mean: math.NaN()}
			for q := range c.Degrees.Quantiles {
				c.Degrees.Quantiles[q] = math.NaN()
			}
		}
		c.check(o)
		all = append(all, c)
	}
	rank(all, o)
	return all, nil
}

// candidateOf returns what a package below says of its operator as a Candidate.
func candidateOf(c step.Candidate) Candidate {
	return Candidate{
		Cost: Cost(c.Cost), Eta: c.Eta, Radius: c.Radius, MeanNeighbours: c.MeanNeighbours, Feasible: c.Feasible, Reason: c.Reason,
		build: c.Build,
	}
}

// check finds out whether the options allow what was estimated.
func (c *Candidate) check(o *base.Options) {
	switch {
	case !c.Feasible:
	case c.Cost.PeakBytes > o.MaxMemory:
		what := "needs " + base.ByteCount(c.Cost.PeakBytes)
		if c.Cost.NNZ > 0 {
			what += " of weights"
		}
		c.Feasible, c.limit, c.Reason = false, byMemory, fmt.Sprintf("%s, limit %s: %s", what, base.ByteCount(o.MaxMemory), c.Reason)
	case c.Eta > o.Tolerance && !o.Fixed() && o.Operator == "":
		c.Feasible, c.limit, c.Reason = false, byTolerance, fmt.Sprintf("reaches eta %.2g, asked for %.2g: %s", c.Eta, o.Tolerance, c.Reason)
	}
}

// rank puts the best candidate first and says of the others how much longer they take.
// All operators share their work out to the workers, so how many there are does not
// change the order.
func rank(all []Candidate, o *base.Options) {
	seconds := func(c *Candidate) float64 { return c.Cost.BuildSeconds + float64(o.Steps)*c.Cost.StepSeconds }
	preferred := func(c *Candidate) bool {
		if o.Fixed() {
			return c.Name == "csr" // as Build does, which takes no sample then
		}
		return c.Name == "dense" && seconds(c) <= quickEnough
	}
	slices.SortStableFunc(all, func(x, y Candidate) int {
		return cmp.Or(
			falseLast(x.Feasible, y.Feasible),
			falseLast(preferred(&x), preferred(&y)),
			cmp.Compare(seconds(&x), seconds(&y)),
		)
	})
	best := &all[0]
	if best.Feasible && preferred(best) && !o.Fixed() {
		best.Reason += ", and quick"
	}
	for i := range all[1:] {
		if c := &all[i+1]; c.Feasible {
			c.Reason += fmt.Sprintf("; takes %.2g times as long as %s", seconds(c)/seconds(best), best.Name)
		}
	}
}

func falseLast(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// OperatorNames returns the names that Options.Operator may have.
func OperatorNames() (names []string) {
	for _, m := range methods() {
		names = append(names, m.name)
	}
	return names
}

// Truncates reports whether the operator of the given name can serve a graph that is
// truncated at a given radius. The name "" leaves the choice to Build, which can.
func Truncates(name string) bool {
	return name == "" || slices.ContainsFunc(methods(), func(m method) bool { return m.name == name && m.truncates })
}

func unknownOperator(name string) error {
	return fmt.Errorf("kernel: %w: no operator %q; there are %s", ErrOperator, name, strings.Join(OperatorNames(), ", "))
}
