package poly

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// A polyPlan is the points in their frame, a sample of their inner products, and
// the polynomial chosen by it.
type polyPlan struct {
	frame  *polyFrame
	sample []polySample
	choice polyChoice
	why    string // why there is no choice

	rows  []float64 // sampled rows
	axes  []float64 // principal axes of them, once they were asked for
	forms []float64 // sums of u_ij^2 from above, once they were asked for
}

// polyChoice is a polynomial and the arithmetic it is to be used with; terms counts
// its monomials, the constant included, and is 0 where there is no choice.
type polyChoice struct {
	series Series
	single bool
	terms  int
	axes   int // along which degrees 2 and more are taken; 0: of all coordinates
	low    *polyProjection
}

// polySample is what a sampled row sees.
type polySample struct {
	norm    float64
	squares float64 // mean of u_ij^2
	weight  float64 // mean of f_j exp(u_ij)
	factor  float64 // mean of f_j
	row     int     // in the sampled rows
}

// Beyond these poly is not tried: the reach t of the inner products, whose
// polynomials take dozens of terms of both signs, the number of terms, and the
// dimension up to which second moments are made.
const (
	maxPolyReach   = 16
	maxPolyOrder   = 32 // beyond it the powers of T_k cost more digits than series.slack allows for
	maxPolyTerms   = 1 << 21
	fewPolyTerms   = 1 << 12 // up to which nothing is projected
	maxPolyMoments = 4096
)

// planPoly chooses the polynomial for the tolerance. It reads all points twice.
func planPoly(ctx context.Context, p *rows.Points, b base.Bandwidth, o *base.Options) (*polyPlan, error) {
	// Some point is half the longest side of the box from any centre.
	side := 0.0
	for c := range p.Lo {
		side = max(side, p.Hi[c]-p.Lo[c])
	}
	if reach := 2 * b.Gamma() * side / 2 * side / 2; reach > maxPolyReach {
		return &polyPlan{why: fmt.Sprintf("the bandwidth is narrow: exponents of up to %.3g and more", reach)}, nil
	}
	plan := &polyPlan{}
	for _, single := range []bool{true, false} {
		if single && p.Single.Data == nil {
			continue
		}
		var err error
		if plan.frame, err = newPolyFrame(ctx, p, b, single, o); err != nil {
			return nil, err
		}
		if !plan.frame.fits() {
			continue
		}
		if reach := plan.reach(); !(reach <= maxPolyReach) {
			plan.why = fmt.Sprintf("the bandwidth is narrow: exponents of up to %.3g", reach)
			return plan, nil
		}
		plan.takeSample()
		plan.choice = plan.next(0, o)
		if plan.choice.terms > 0 && plan.choice.single == single {
			break
		}
	}
	return plan, nil
}

// reach is the largest |u_ij| there may be.
func (plan *polyPlan) reach() float64 { return plan.frame.radius * plan.frame.radius }

// takeSample looks at some rows against more rows.
func (plan *polyPlan) takeSample() {
	const rows, columns = 96, 384
	fr := plan.frame
	n, d := fr.p.N, fr.p.D
	pick := func(count, i int) int {
		if count >= n {
			return i
		}
		_, fraction := math.Modf(float64(i+1) * (math.Sqrt(5) - 1) / 2)
		return int(fraction * float64(n))
	}
	others := make([]float64, min(columns, n)*d)
	plan.rows, plan.axes = others, nil
	for j := range min(columns, n) {
		at := pick(columns, j)
		fr.Load64(others[j*d:], at, at+1)
	}
	u := make([]float64, min(columns, n))
	plan.sample = plan.sample[:0]
	for i := range min(rows, n) {
		at, y := pick(columns, i), others[i*d:][:d]
		fr.kernels.Dots64(simd.RowsOf(u, len(u)), simd.RowsOf(y, d), simd.RowsOf(others, d), 1, len(u), d)
		s, count := polySample{norm: math.Sqrt(fr.norm2[at]), row: i}, 0.0
		for j, v := range u {
			other := pick(columns, j)
			if other == at {
				continue
			}
			f := math.Exp(-fr.norm2[other] / 2)
			s.squares += v * v
			s.weight += f * math.Exp(v)
			s.factor += f
			count++
		}
		if count > 0 {
			s.squares, s.weight, s.factor = s.squares/count, s.weight/count, s.factor/count
			plan.sample = append(plan.sample, s)
		}
	}
}

