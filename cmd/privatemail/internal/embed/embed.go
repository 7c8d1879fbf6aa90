// Package embed is the verb embed: it makes a map, or moves rows by the graph and their labels.
package embed

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:    "embed",
		Summary: "embed a file of feature vectors",
		Synopsis: []string{
			"FEATURES -out FILE [-neighbours N | -mean-neighbours G | -sigma S] [FLAGS]",
			"FEATURES -out FILE (-beta B | -alpha A) (-mean-neighbours G | -neighbours N | -sigma S) [FLAGS]",
			"FEATURES -plan [FLAGS]",
		},
		About: `
By default it makes a map for pictures: two columns, near rows stay near, and
labels do not matter. -beta moves the feature rows instead, so that rows of a
class come together. -alpha (or -form paper) is the published iteration from a
random start. Both need labels and a graph: -mean-neighbours 20 is a good start.
FEATURES is a file of vectors (.npy, .npz, .csv and others) or a folder with
features.npy and labels.npy. The embedding goes to the file -out.`,
		More: `
FEATURES is a file (.npy, .npz, .csv, .tsv, .txt, .fvecs, .bvecs, .ivecs, .fbin, .u8bin, .i8bin,
.ibin, IDX) or a folder with features.npy and labels.npy. Labels, one per row, are integers from 0
or names, in a column of the features' .csv, an array of their .npz, or a file of their own
(-labels); -1 or nothing means no label. They are read only when -alpha or -beta is not 0, or for
a plot. Names are numbered in sorted order, and a file next to the output lists them: for -out
e.npy it is e.labels.csv. 'go doc' of package formats has all about files.

The map (form spectral) is made of the leading eigenvectors of the graph of the 10 nearest
neighbours of each row: rows that are near stay near, clusters stand apart, a sheet that is rolled
up lies flat. -neighbours, -mean-neighbours or -sigma makes another graph.

With -beta (form attract) the iteration starts at the feature rows, and the embedding has as many
columns as the features. Its rows have been moved by their own labels: do not cross-validate on
these; 'privatemail fit' places queries without labels. With -alpha or -form paper the iteration
starts at K random columns of size 1e-8 (-sigma-q), and the embedding is about as small; -rescale
enlarges it. -form paper without -alpha, and -form attract without -beta, need no labels.

-out is .npy (float32), .fvecs, .fbin or .idx; the file is replaced as a whole or not at all. -plot
draws features and embedding side by side, by two principal components where they have more than
two columns.

With -checkpoint a run that was interrupted, or that lost its machine, goes on from the last
checkpoint: repeat the command with -resume, on any number of workers and processes. The embedding
has the bytes of a run without interruption. Other features, labels or flags are refused; -steps,
-stop and -checkpoint-every may change. The checkpoint is removed when the embedding is written. It
is as private as the features.

-plan looks at a sample of rows, lists the operators that could do the work, and builds nothing.
The operator marked * is the one that embed takes with the same flags; where its certificate misses
-tolerance once it is built, embed goes on to the next. Memory is what is built, the embedding
included. Seconds are estimates for the workers at hand on a machine at rest, without reading and
writing files, by the speed of this machine, which is measured once and kept in the user's cache
folder. The last line says what the marked operator is likely to take: from half of its seconds to
six times as much, and more where other programs slow the machine down. Eta is the error to expect
of a row's weights relative to their sum, in 99 of 100 rows; where -mean-neighbours or
-cutoff-weight asks for a cut graph, it is the weights cut off against those kept, and no error. A
degree is the sum of a row's weights; degrees are estimates from the sample. With -json there is
one object per operator, the best first.

Processes that mpirun starts share the work, and -out has the same bytes. With -plan, seconds are
then those of one process, and memory is that of each.`,
		Examples: []string{
			"privatemail embed birds/ -normalize-rows -out map.npy -plot map.html",
			"privatemail embed birds/ -normalize-rows -mean-neighbours 20 -beta 3 -out birds-embedded.npy",
			"privatemail embed x.npy -labels y.csv -sigma 6 -alpha 0.6 -dim 2 -steps 5 -out z.npy",
			"privatemail embed digits.csv -columns 2..65 -label-column digit -mean-neighbours 20 -beta 3 -out z.npy",
			"privatemail embed x.npy -plan -sigma 0.35 -tolerance 1e-3",
			"privatemail embed birds/ -mean-neighbours 20 -beta 3 -steps 200 -checkpoint birds.checkpoint -resume -out z.npy",
		},
		Short:  3,
		Common: []string{"neighbours", "mean-neighbours", "sigma", "beta", "alpha", "dim", "steps", "labels", "columns", "normalize-rows", "standardize", "out", "plot", "plan"},
		Prints: cli.PrintsJSON | cli.PrintsProgress | cli.PrintsDetails,
		Ranks:  true,
		Define: settings.Steered[Flags],
	}
}

