// Package plan is the verb plan: it lists the operators that could embed a file, with their costs.
package plan

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"text/tabwriter"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "plan",
		Summary:  "list the operators that could embed a file, with their cost",
		Synopsis: []string{"FEATURES [-neighbours N | -sigma S | -degree G] [FLAGS]"},
		About: `
Looks at a sample of rows and builds nothing. FEATURES is as for embed: .npy, .npz, .csv and
others. The operator marked * is the one that embed
takes with the same flags; plan accepts all of them. Where the certificate of the operator
misses -tolerance once it is built, embed goes on to the next. Memory is what is built, the
embedding included. Seconds are estimates for the workers at hand on a machine at rest,
without reading and writing files: constants, scaled by the speed of this machine, which is
measured once and kept in the user's cache folder. The last line says what the operator
marked * is likely to take: from half of its seconds to six times as much, and more where
other programs slow the machine down. How much they do is measured for a tenth of a second;
should more of them start, it takes longer. Eta is the error to expect of a row's weights
relative to their sum, in 99 of 100 rows; where -degree or -cutoff-weight asks for a cut
graph, that is the weights cut off against those kept, and no error. A degree is the sum of
a row's weights. Degrees are estimates from the sample. With -json there is one object per
operator, the best first, with the likely times as seconds_low and seconds_high, and with
what other programs do as slowdown. Under mpirun seconds are those of one process, and memory
is that of each.`,
		Examples: []string{
			"privatemail plan birds/ -normalize-rows -degree 20 -beta 3",
			"privatemail plan x.npy -sigma 0.35 -tolerance 1e-3 -json",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Ranks:  true,
		Define: settings.Steered[planFlags],
	}
}

type planFlags struct {
	work  settings.Work
	graph settings.Graph
	size  settings.Size
	form  settings.FormChoice
	rest  restFlags
}

// restFlags are the flags of embed that change nothing about its cost: they are
// accepted, so that a command line can be tried with plan first.
type restFlags struct {
	step      settings.Step
	files     files.FileFlags
	out, plot string
}

func (f *restFlags) Define(fs *flag.FlagSet) {
	f.step.Define(fs)
	fs.StringVar(&f.files.Labels, "labels", "", "as for embed; not read")
	f.files.DefineColumns(fs)
	fs.StringVar(&f.out, "out", "", "as for embed; not written")
	fs.StringVar(&f.plot, "plot", "", "as for embed; not written")
	for _, name := range []string{"colour-by", "color-by"} {
		fs.String(name, "", "as for embed; not read")
	}
}

func (f *planFlags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	f.graph.Define(fs, "; forms paper and attract need this, -degree or -neighbours")
	f.form.Define(fs)
	f.size.Define(fs)
	f.rest.Define(fs)
}

func (f *planFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	name, err := embed.OneFeatures(names)
	if err != nil {
		return err
	}
	if err := f.form.Settle(set); err != nil {
		return err
	}
	if err := f.graph.Need(set, f.form.Form); err != nil {
		return err
	}
	if err := f.graph.Check(set); err != nil {
		return err
	}
	if err := f.rest.step.Check(set); err != nil {
		return err
	}
	s := new(privatemail.Settings)
	if err := f.graph.Apply(s); err != nil {
		return err
	}
	f.form.Apply(s, set)
	f.size.Apply(s, set)
	in, err := f.rest.files.Resolve(e, name)
	if err != nil {
		return err
	}
	in.Labels = ""
	p, err := f.plan(ctx, e, in, s)
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
	slowdown    float64 // of the machine, by other programs
	standardize bool    // columns
}

func (f *planFlags) plan(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.Settings) (*plan, error) {
	var out *plan
	workers := 0
	err := files.WithRows(ctx, e, f.work, true, in, "", func(engine *privatemail.Engine, x blas32.General, _ []int32) error {
		planned := engine.Plan
		if f.form.Form == settings.Spectral {
			planned = engine.PlanMap
		}
		var err error
		if s.Into, err = files.PointsBuffer(ctx, &f.work, e, x.Rows, embed.ColumnsOf(s, x)); err != nil { // as embed would
			return err
		}
		workers = engine.Workers()
		p, err := planned(ctx, x, s)
		out = &plan{in.Features, x.Rows, x.Cols, s.Neighbours, p, 1, s.Standardize}
		return err
	})
	if err != nil {
		return nil, err
	}
	if e.Ranks().Rank() == 0 { // the one that tells
		out.slowdown = progress.Slowdown(workers)
	}
	return out, nil
}

// candidateReport is an object of plan -json.
type candidateReport struct {
	Operator     string          `json:"operator"`
	Picked       bool            `json:"picked"`
	Feasible     bool            `json:"feasible"`
	Seconds      jsonform.Number `json:"seconds"` // null, as eta is, for an operator that does not do what is asked for
	SecondsLow   jsonform.Number `json:"seconds_low"`
	SecondsHigh  jsonform.Number `json:"seconds_high"`
	Slowdown     jsonform.Number `json:"slowdown"`
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

// degreeReport says what a sample tells of the degrees.
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
		f := progress.NewForecast(&c, p.slowdown)
		err := e.Object(candidateReport{
			Operator: c.Name, Picked: p.picked(i), Feasible: c.Feasible,
			SecondsLow: jsonform.Number(f.Low), SecondsHigh: jsonform.Number(f.High), Slowdown: jsonform.Number(f.Slowdown),
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
	_, err := fmt.Fprintf(e.Stdout, "%s: %v\n", p.Candidates[0].Name, progress.NewForecast(&p.Candidates[0], p.slowdown))
	return err
}
