package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
)

// smallEnough is the number of points up to which the dense operator, which
// needs no tolerance, is the first choice.
const smallEnough = 4096

// A Candidate is an operator that could serve, with what it would cost.
type Candidate struct {
	Name string
	// Seconds is the estimate for building and Options.Steps steps, one worker.
	Seconds float64
	Cost    Cost
	// Eta is the error expected for 99 in 100 rows.
	Eta float64
	// Radius is the cutoff, +Inf where every pair has a weight, and Neighbours
	// the mean number of neighbours within it.
	Radius, Neighbours float64
	// Feasible is false when the candidate cannot serve; Reason says why, or
	// what speaks for it.
	Feasible bool
	Reason   string

	method method
}

// A method is an operator the plan can choose.
type method struct {
	name     string
	estimate func(p *pointSet, b Bandwidth, pr *profile, o *Options) Candidate
	build    func(ctx context.Context, p *pointSet, b Bandwidth, c *Candidate, o *Options) (Operator, error)
}

func methods() []method {
	return []method{
		{"dense", denseCandidate, func(ctx context.Context, p *pointSet, b Bandwidth, _ *Candidate, o *Options) (Operator, error) {
			return newDense(ctx, p, nil, b, o)
		}},
		{"csr", csrCandidate, func(ctx context.Context, p *pointSet, b Bandwidth, c *Candidate, o *Options) (Operator, error) {
			return newCSR(ctx, p, b, c.Radius, o)
		}},
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
	pts, err := points32(p)
	if err != nil {
		return nil, nil, err
	}
	o, err := opt.withDefaults()
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
	var all []Candidate
	for _, m := range methods() {
		c := m.estimate(p, b, pr, o)
		c.Name, c.method = m.name, m
		c.Seconds = c.Cost.BuildSeconds + float64(o.Steps)*c.Cost.StepSeconds
		switch {
		case o.Force != "" && o.Force != c.Name:
			c.Feasible, c.Reason = false, fmt.Sprintf("operator %s was asked for", o.Force)
		case c.Feasible && c.Cost.PeakBytes > o.BudgetBytes:
			c.Feasible, c.Reason = false, fmt.Sprintf("needs %s, budget %s", byteCount(c.Cost.PeakBytes), byteCount(o.BudgetBytes))
		}
		all = append(all, c)
	}
	preferred := func(c Candidate) bool { return c.Name == "dense" && p.n <= smallEnough }
	slices.SortStableFunc(all, func(x, y Candidate) int {
		switch {
		case x.Feasible != y.Feasible:
			return boolOrder(x.Feasible, y.Feasible)
		case preferred(x) != preferred(y):
			return boolOrder(preferred(x), preferred(y))
		case x.Seconds < y.Seconds:
			return -1
		}
		return 1
	})
	return all, nil
}

func boolOrder(first, second bool) int {
	if first && !second {
		return -1
	}
	return 1
}

func denseCandidate(p *pointSet, _ Bandwidth, _ *profile, o *Options) Candidate {
	c := Candidate{
		Cost: denseCost(p.n, p.d, o), Radius: math.Inf(1), Neighbours: float64(p.n - 1),
		Feasible: true, Reason: "exact, every pair at every step",
	}
	if p.n <= smallEnough {
		c.Reason = fmt.Sprintf("exact, and quick for up to %d points", smallEnough)
	}
	if o.CutoffRadius > 0 {
		c.Feasible, c.Reason = false, "the graph asked for is cut at a radius; dense has every pair"
	}
	return c
}

func csrCandidate(p *pointSet, b Bandwidth, pr *profile, o *Options) Candidate {
	c := Candidate{Feasible: true, Radius: o.CutoffRadius}
	far := farBoundOf(p)
	if c.Radius == 0 {
		c.Radius = pr.cutoff(b, o.Tolerance, far)
	}
	mean, upper := pr.neighbours(c.Radius)
	c.Neighbours = mean
	c.Cost = csrCost(p.n, p.d, math.Ceil(upper*float64(p.n)), o)
	eta := make([]float64, len(pr.rows))
	for i := range eta {
		eta[i] = math.Inf(1)
		if degree := pr.degree(i, b); degree > 0 {
			eta[i] = pr.tail(i, b, c.Radius, far) / degree
		}
	}
	slices.Sort(eta)
	if len(eta) > 0 {
		c.Eta = eta[(len(eta)-1)*99/100]
	}
	if math.IsInf(c.Radius, 1) {
		c.Eta = 0
		c.Reason = "every pair stored: most are within the radius the tolerance asks for"
		return c
	}
	c.Reason = fmt.Sprintf("about %.4g stored neighbours a row within %.4g", mean, c.Radius)
	return c
}

// Build builds the first operator Plan lists, or the one Options.Force names.
func Build(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Operator, error) {
	pts, o, err := open(p, b, opt)
	if err != nil {
		return nil, err
	}
	if o.CutoffRadius > 0 && (o.Force == "" || o.Force == "csr") {
		// Nothing to choose: the search finds out exactly what a sample could
		// only guess.
		return newCSR(ctx, pts, b, o.CutoffRadius, o)
	}
	candidates, err := plan(ctx, pts, b, o)
	if err != nil {
		return nil, err
	}
	best := &candidates[0]
	if !best.Feasible {
		return nil, infeasible(candidates, o)
	}
	return best.method.build(ctx, pts, b, best, o)
}

// infeasible says why no candidate can serve.
func infeasible(candidates []Candidate, o *Options) error {
	for _, c := range candidates {
		if o.Force != "" && o.Force != c.Name {
			continue
		}
		if c.Cost.PeakBytes > o.BudgetBytes {
			e := &MemoryError{What: "build " + c.Name, Need: c.Cost.PeakBytes, Budget: o.BudgetBytes}
			if c.Name == "csr" {
				e.Instead = "a smaller sigma or cutoff or a larger tolerance stores fewer weights"
				if o.CutoffRadius == 0 {
					e.Instead += "; the operator dense stores none"
				}
			}
			return e
		}
		return fmt.Errorf("kernel: build: %w: %s: %s", ErrOperator, c.Name, c.Reason)
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

func unknownOperator(name string) error {
	return fmt.Errorf("kernel: %w: no operator %q; there are %s", ErrOperator, name, strings.Join(OperatorNames(), ", "))
}
