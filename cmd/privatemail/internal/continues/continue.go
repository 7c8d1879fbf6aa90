// Package continues is the verb continue: it iterates a release, which costs no privacy.
package continues

import (
	"context"
	"flag"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "continue",
		Summary:  "take a release further: rebuild its graph and iterate",
		Synopsis: []string{"RELEASE -out FILE [-sigma S | -mean-neighbours G] [-labels FILE] [-steps T] [FLAGS]"},
		About: `
Rebuilds the graph from the released points and takes further steps. RELEASE is
a file of 'privatemail privatize'. Nothing private is needed or read, and the
steps cost no privacy. What the release promises is printed too. Without -sigma
and -mean-neighbours the bandwidth is that of the first step, as in the paper;
-mean-neighbours 20 is the better start.`,
		More: `
Released points are about as far apart as the noise is large: that is why -mean-neighbours 20 is the
better start. -steps 0 writes the released points as they are. -labels
may be given only when the release says that labels are public; randomised labels come with the
release. Processes that mpirun starts share the work.`,
		Examples: []string{
			"privatemail continue birds.release -labels public-labels.npy -mean-neighbours 20 -steps 4 -out z.npy",
			"privatemail continue x.release.json -steps 0 -out released.npy",
		},
		Common: []string{"mean-neighbours", "sigma", "steps", "alpha", "labels", "cutoff-weight", "isolated", "stop", "normalize", "out", "workers", "max-memory", "json", "v"},
		Prints: cli.PrintsJSON | cli.PrintsProgress | cli.PrintsDetails,
		Ranks:  true,
		Define: settings.Steered[continueFlags],
	}
}

type continueFlags struct {
	work        settings.Work
	graph       settings.Graph
	rest        settings.Run
	alpha       float64
	steps       int
	labels, out string
}

func (f *continueFlags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	f.graph.DefineWeights(fs, "(default: that of the first step)")
	settings.NumberVar(fs, &f.alpha, "alpha", 0, settings.AnyNumber(), "coefficient `A` of the label term\n(default: that of the first step)")
	settings.WholeVar(fs, &f.steps, "steps", 4, "number of further steps `T`\n0 writes the released points")
	f.rest.Define(fs)
	fs.StringVar(&f.labels, "labels", "", "public labels, one per row, from `FILE`")
	fs.StringVar(&f.out, "out", "", "write the embedding to `FILE`; required")
}

func (f *continueFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	name, err := embed.OneName(names, "RELEASE", "name what 'privatemail privatize' wrote")
	if err != nil {
		return err
	}
	if err := f.check(set); err != nil {
		return err
	}
	in := files.Input{Features: name, Labels: f.labels}
	if err := files.RefuseInput("-out", f.out, in); err != nil {
		return err
	}
	if err := files.CheckMatrixFile(f.out); err != nil {
		return err
	}
	r, err := files.ReadRelease(name)
	if err = files.AgreeRelease(ctx, e.Ranks(), name, r, err); err != nil {
		return err
	}
	if f.steps == 0 {
		return f.export(ctx, e, in, r)
	}
	s, err := f.settings(set)
	if err != nil {
		return err
	}
	labels, err := f.publicLabels(ctx, e, r)
	if err != nil {
		return err
	}
	unlabelled := set["alpha"] && labels == nil && r.Labels.Mode != release.ModeRandomised
	if unlabelled && f.alpha != 0 {
		return alphaNeedsLabels(r)
	}
	embedding, err := f.embed(ctx, e, in, r, labels, s)
	if err != nil {
		return err
	}
	if err := files.WritePoints(ctx, e.Ranks(), f.out, files.InSingle(s.Into, embedding.Points)); err != nil {
		return err
	}
	f.graph.Warn(e, &embedding.Graph)
	if g := &embedding.Graph; g.MeanDegree > (1-1e-6)*float64(r.Rows-1) {
		e.Note("every weight is 1 to six digits: the graph says nothing about the points; try -mean-neighbours 20, or a -sigma near the distance of released points")
	}
	if unlabelled {
		e.Note("-alpha has no effect without labels")
	}
	return f.show(ctx, e, r, labels, embedding)
}

// check refuses flags that contradict each other.
func (f *continueFlags) check(set map[string]bool) error {
	if f.out == "" {
		return cli.Usagef("-out FILE is missing: where should the embedding go?")
	}
	if f.steps == 0 {
		for _, name := range []string{"sigma", "mean-neighbours", "convention", "cutoff-weight", "tolerance", "operator", "isolated", "alpha", "labels", "stop", "normalize"} {
			if set[name] {
				return cli.Usagef("-steps 0 writes the released points as they are, and -%s is about further steps: leave out one of them", name)
			}
		}
	}
	return f.graph.Check(set)
}

// alphaNeedsLabels refuses a coefficient of a label term that there is not.
func alphaNeedsLabels(r *release.Release) error {
	if r.Labels.Mode == release.ModePublic {
		return cli.Usagef("-alpha needs labels: add -labels FILE, or leave it out")
	}
	return cli.Usagef("-alpha needs labels, and those of this release are %s; leave the flag out", r.Labels.Mode)
}

