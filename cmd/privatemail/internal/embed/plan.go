package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"text/tabwriter"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// runPlan lists the operators that could embed the file. It builds and writes nothing.
func (f *Flags) runPlan(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.Settings) error {
	in.Labels = ""
	p, err := f.makePlan(ctx, e, in, s)
	if err != nil {
		return err
	}
	if err := p.show(e); err != nil {
		return err
	}
	if !p.Candidates[0].Feasible {
		if e.Quiet && !e.JSON {
			return errors.New("no operator can serve; without -quiet the reasons are listed")
		}
		return errors.New("no operator can serve; the reasons are listed above")
	}
	return nil
}

// plan is the outcome for a file.
type plan struct {
	path string
	n, d int
	// neighbours of each row in a graph that tunes itself, 0 in others
	neighbours int
	*privatemail.Plan
	standardize bool // columns
}

func (f *Flags) makePlan(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.Settings) (*plan, error) {
	var out *plan
	err := files.WithRows(ctx, e, f.work, true, in, "", func(engine *privatemail.Engine, x blas32.General, _ []int32) error {
		var err error
		if s.Into, err = files.PointsBuffer(ctx, &f.work, e, x.Rows, columnsOf(s, x)); err != nil {
			return err
		}
		var p *privatemail.Plan
		if f.form.Form == settings.Spectral {
			p, err = engine.PlanMap(ctx, x, mapSettings(s))
		} else {
			p, err = engine.Plan(ctx, x, s)
		}
		out = &plan{in.Features, x.Rows, x.Cols, s.Neighbours, p, s.Standardize}
		return err
	})
	return out, err
}

// candidateReport is an object of embed -plan -json.
type candidateReport struct {
	Operator     string          `json:"operator"`
	Picked       bool            `json:"picked"`
	Feasible     bool            `json:"feasible"`
	Seconds      jsonform.Number `json:"seconds"` // null, as eta is, for an operator that does not do what is asked for
	SecondsLow   jsonform.Number `json:"seconds_low"`
	SecondsHigh  jsonform.Number `json:"seconds_high"`
	BuildSeconds jsonform.Number `json:"build_seconds"`
	StepSeconds  jsonform.Number `json:"seconds_per_step"`
	Bytes        int64           `json:"bytes"`
	PeakBytes    int64           `json:"peak_bytes"`
	NNZ          int64           `json:"nnz"`
	Eta          jsonform.Number `json:"eta"`
	Radius       jsonform.Number `json:"radius"` // null: no cutoff
	Neighbours   jsonform.Number `json:"neighbours"`
	Degree       degreeReport    `json:"degree"`
	Reason       string          `json:"reason"`
	N            int             `json:"n"`
	D            int             `json:"d"`
	Sigma        jsonform.Number `json:"sigma"`
	Gamma        jsonform.Number `json:"gamma"`
	Standardize  bool            `json:"standardize,omitempty"`
}

// degreeReport has the degrees that a sample shows.
type degreeReport struct {
	Mean     jsonform.Number `json:"mean"`
	P1       jsonform.Number `json:"p1"` // 1 in 100 rows do not exceed it
	P10      jsonform.Number `json:"p10"`
	P50      jsonform.Number `json:"p50"`
	P90      jsonform.Number `json:"p90"`
	P99      jsonform.Number `json:"p99"`
	Isolated jsonform.Number `json:"isolated"` // rows expected to have no neighbour
}

func reportDegrees(d kernel.Degrees) degreeReport {
	q := d.Quantiles
	return degreeReport{jsonform.Number(d.Mean), jsonform.Number(q[0]), jsonform.Number(q[1]), jsonform.Number(q[2]), jsonform.Number(q[3]), jsonform.Number(q[4]), jsonform.Number(d.Isolated)}
}

func (p *plan) show(e *cli.Env) error {
	if !e.JSON {
		return p.table(e)
	}
	sigma, gamma := p.Bandwidth.Sigma(), p.Bandwidth.Gamma()
	if p.neighbours > 0 {
		sigma, gamma = math.NaN(), math.NaN() // every row has its own
	}
	for i, c := range p.Candidates {
		low, high := likely(&c)
		err := e.Object(candidateReport{
			Operator: c.Name, Picked: p.picked(i), Feasible: c.Feasible,
			SecondsLow: jsonform.Number(low), SecondsHigh: jsonform.Number(high),
			Seconds: jsonform.Number(c.Seconds), BuildSeconds: jsonform.Number(c.Cost.BuildSeconds), StepSeconds: jsonform.Number(c.Cost.StepSeconds),
			Bytes: c.Cost.ResidentBytes, PeakBytes: c.Cost.PeakBytes, NNZ: c.Cost.NNZ,
			Eta: jsonform.Number(c.Eta), Radius: jsonform.Number(c.Radius), Neighbours: jsonform.Number(c.MeanNeighbours), Degree: reportDegrees(c.Degrees), Reason: c.Reason,
			N: p.n, D: p.d, Sigma: jsonform.Number(sigma), Gamma: jsonform.Number(gamma), Standardize: p.standardize,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) picked(i int) bool { return i == 0 && p.Candidates[0].Feasible }

func (p *plan) table(e *cli.Env) error {
	scaled := map[bool]string{true: ", columns standardized"}[p.standardize]
	if p.neighbours > 0 {
		fmt.Fprintf(e.Stdout, "%s: %d x %d%s, %d nearest neighbours with a bandwidth for each row\n\n", p.path, p.n, p.d, scaled, p.neighbours)
	} else {
		fmt.Fprintf(e.Stdout, "%s: %d x %d%s, sigma %.4g (gamma %.4g)\n\n", p.path, p.n, p.d, scaled, p.Bandwidth.Sigma(), p.Bandwidth.Gamma())
	}
	t := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\toperator\tseconds\tmemory\teta\tneighbours\treason")
	for i, c := range p.Candidates {
		mark := map[bool]string{true: "*"}[p.picked(i)]
		reason := c.Reason
		if !c.Feasible {
			reason = "cannot serve: " + reason
		}
		if math.IsNaN(c.Seconds) { // it has no cost
			fmt.Fprintf(t, "%s\t%s\t-\t-\t-\t-\t%s\n", mark, c.Name, reason)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%.3g\t%s\t%.2g\t%.4g\t%s\n", mark, c.Name, c.Seconds, text.FormatSize(c.Cost.PeakBytes), c.Eta, c.MeanNeighbours, reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	d := p.Candidates[0].Degrees
	q := d.Quantiles
	if p.neighbours > 0 {
		fmt.Fprintln(e.Stdout, "\ndegrees are known once the graph is built; no row will be isolated")
	} else {
		fmt.Fprintf(e.Stdout, "\ndegrees: mean %.4g; 1%% of rows up to %.3g, 10%% %.3g, half %.3g, 90%% %.3g, 99%% %.3g; about %.0f isolated rows\n",
			d.Mean, q[0], q[1], q[2], q[3], q[4], d.Isolated)
	}
	if !p.picked(0) {
		return nil
	}
	low, high := likely(&p.Candidates[0])
	_, err := fmt.Fprintf(e.Stdout, "%s: graph and steps are likely to take %.2g to %.2g s\n", p.Candidates[0].Name, low, high)
	return err
}

// likely returns the time that graph and steps of an operator are likely to take on a machine at
// rest. The planner does not see how caches and memory differ, nor the time to start workers.
func likely(c *kernel.Candidate) (low, high float64) {
	return 0.5 * c.Seconds, 6 * (c.Seconds + 0.02)
}
