package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// planCase is one use of a graph: points, bandwidth, columns and steps.
type planCase struct {
	data     string // uniform in a cube, or unit: bundles on the sphere
	n, d     int
	sigma    float64 // 0: by degree
	degree   float64 // mean degree, uniform points only
	k, steps int
	full     bool
}

// planGrid goes from a few neighbours to every pair, in few and many dimensions.
func planGrid() []planCase {
	return []planCase{
		{data: "uniform", n: 20_000, d: 1, degree: 20, k: 2, steps: 5},
		{data: "uniform", n: 4000, d: 1, sigma: 5, k: 2, steps: 5},
		{data: "uniform", n: 2000, d: 2, degree: 5, k: 2, steps: 5},
		{data: "uniform", n: 2000, d: 2, degree: 100, k: 2, steps: 5},
		{data: "uniform", n: 2000, d: 2, sigma: 5, k: 2, steps: 5},
		{data: "uniform", n: 10_000, d: 2, degree: 5, k: 2, steps: 1},
		{data: "uniform", n: 10_000, d: 2, degree: 5, k: 16, steps: 20},
		{data: "uniform", n: 10_000, d: 2, degree: 100, k: 2, steps: 1},
		{data: "uniform", n: 6000, d: 2, degree: 100, k: 2, steps: 20},
		{data: "uniform", n: 6000, d: 2, sigma: 0.3, k: 2, steps: 1},
		{data: "uniform", n: 6000, d: 2, sigma: 5, k: 2, steps: 1},
		{data: "uniform", n: 30_000, d: 2, degree: 20, k: 2, steps: 5},
		{data: "uniform", n: 100_000, d: 2, degree: 3, k: 2, steps: 5},
		{data: "uniform", n: 100_000, d: 2, degree: 3, k: 8, steps: 20},
		{data: "uniform", n: 100_000, d: 2, degree: 20, k: 2, steps: 5},
		{data: "uniform", n: 2000, d: 3, degree: 20, k: 2, steps: 5},
		{data: "uniform", n: 10_000, d: 3, degree: 2, k: 2, steps: 5},
		{data: "uniform", n: 10_000, d: 3, degree: 20, k: 2, steps: 1},
		{data: "uniform", n: 6000, d: 3, degree: 20, k: 2, steps: 20},
		{data: "uniform", n: 6000, d: 3, sigma: 5, k: 2, steps: 1},
		{data: "uniform", n: 50_000, d: 3, degree: 1, k: 2, steps: 5},
		{data: "uniform", n: 3000, d: 5, degree: 5, k: 2, steps: 5},
		{data: "uniform", n: 3000, d: 5, sigma: 5, k: 2, steps: 5},
		{data: "uniform", n: 3000, d: 8, sigma: 0.1, k: 2, steps: 5},
		{data: "uniform", n: 3000, d: 8, sigma: 1, k: 2, steps: 5},
		{data: "unit", n: 2000, d: 16, sigma: 0.05, k: 2, steps: 5},
		{data: "unit", n: 2000, d: 16, sigma: 0.2, k: 2, steps: 5},
		{data: "unit", n: 2000, d: 16, sigma: 1, k: 2, steps: 1},
		{data: "unit", n: 2000, d: 16, sigma: 6, k: 2, steps: 5},
		{data: "unit", n: 1500, d: 64, sigma: 0.1, k: 2, steps: 5},
		{data: "unit", n: 1500, d: 64, sigma: 0.35, k: 16, steps: 10},
		{data: "unit", n: 1500, d: 64, sigma: 2, k: 2, steps: 5},
		{data: "unit", n: 1500, d: 64, sigma: 6, k: 2, steps: 5},
		{data: "unit", n: 700, d: 512, sigma: 0.2, k: 2, steps: 5},
		{data: "unit", n: 700, d: 512, sigma: 6, k: 2, steps: 5},
		{data: "uniform", n: 1_000_000, d: 2, degree: 3, k: 2, steps: 5, full: true},
		{data: "uniform", n: 1_000_000, d: 2, degree: 100, k: 2, steps: 5, full: true},
		{data: "uniform", n: 100_000, d: 2, sigma: 0.3, k: 2, steps: 5, full: true},
		{data: "uniform", n: 1_000_000, d: 3, degree: 2, k: 2, steps: 5, full: true},
		{data: "uniform", n: 30_000, d: 8, sigma: 0.2, k: 2, steps: 5, full: true},
		{data: "unit", n: 20_000, d: 64, sigma: 0.2, k: 2, steps: 5, full: true},
		{data: "unit", n: 20_000, d: 64, sigma: 6, k: 2, steps: 5, full: true},
		{data: "unit", n: 10_000, d: 512, sigma: 6, k: 2, steps: 5, full: true},
	}
}