// next returns the first choice from an order on that the sample takes to meet
// the tolerance.
func (plan *polyPlan) next(order int, o *base.Options) polyChoice {
	fr, t := plan.frame, plan.reach()
	best := math.Inf(1)
	for ; order <= maxPolyOrder; order++ {
		c := polyChoice{terms: polyTerms(fr.p.D, order) + 1}
		if polyTerms(min(fr.p.D, 8), order) > maxPolyTerms {
			break
		}
		for _, taylor := range []bool{false, true} {
			if taylor && (order == 0 || fr.p.D > maxPolyMoments) {
				continue
			}
			c.series = chebyshevSeries(-t, t, order)
			if taylor {
				c.series = taylorSeries(-t, t, order)
			}
			if c.series.least() <= 0 {
				continue
			}
			c.single = fr.single && polyRounding(c.series, fr.p.N, fr.p.D, true) <= o.Tolerance
			eta := plan.expect(c.series) + polyRounding(c.series, fr.p.N, fr.p.D, false)
			if order > 1 && c.terms > fewPolyTerms {
				for m := 8; m <= min(polyAxes, fr.p.D/2); m *= 2 {
					low := c
					low.axes, low.terms = m, fr.p.D-m+polyTerms(m, order)+1
					if low.terms <= maxPolyTerms && eta+plan.expectRest(c.series, m) <= o.Tolerance {
						return low
					}
				}
			}
			if c.terms > maxPolyTerms {
				continue
			}
			best = min(best, eta)
			if eta <= o.Tolerance {
				return c
			}
		}
	}
	plan.why = fmt.Sprintf("exponents of up to %.3g take more than %d terms", t, maxPolyTerms)
	if !math.IsInf(best, 1) {
		plan.why = fmt.Sprintf("exponents of up to %.3g: eta = %.2g at best with up to %d terms", t, best, maxPolyTerms)
	}
	return polyChoice{}
}

// expectRest returns what taking degrees 2 and more along m axes adds to the
// largest eta of the sample.
func (plan *polyPlan) expectRest(s Series, m int) float64 {
	d := plan.frame.p.D
	count := len(plan.rows) / d
	if plan.axes == nil {
		plan.axes = principalAxes(plan.frame.kernels, plan.rows, count, d, min(polyAxes, count, d/2))
	}
	if m > len(plan.axes)/d {
		return math.Inf(1)
	}
	rest, mean := make([]float64, count), 0.0
	along := make([]float64, m)
	for i := range rest {
		y := plan.rows[i*d:][:d]
		plan.frame.kernels.Dots64(simd.RowsOf(along, m), simd.RowsOf(y, d), simd.RowsOf(plan.axes, d), 1, m, d)
		whole, part := norm(y), norm(along)
		rest[i] = math.Sqrt(max(whole*whole-part*part, 0))
		mean += math.Exp(-whole*whole/2) * rest[i] / float64(count)
	}
	worst := 0.0
	for _, row := range plan.sample {
		worst = max(worst, s.slope()*(rest[row.row]*mean+polyLowSlack*s.reach())/row.weight)
	}
	// The axes are those of these rows, and a little worse for others.
	return 1.5 * worst
}

// expect returns the largest eta of the sample, and a twentieth more for the
// rows that are not in it.
func (plan *polyPlan) expect(s Series) float64 {
	worst, others := 0.0, float64(plan.frame.p.N-1)
	for _, row := range plan.sample {
		eta := s.Error() * row.factor / row.weight
		if s.Taylor {
			f := math.Exp(-row.norm * row.norm / 2)
			eta = taylorRow(s, row.norm*plan.frame.radius, others*row.squares) / (f * row.weight * others)
		}
		worst = max(worst, eta)
	}
	return 1.05*worst + plan.frame.move
}