// settings translates the flags.
func (f *continueFlags) settings(set map[string]bool) (*post.Settings, error) {
	var g privatemail.Graph
	err := f.graph.Apply(&g)
	if err != nil {
		return nil, err
	}
	s := &post.Settings{
		MeanNeighbours: g.MeanNeighbours, CutoffWeight: g.CutoffWeight, Tolerance: g.Tolerance, Operator: g.Operator, Isolated: g.Isolated,
		Steps: f.steps, StopTolerance: f.rest.Stop,
	}
	if set["sigma"] {
		s.Bandwidth = g.Bandwidth
	}
	if set["alpha"] {
		s.Alpha = &f.alpha
	}
	s.Normalize, err = iterate.NormalizationByName(f.rest.Normalize)
	return s, err
}

// publicLabels reads the labels the caller declares public.
func (f *continueFlags) publicLabels(ctx context.Context, e *cli.Env, r *release.Release) (*release.PublicLabels, error) {
	if f.labels == "" {
		return nil, nil
	}
	if mode := r.Labels.Mode; mode != release.ModePublic {
		return nil, cli.Usagef("-labels: the labels of this release are %s, not public; leave the flag out", mode)
	}
	y, err := files.ReadLabels(ctx, files.Input{Features: "the release", Labels: f.labels}, r.Rows, "")
	if err = files.AgreeInput(ctx, e.Ranks(), files.Input{Features: f.labels}, nil, y, err); err != nil {
		return nil, err
	}
	labels, err := release.Declare(y, r.Query.Classes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.labels, text.Bare(err))
	}
	return labels, nil
}

func (f *continueFlags) embed(ctx context.Context, e *cli.Env, in files.Input, r *release.Release, labels *release.PublicLabels, s *post.Settings) (*iterate.Embedding, error) {
	engine, stop, err := files.Engine(e, f.work, true)
	if err != nil {
		return nil, err
	}
	defer stop()
	if s.Into, err = files.PointsBuffer(ctx, &f.work, e, r.Rows, r.Columns); err != nil {
		return nil, err
	}
	embedding, err := engine.Continue(ctx, r, labels, s)
	return embedding, files.Explain(err, in, continueHints()...)
}

// continueHints are for errors that have another cause here than elsewhere.
func continueHints() []files.Hint {
	return []files.Hint{
		{Kind: kernel.ErrMemory, Says: "label table", Part: files.Features, Advice: "the table is that of the release, and steps without labels need none"},
		{Kind: kernel.ErrMemory, Part: files.Features, Advice: "-max-memory allows more, -mean-neighbours makes the graph sparse"},
		{Kind: iterate.ErrDiverged, Part: files.Features, Advice: "the flags are -normalize, -steps and -alpha"},
		{Kind: post.ErrScale, Part: files.Features, Advice: "they grow with -sigma-q: a release made with one nearer to 1 can be used"},
	}
}

// export writes the released points.
func (f *continueFlags) export(ctx context.Context, e *cli.Env, in files.Input, r *release.Release) error {
	points, err := post.Points(ctx, r)
	if err != nil {
		return files.Explain(err, in, continueHints()...)
	}
	if err := files.WritePoints(ctx, e.Ranks(), f.out, files.InSingle(blas32.General{}, points)); err != nil {
		return err
	}
	if e.JSON {
		return e.Object(continueReport{N: r.Rows, K: r.Columns, Labels: "unused", Out: f.out})
	}
	t := report.Facts(e.Stdout)
	accounts.WriteWorth(t, r, accounts.Promised(ctx, r), e.Verbose)
	fmt.Fprintf(t, "wrote\t%s, %d x %d: the released points\n", f.out, r.Rows, r.Columns)
	return t.Flush()
}

// continueReport is the object of continue -json.
type continueReport struct {
	N      int    `json:"n"`
	K      int    `json:"dim"`
	Labels string `json:"labels"`
	*report.Graph
	Status string        `json:"status,omitempty"`
	Trace  []report.Step `json:"trace"`
	Out    string        `json:"out"`
}

func (f *continueFlags) show(ctx context.Context, e *cli.Env, r *release.Release, labels *release.PublicLabels, m *iterate.Embedding) error {
	used := "none"
	switch {
	case labels != nil:
		used = release.ModePublic
	case r.Labels.Mode == release.ModeRandomised:
		used = release.ModeRandomised
	}
	if e.JSON {
		g := report.GraphOf(&m.Graph)
		return e.Object(continueReport{r.Rows, r.Columns, used, &g, m.Status.String(), report.TraceOf(m.Trace), f.out})
	}
	t := report.Facts(e.Stdout)
	accounts.WriteWorth(t, r, accounts.Promised(ctx, r), e.Verbose)
	if err := t.Flush(); err != nil {
		return err
	}
	report.WriteGraph(e, r.Rows, &m.Graph, f.graph.Asked())
	t = report.Facts(e.Stdout)
	fmt.Fprintf(t, "steps\t%d after the released one, with %s%s\n", m.Trace[len(m.Trace)-1].Step, usedLabels(used), report.EarlyEnd(m))
	if e.Verbose {
		fmt.Fprintf(t, "objective\t%s\n", report.ObjectiveOf(m.Trace))
	}
	fmt.Fprintf(t, "wrote\t%s, %d x %d\n", f.out, r.Rows, r.Columns)
	return t.Flush()
}

// usedLabels says which labels the steps went with.
func usedLabels(used string) string {
	if used == "none" {
		return "no labels"
	}
	return used + " labels"
}