// planCases measure what Build chooses, from points to the last step, and next to it
// every operator that can serve.
func planCases(l *measure.Lab) (out []measure.Case) {
	workers := measure.AllWorkers()
	for _, c := range planGrid() {
		if l.Small {
			c.n = c.n/1000 + 60 // cases that differ in n still do
		}
		if c.sigma == 0 { // the integral of the kernel times the density
			c.sigma = math.Pow(c.degree/float64(c.n), 1/float64(c.d)) / math.Sqrt(2*math.Pi)
		}
		out = append(out, measure.Case{
			Name: fmt.Sprintf("data=%s/n=%d/d=%d/sigma=%.3g/k=%d/steps=%d", c.data, c.n, c.d, c.sigma, c.k, c.steps),
			N:    c.n, D: c.d, K: c.k, Workers: workers, Full: c.full,
			Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) { return c.subject(ctx, l, workers) },
		})
	}
	return out
}

// Operators that are expected to take longer than this, in seconds, are not run unless
// picked.
const planLimit, planLimitFull = 0.25, 60

func (c planCase) subject(ctx context.Context, l *measure.Lab, workers int) (*measure.Subject, error) {
	p, err := c.points()
	if err != nil {
		return nil, err
	}
	r := &planRun{
		planCase: c, p: p, bandwidth: kernel.Sigma(c.sigma),
		options: kernel.Options{Steps: c.steps, Columns: c.k, Workers: l.Workers(workers), Calibration: l.Calibration()},
		x:       Block(c.n, c.k), dst: Zeros(c.n, c.k),
	}
	opened, err := kernel.Open(p, &r.options)
	if err != nil {
		return nil, err
	}
	candidates, err := opened.Plan(ctx, r.bandwidth, &r.options)
	if err != nil {
		return nil, err
	}
	// All pairs that have a weight, at every step, whether it is stored or not.
	weights := candidates[0].MeanNeighbours * float64(c.n) * float64(c.steps)
	r.sub = &measure.Subject{NNZ: int64(weights), Madds: weights * float64(c.k), Roof: measure.RoofMadd}
	r.sub.Choice, err = r.choice(ctx, l, candidates)
	if err != nil {
		return nil, err
	}
	force := ""
	if r.sub.Choice.Failed {
		force = r.sub.Choice.Best
	}
	r.sub.Run = func(ctx context.Context) error { _, err := r.build(ctx, force); return err }
	return r.sub, nil
}

// A planRun has what the operators of a case are run with.
type planRun struct {
	planCase
	p         blas32.General // the points
	bandwidth kernel.Bandwidth
	options   kernel.Options
	x, dst    blas32.General
	sub       *measure.Subject
}

// build builds the operator that is forced, or the pick with "", and takes the steps.
// It returns the name of the operator, and gives the subject what it costs.
func (r *planRun) build(ctx context.Context, force string) (name string, err error) {
	o := r.options
	o.Operator = force
	op, err := kernel.Build(ctx, r.p, r.bandwidth, &o)
	if err != nil {
		return "", err
	}
	defer op.Close()
	cert := op.Certificate()
	r.sub.Bytes, r.sub.Eta, r.sub.EtaP99 = op.Cost().StreamedBytes, cert.RowMax, cert.RowP99
	from, to := blas32.General{Rows: r.n, Cols: r.k, Stride: r.k, Data: slices.Clone(r.x.Data)}, r.dst
	var st kernel.Stats
	if err := st.Gather(from, nil); err != nil {
		return "", err
	}
	for range r.steps {
		if err := op.Step(ctx, to, from, &kernel.Step{}, &st); err != nil {
			return "", err
		}
		from, to = to, from
	}
	return op.Name(), nil
}

