package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// quickEnough is the time, in seconds of one worker, up to which the dense operator,
// which needs no tolerance, is the first choice: no other gains what could be noticed.
const quickEnough = 0.05

// A Candidate is an operator that could serve, with what it would cost.
type Candidate struct {
	Name string
	// Seconds is the estimate for building and Options.Steps steps with the
	// workers of the options. Cost has the same for one worker.
	Seconds float64
	Cost    Cost
	// Eta is the error expected for 99 in 100 rows, isolated ones aside.
	Eta float64
	// Radius is the cutoff, +Inf where every pair has a weight, and Neighbours
	// the mean number of neighbours within it.
	Radius, Neighbours float64
	// Degrees says what the degrees of the rows will be like.
	Degrees Degrees
	// Feasible is false when the candidate cannot serve; Reason says why, or
	// what speaks for it and against it. One that does not do what is asked for, or
	// was not asked for, has no cost, and NaN for Seconds and Eta.
	Feasible bool
	Reason   string

	method method
	limit  limit
	poly   *polyPlan   // of the operator poly
	grid   *gridChoice // of the operator grid
}

// A limit is what makes a candidate infeasible.
type limit int

const (
	byNature    limit = iota // it does not do what is asked for
	byMemory                 // it would exceed the budget
	byTolerance              // it would miss the tolerance
)

// A method is an operator the plan can choose.
type method struct {
	name     string
	estimate func(ctx context.Context, p *pointSet, b Bandwidth, pr *profile, o *Options) Candidate
	build    func(ctx context.Context, p *pointSet, b Bandwidth, c *Candidate, o *Options) (Operator, error)
	// What building and stepping mostly consist of, for the calibration.
	building, stepping workClass
}

func methods() []method {
	return []method{
		{"dense", denseCandidate, buildDense, scalarWork, scalarWork},
		{"csr", csrCandidate, buildCSR, searchWork, sparseWork},
		{"pairs", pairsCandidate, buildPairs, vectorWork, vectorWork},
		{"background", backgroundCandidate, buildBackground, scalarWork, scalarWork},
		{"poly", polyCandidate, func(ctx context.Context, _ *pointSet, _ Bandwidth, c *Candidate, o *Options) (Operator, error) {
			return buildOr(newPoly(ctx, c.poly, o))
		}, vectorWork, vectorWork},
		{"grid", gridCandidate, func(ctx context.Context, p *pointSet, b Bandwidth, c *Candidate, o *Options) (Operator, error) {
			return buildOr(newGrid(ctx, p, b, c.grid, o))
		}, vectorWork, vectorWork},
	}
}

// Plan lists every operator with its cost, the best first and those that
// cannot serve last. It looks at a sample of rows and builds nothing.
func Plan(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) ([]Candidate, error) {
	pts, o, err := open(p, b, opt)
	if err != nil {
		return nil, err
	}
	return plan(ctx, pts, b, o)
}

// open validates what every builder is given and fills in the defaults.
func open(p blas32.General, b Bandwidth, opt *Options) (*pointSet, *Options, error) {
	o, err := opt.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	pts, err := points32(p, o.Kernels, o.Workers)
	if err != nil {
		return nil, nil, err
	}
	return pts, o, pts.checkBandwidth(b)
}

// open64 is open for float64 points.
func open64(p blas64.General, b Bandwidth, opt *Options) (*pointSet, *Options, error) {
	o, err := opt.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	pts, err := points64(p, o.Workers)
	if err != nil {
		return nil, nil, err
	}
	return pts, o, pts.checkBandwidth(b)
}