type Flags struct {
	work  settings.Work
	graph settings.Graph
	size  settings.Size
	form  settings.FormChoice
	step  settings.Step
	plot  files.PlotFlags
	files files.Flags
	keep  files.CheckpointFlags
	out   string
	plan  bool   // list operators, embed nothing
	names string // the file with the names of classes, if there is one
	time  *report.Stopwatch
}

func (f *Flags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	f.graph.Define(fs, "forms paper and attract need this, -mean-neighbours or -neighbours")
	f.form.Define(fs)
	f.size.Define(fs)
	f.step.Define(fs)
	f.files.Define(fs)
	fs.StringVar(&f.out, "out", "", "write the embedding to `FILE`; required")
	f.plot.Define(fs)
	f.keep.Define(fs)
	fs.BoolVar(&f.plan, "plan", false, "list the operators with their cost, and embed nothing\nno -out needed")
}

// settings checks the flags against each other and translates them.
func (f *Flags) settings(set map[string]bool) (*privatemail.Settings, error) {
	if err := f.form.Settle(set); err != nil {
		return nil, err
	}
	if err := f.graph.Need(set, f.form.Form); err != nil {
		return nil, err
	}
	if err := f.graph.Check(set); err != nil {
		return nil, err
	}
	if err := f.step.Check(set); err != nil {
		return nil, err
	}
	if f.out == "" && !f.plan {
		return nil, cli.Usagef("-out FILE is missing: where should the embedding go?")
	}
	s := new(privatemail.Settings)
	if err := f.graph.Apply(&s.Graph); err != nil {
		return nil, err
	}
	f.form.Apply(s, set)
	f.size.Apply(s, set)
	return s, f.step.Apply(s, &f.graph, set)
}

func (f *Flags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	f.time = report.NewStopwatch(report.TimeReading, report.TimeGraph, report.TimeSteps, report.TimeWriting)
	name, err := OneFeatures(names)
	if err != nil {
		return err
	}
	s, err := f.settings(set)
	if err != nil {
		return err
	}
	if f.plan {
		in, err := f.files.Resolve(e, name)
		if err != nil {
			return err
		}
		return f.runPlan(ctx, e, in, s)
	}
	in, err := f.input(e, name, s)
	if err != nil {
		return err
	}
	if err := files.CheckMatrixFile(f.out); err != nil {
		return err
	}
	if err := f.plot.Check(in, f.out); err != nil {
		return err
	}
	if err := f.keep.Check(set, in, map[string]string{"out": f.out, "plot": f.plot.File}); err != nil {
		return err
	}
	if f.form.Form == settings.Spectral {
		return f.runSpectral(ctx, e, in, s)
	}
	d, embedding, err := f.embed(ctx, e, in, s)
	if err != nil {
		return f.keep.Explain(e, err)
	}
	f.time.Split(report.TimeGraph, report.TimeSteps, embedding.Graph.StepTime)
	x := files.InSingle(s.Into, embedding.Points)
	f.form.Size(e, x, s)
	if err := f.write(ctx, e, in, x, s.Coefficient != 0); err != nil {
		return f.keep.Explain(e, err)
	}
	if err := f.keep.End(ctx, e); err != nil {
		return err
	}
	f.graph.Warn(e, &embedding.Graph)
	return f.show(e, s, d, x, embedding)
}

// write writes points x, the plot and the names of classes; seen says whether labels have
// moved the points.
func (f *Flags) write(ctx context.Context, e *cli.Env, in files.Input, x blas32.General, seen bool) error {
	if err := files.WritePoints(ctx, e.Ranks(), f.out, x); err != nil {
		return err
	}
	return files.OnFirst(ctx, e.Ranks(), func() (err error) {
		if err := f.plot.Write(ctx, x, seen); err != nil {
			return fmt.Errorf("%w (the embedding is in %s already)", err, f.out)
		}
		f.names, err = files.WriteClassNames(ctx, f.out, in)
		return err
	})
}

// OneFeatures returns FEATURES.
func OneFeatures(names []string) (string, error) {
	return OneName(names, "FEATURES", "name a file, or a folder with "+files.FeaturesName)
}