// runs returns the number of runs of terms that differ in one coordinate only, not counting that
// of degree 1, in float32 and in float64, where blocks take the last two degrees.
func (c *polyChoice) runs(d int) (single, double float64) {
	order, width := c.series.Order(), d
	if c.axes > 0 {
		width = c.axes
	}
	if order < 2 {
		return 0, 0
	}
	single = float64(polyTerms(width, order-1))
	if polyBlocked(width, 2) {
		return single, float64(polyTerms(width, order-2))
	}
	return single, single
}

func polyCost(p *rows.Points, c polyChoice, o *base.Options) base.Cost {
	n, d, k, terms := float64(p.N), float64(p.D), float64(o.Columns), float64(c.terms)
	perTerm, entry := polyTerm64Seconds, 8.0
	if c.single {
		perTerm, entry = polyTermSeconds, 4
		if c.series.Order() > 1 {
			perTerm = polyHighSeconds
		}
	}
	runs, wideRuns := c.runs(p.D)
	numbers := max(k, polyBlockNumbers) * terms // of a chunk, also of degrees, which are float64
	if !c.single {
		runs, numbers = wideRuns, k*polyBlockNumbers*terms
	}
	chunks := float64(len(polyBounds(p.N, c.terms)) - 1)
	workers := float64(o.Workers.Count())
	cost := base.Cost{
		BuildSeconds:  n * (d*polyFrameSeconds + 2*(terms*polyTerm64Seconds+wideRuns*polyRunSeconds+d*polyLoadSeconds+polyRowSeconds)),
		StepSeconds:   2 * n * (k*terms*perTerm + k*runs*polyRunSeconds + d*polyLoadSeconds + k*polyRowSeconds),
		ResidentBytes: mem.Saturate(n*(8+8+8+8+4) + 8*(1+polyBlockNumbers)*terms),
		StreamedBytes: mem.Saturate(n * (8*d + 16*k + 24)),
		Flops:         4 * n * terms * k,
	}
	if c.axes > 0 {
		m := float64(c.axes)
		cost.BuildSeconds += n * d * m * base.DistanceSeconds
		cost.ResidentBytes = mem.Saturate(float64(cost.ResidentBytes) + n*(4*m+16))
		cost.StreamedBytes = mem.Saturate(float64(cost.StreamedBytes) + 8*n*m)
	}
	peak := float64(cost.ResidentBytes) + 16*n + (chunks+2)*numbers*8 + workers*polyPanel*(d+4*k*float64(c.series.Order()+1))*entry
	if c.series.Taylor && p.D <= maxPolyMoments {
		cost.BuildSeconds += 2 * n * d * d * polyPairSeconds
		peak += d*d*8*(momentChunks(p.D)+2) + 8*n
	}
	cost.PeakBytes = mem.Saturate(peak)
	return cost
}

// Candidate plans poly.
func Candidate(ctx context.Context, p *rows.Points, b base.Bandwidth, _ *profile.Profile, o *base.Options) step.Candidate {
	c := step.EveryPair(p.N)
	plan, err := planPoly(ctx, p, b, o)
	if err != nil {
		c.Reason = err.Error()
		return c
	}
	if plan.choice.terms == 0 {
		c.Reason = plan.why
		return c
	}
	c.Feasible, c.Cost, c.Eta = true, polyCost(p, plan.choice, o), plan.expect(plan.choice.series)
	if plan.choice.axes > 0 {
		c.Eta += plan.expectRest(plan.choice.series, plan.choice.axes)
	}
	along := ""
	if plan.choice.axes > 0 {
		along = fmt.Sprintf(" along %d axes", plan.choice.axes)
	}
	c.Reason = fmt.Sprintf("degree %d%s, %d terms: exponents up to %.3g", plan.choice.series.Order(), along, plan.choice.terms, plan.reach())
	c.Build = func(ctx context.Context, o *base.Options) (step.Operator, error) {
		return step.OrNil[step.Operator](newPoly(ctx, plan, o))
	}
	return c
}

// Least is what the operator takes at the least: a degree and a bound of each of n rows,
// and what they are made of.
func Least(n, _ int, _ *base.Options) int64 { return mem.Saturate(16 * float64(n)) }