func plan(ctx context.Context, p *pointSet, b Bandwidth, o *Options) ([]Candidate, error) {
	if o.Force != "" && !slices.Contains(OperatorNames(), o.Force) {
		return nil, unknownOperator(o.Force)
	}
	pr, err := takeProfile(ctx, p, o)
	if err != nil {
		return nil, err
	}
	calibration := o.Calibration
	if calibration == nil {
		calibration = HostCalibration(o.Kernels)
	}
	var all []Candidate
	for _, m := range methods() {
		c := Candidate{Radius: math.Inf(1), Neighbours: float64(p.n - 1)}
		if o.Force == "" || o.Force == m.name {
			c = m.estimate(ctx, p, b, pr, o)
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("kernel: plan: %w", err)
		}
		c.Name, c.method = m.name, m
		c.Cost.BuildSeconds *= m.building(calibration, p.d)
		c.Cost.StepSeconds *= m.stepping(calibration, p.d)
		c.Seconds = (c.Cost.BuildSeconds + float64(o.Steps)*c.Cost.StepSeconds) / float64(o.Workers.Workers())
		if !c.Feasible { // it has no cost
			c.Cost, c.Seconds, c.Eta = Cost{}, math.NaN(), math.NaN()
		}
		c.Degrees = pr.degrees(b, c.Radius)
		c.check(o)
		all = append(all, c)
	}
	rank(all, o)
	return all, nil
}

// check finds out whether the options allow what was estimated.
func (c *Candidate) check(o *Options) {
	switch {
	case o.Force != "" && o.Force != c.Name:
		c.Feasible, c.Reason = false, fmt.Sprintf("operator %s was asked for", o.Force)
	case !c.Feasible:
	case c.Cost.PeakBytes > o.BudgetBytes:
		what := "needs " + byteCount(c.Cost.PeakBytes)
		if c.Cost.NNZ > 0 {
			what += " of weights"
		}
		c.Feasible, c.limit, c.Reason = false, byMemory, fmt.Sprintf("%s, budget %s: %s", what, byteCount(o.BudgetBytes), c.Reason)
	case c.Eta > o.Tolerance && !o.fixed() && o.Force == "":
		c.Feasible, c.limit, c.Reason = false, byTolerance, fmt.Sprintf("reaches eta %.2g, asked for %.2g: %s", c.Eta, o.Tolerance, c.Reason)
	}
}