// OneName returns the only name; what is the name of the argument, advice is for a missing one.
func OneName(names []string, what, advice string) (string, error) {
	switch len(names) {
	case 0:
		return "", cli.Usagef("%s is missing: %s", what, advice)
	case 1:
		return names[0], nil
	}
	return "", cli.Usagef("want one %s, got %d: %s", what, len(names), strings.Join(names, " "))
}

// input finds the files. Labels are left out when they have no effect.
func (f *Flags) input(e *cli.Env, name string, s *privatemail.Settings) (files.Input, error) {
	in, err := f.files.Resolve(e, name)
	if err != nil {
		return in, err
	}
	if err := files.RefuseInput("-out", f.out, in); err != nil {
		return in, err // labels that have no effect are not to be lost either
	}
	if s.Coefficient == 0 {
		if f.plot.Wanted() && f.plot.By == "" {
			return in, nil // labels are drawn
		}
		if f.files.Labels != "" {
			e.Note("-labels has no effect without -beta, -alpha or -plot, and is not read")
		}
		in.Labels = ""
	} else if in.Labels == "" {
		return in, cli.Usagef("%s comes without labels: add -labels FILE, or leave out -beta and -alpha to embed without%s", name, files.LabelAdvice(in))
	}
	return in, nil
}

// embed reads the files and does the work; d is the dimension of the features.
func (f *Flags) embed(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.Settings) (d int, _ *iterate.Embedding, _ error) {
	var embedding *iterate.Embedding
	err := files.WithRows(ctx, e, f.work, true, in, " (-1 for none)", func(engine *privatemail.Engine, x blas32.General, y []int32) (err error) {
		d = x.Cols
		f.time.Lap(report.TimeReading)
		if err := f.prepare(ctx, e, in, s, x, y); err != nil {
			return err
		}
		if s.Coefficient == 0 {
			y = nil
		}
		files.AskRegression(e, in, y)
		release, err := f.keep.Begin(ctx, e, s)
		if err != nil {
			return err
		}
		defer release()
		embedding, err = engine.Embed(ctx, x, y, s)
		return err
	})
	return d, embedding, err
}

// prepare checks what could fail after the work, keeps of features x and labels y what is
// drawn, and makes room for the points.
func (f *Flags) prepare(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.Settings, x blas32.General, y []int32) (err error) {
	if err := files.CheckClassNames(f.out, in, files.Input{}, f.keep.File); err != nil {
		return err
	}
	if err := f.plot.Keep(ctx, in, x, y); err != nil {
		return err
	}
	s.Into, err = files.PointsBuffer(ctx, &f.work, e, x.Rows, columnsOf(s, x))
	f.time.Lap(report.TimeWriting)
	return err
}

// ColumnsOf returns the number of columns of the embedding of features x.
func columnsOf(s *privatemail.Settings, x blas32.General) int {
	if s.Form == kernel.Attract {
		return x.Cols
	}
	return cmp.Or(s.Dim, 2)
}

// embedReport is the object of embed -json.
type embedReport struct {
	N           int    `json:"n"`
	D           int    `json:"d"`
	K           int    `json:"dim"`
	Form        string `json:"form"`
	Standardize bool   `json:"standardize,omitempty"`
	report.Graph
	report.Times
	Status string        `json:"status"`
	Trace  []report.Step `json:"trace"`
	Out    string        `json:"out"`
	Names  string        `json:"names,omitempty"` // the file with the names of classes
	Plot   string        `json:"plot,omitempty"`
}

func (f *Flags) show(e *cli.Env, s *privatemail.Settings, d int, x blas32.General, m *iterate.Embedding) error {
	n, k := x.Rows, x.Cols
	f.time.Lap(report.TimeWriting)
	if e.JSON {
		graph := report.GraphOf(&m.Graph)
		times := f.time.Report(&graph)
		return e.Object(embedReport{n, d, k, s.Form.String(), s.Standardize, graph, times, m.Status.String(), report.TraceOf(m.Trace), f.out, f.names, f.plot.File})
	}
	report.WriteGraph(e, n, &m.Graph, f.graph.Asked())
	t := report.Facts(e.Stdout)
	f.graph.ShowStandardized(t)
	fmt.Fprintf(t, "steps\t%s\n", report.StepsOf(s.Form, m))
	if e.Verbose {
		fmt.Fprintf(t, "objective\t%s\n", report.ObjectiveOf(m.Trace))
	}
	fmt.Fprintf(t, "time\t%v\n", f.time)
	fmt.Fprintf(t, "wrote\t%s, %d x %d\n", f.out, n, k)
	files.WriteNamesFact(t, f.names)
	f.plot.Show(t)
	return t.Flush()
}