// seconds returns the least time of a build.
func (r *planRun) seconds(ctx context.Context, l *measure.Lab, force string) (float64, error) {
	return leastTime(l, func() error { _, err := r.build(ctx, force); return err })
}

// choice measures the operators that can serve in time, and compares the pick with the
// fastest of them.
func (r *planRun) choice(ctx context.Context, l *measure.Lab, candidates []kernel.Candidate) (*record.Choice, error) {
	out := &record.Choice{Seconds: map[string]float64{}}
	limit := float64(planLimit)
	if r.full {
		limit = planLimitFull
	}
	for _, cand := range candidates {
		if !cand.Feasible || cand.Seconds > limit && cand.Name != candidates[0].Name {
			continue
		}
		seconds, err := r.seconds(ctx, l, cand.Name)
		switch {
		case err == nil:
			out.Seconds[cand.Name] = seconds
		case ctx.Err() != nil:
			return nil, err
		}
	}
	for name, seconds := range out.Seconds {
		if out.Best == "" || seconds < out.Seconds[out.Best] {
			out.Best = name
		}
	}
	var err error
	out.Pick, err = r.build(ctx, "")
	if err != nil {
		if ctx.Err() != nil || out.Best == "" {
			return nil, errors.Join(errors.New("no operator can serve"), err)
		}
		out.Failed = true
		return out, nil
	}
	if _, ok := out.Seconds[out.Pick]; !ok { // not the first of the plan
		if out.Seconds[out.Pick], err = r.seconds(ctx, l, ""); err != nil {
			return nil, err
		}
	}
	if out.Best == "" {
		out.Best = out.Pick
	}
	out.Ratio = out.Seconds[out.Pick] / out.Seconds[out.Best]
	return out, nil
}

// leastTime runs something once, or a few times if it is quick, and returns the least
// time it took in seconds.
func leastTime(l *measure.Lab, run func() error) (float64, error) {
	least := math.Inf(1)
	for began, times := time.Now(), 0; times == 0 || times < 3 && !l.Small && time.Since(began) < 100*time.Millisecond; times++ {
		from := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		least = min(least, time.Since(from).Seconds())
	}
	return least, nil
}

// points returns the points of the case. Bundles are 20 directions with rows around
// each, at angles of about a third.
func (c planCase) points() (blas32.General, error) {
	if c.data == "uniform" {
		return synth.Uniform(c.n, c.d, 1)
	}
	const bundles = 20
	rng := rand.New(rand.NewPCG(1, 2))
	p := Zeros(c.n, c.d)
	for i := range c.n {
		row := p.Data[i*c.d:][:c.d]
		for a := range row {
			row[a] = float32(rng.NormFloat64())
			if i >= bundles {
				row[a] = p.Data[i%bundles*c.d+a] + 0.3*row[a]
			}
		}
	}
	return p, points.NormalizeRows(p, p)
}

// writeChoices prints the choices of suite plan and what they come to.
func writeChoices(w io.Writer, all []record.Summary) error {
	count, near, failed := 0, 0, 0
	for _, s := range all {
		c := s.Plan
		if c == nil {
			continue
		}
		count++
		if c.Failed {
			failed++
		} else if c.Ratio <= 1.5 {
			near++
		}
		var others []string
		for name, seconds := range c.Seconds {
			others = append(others, fmt.Sprintf("%s %s", name, figures.Duration(seconds)))
		}
		slices.Sort(others)
		if _, err := fmt.Fprintf(w, "%s: picked %s, best %s, ratio %.2f (%s)\n", s.Case, c.Pick, c.Best, c.Ratio, strings.Join(others, ", ")); err != nil {
			return err
		}
	}
	if count == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "the pick is within 1.5x of the best operator in %d of %d cases (%.0f%%); it failed in %d where another serves\n",
		near, count, 100*float64(near)/float64(count), failed)
	return err
}