// rank puts the best candidate first and says of the others how much longer they take.
// All operators share their work out to the workers, so how many there are does not
// change the order.
func rank(all []Candidate, o *Options) {
	seconds := func(c *Candidate) float64 { return c.Cost.BuildSeconds + float64(o.Steps)*c.Cost.StepSeconds }
	preferred := func(c *Candidate) bool {
		if o.fixed() {
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
	if best.Feasible && preferred(best) && !o.fixed() {
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

func denseCandidate(_ context.Context, p *pointSet, b Bandwidth, _ *profile, o *Options) Candidate {
	c := Candidate{
		Cost: denseCost(p.n, p.d, o), Radius: math.Inf(1), Neighbours: float64(p.n - 1), Eta: newDistancer(p, nil).entryRel(b),
		Feasible: true, Reason: "exact, every pair at every step",
	}
	if o.fixed() {
		c.Feasible, c.Reason = false, "the graph asked for is cut; dense has every pair"
	}
	return c
}

func buildDense(ctx context.Context, p *pointSet, b Bandwidth, _ *Candidate, o *Options) (Operator, error) {
	return newDense(ctx, p, nil, b, o)
}

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

// missedShare is the share of rows that may miss the tolerance: it is to be met by 99
// in 100 rows, and a sample of some hundred knows that no better.
const missedShare = 0.04

// shortfall tells whether more rows miss the tolerance than may, isolated rows and
// those whose weights are below the range of float32 aside, and which error 99 in 100
// rows do not exceed.
func shortfall(op Operator, tolerance float64) (missed bool, eta float64) {
	cert := op.Certificate()
	if cert.Row == nil {
		return cert.RowMax > tolerance, cert.RowMax
	}
	if grid, ok := op.(*Grid); ok && float64(grid.cert.Isolated) > missedShare*float64(grid.N()) {
		return true, math.Inf(1) // it has cut them off, they have neighbours
	}
	least := faintest(op.N(), tolerance)
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
	return float64(above) > missedShare*float64(len(connected)), float64(ranked(connected, (len(connected)-1)*99/100))
}

// faintest is the degree below which weights beyond the range of float32 matter.
func faintest(n int, tolerance float64) float64 { return 0x1p-125 * float64(n) / tolerance }

// Build builds the first operator Plan lists that meets the tolerance once it is
// built, or the one Options.Force names. Where the certificate of an operator misses
// the tolerance on more than a few rows, or its memory exceeds the budget, the next
// one is built. A *ToleranceError or *MemoryError says that none can serve.
func Build(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Operator, error) {
	pts, o, err := open(p, b, opt)
	if err != nil {
		return nil, err
	}
	if o.fixed() && (o.Force == "" || o.Force == "csr") {
		// Nothing to choose: the search finds out exactly what a sample could
		// only guess.
		op, err := newCSR(ctx, pts, b, o.CutoffRadius, o)
		if errors.Is(err, ErrMemory) && o.Force == "" && o.CutoffRadius > 0 && pts.d <= maxDirect {
			return buildOr(newPairs(ctx, pts, b, o.CutoffRadius, o))
		}
		return buildOr(op, err)
	}
	if o.Force == "" && !o.fixed() && pts.n > surveyedAtOnce {
		// Where a polynomial of degree 1 does, nothing else comes near it, and the
		// sample that all the others need would take longer than the rest.
		poly, err := planPoly(ctx, pts, b, o)
		if err == nil && poly.choice.terms > 0 && poly.choice.series.order() <= 1 {
			if op, err := newPoly(ctx, poly, o); err == nil || ctx.Err() != nil {
				return buildOr(op, err)
			}
		}
	}
	candidates, err := plan(ctx, pts, b, o)
	if err != nil {
		return nil, err
	}
	return build(ctx, pts, b, candidates, o)
}

// surveyedAtOnce is a number of points of which a sample costs nothing to speak of.
const surveyedAtOnce = 1 << 16

// buildOr returns an operator that is nil if there is an error.
func buildOr[T Operator](op T, err error) (Operator, error) {
	if err != nil {
		return nil, err
	}
	return op, nil
}

// build builds the first candidate that keeps what it promised.
func build(ctx context.Context, p *pointSet, b Bandwidth, candidates []Candidate, o *Options) (Operator, error) {
	var isolated error
	for i := range candidates {
		c := &candidates[i]
		if !c.Feasible {
			break
		}
		op, err := c.method.build(ctx, p, b, c, o)
		switch {
		case err == nil && (o.Force != "" || o.fixed()):
			return op, nil // what was asked for
		case err == nil:
			missed, eta := shortfall(op, o.Tolerance)
			if !missed {
				return op, nil
			}
			c.limit, c.Eta = byTolerance, eta
			op.Close()
		case o.Force != "":
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
				c.Cost.PeakBytes = e.Need
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
			e.Instead = "a smaller sigma or cutoff or a larger tolerance stores fewer weights"
			if !o.fixed() {
				e.Instead += "; the operator dense stores none"
			}
		}
		return e
	case closest != nil:
		return &ToleranceError{Tolerance: o.Tolerance, Eta: closest.Eta, Operator: closest.Name, Seconds: closest.Seconds, Bytes: closest.Cost.PeakBytes}
	}
	for _, c := range candidates {
		if o.Force == "" || o.Force == c.Name {
			return fmt.Errorf("kernel: build: %w: %s: %s", ErrOperator, c.Name, c.Reason)
		}
	}
	return unknownOperator(o.Force)
}

// OperatorNames returns the names Options.Force knows.
func OperatorNames() (names []string) {
	for _, m := range methods() {
		names = append(names, m.name)
	}
	return names
}

// Truncates tells whether the operator of that name can serve a graph that is cut at a
// radius; "", which leaves the choice to Plan, can.
func Truncates(name string) bool { return name == "" || name == "csr" || name == "pairs" }

func unknownOperator(name string) error {
	return fmt.Errorf("kernel: %w: no operator %q; there are %s", ErrOperator, name, strings.Join(OperatorNames(), ", "))
}
