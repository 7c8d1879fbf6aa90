package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func embedVerb() cli.Verb {
	return cli.Verb{
		Name:    "embed",
		Summary: "embed a file of feature vectors",
		Synopsis: []string{
			"FEATURES -out FILE [-k K] [-neighbours N | -sigma S | -degree G] [FLAGS]",
			"FEATURES -out FILE (-neighbours N | -sigma S | -degree G) [-labels FILE] -beta B [FLAGS]",
			"FEATURES -out FILE (-neighbours N | -sigma S | -degree G) [-labels FILE] (-alpha A | -form paper) [-k K] [-sigma-q SQ] [-seed Q] [FLAGS]",
		},
		About: `
FEATURES is a file (.npy, .npz, .csv, .tsv, .txt, .fvecs, .bvecs, .ivecs, .fbin, .u8bin,
.i8bin, .ibin, IDX) or a folder with features.npy and labels.npy. Labels, one per row, are
integers from 0 or names, in a column of the features' .csv, an array of their .npz, or a file
of their own (-labels); -1 or nothing means no label. They are read only when a coefficient is
not 0. Names are numbered in sorted order, and a file beside the output lists them: for
-out e.npy it is e.labels.csv. 'go doc' of package formats has all about files.

Without -alpha, -beta and -form it makes a map for pictures, two columns wide (form
spectral): rows that are near stay near, clusters stand apart, a sheet that is rolled up
lies flat. The map is made of the leading eigenvectors of the graph of the 10 nearest
neighbours of each row, and uses no labels.

With -beta (form attract) the iteration starts at the feature rows and pulls rows of a
class together; the embedding has as many columns as the features. Its rows have been moved
by their own labels: do not cross-validate on these; fit places queries without labels. With
-alpha or -form paper it starts at K random columns of size 1e-8 (-sigma-q), and so the
embedding is about as small; -rescale enlarges it.

FILE is .npy (float32), .fvecs, .fbin or .idx; it is replaced as a whole or not at all. -plot
draws features and embedding side by side, by two principal components where they have more
than two columns.

With -checkpoint a run that was interrupted, or that lost its machine, goes on from the last
checkpoint: repeat the command with -resume, on any number of workers and processes. The
embedding has the same bytes as if nothing had happened. Other features, labels or flags are
refused; -steps and -stop may be others. The checkpoint is removed when the embedding is
written. It is as private as the features.

Processes that mpirun starts share the work, and FILE has the same bytes.`,
		Examples: []string{
			"privatemail embed birds/ -normalize-rows -out birds-map.npy",
			"privatemail embed birds/ -normalize-rows -degree 20 -beta 3 -out birds-embedded.npy",
			"privatemail embed digits.csv -columns 2..65 -label-column digit -degree 20 -beta 3 -out z.npy",
			"privatemail embed x.npy -labels y.csv -sigma 6 -alpha 0.6 -k 2 -steps 5 -out z.npy -json",
			"privatemail embed birds/ -degree 20 -beta 3 -steps 200 -checkpoint birds.checkpoint -resume -out z.npy",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress | cli.PrintsDetails,
		Ranks:  true,
		Define: steered[embedFlags],
	}
}

type embedFlags struct {
	work  workFlags
	graph graphFlags
	size  sizeFlags
	form  formFlags
	step  stepFlags
	plot  plotFlags
	files fileFlags
	keep  checkpointFlags
	out   string
	names string // the file with the names of classes, if there is one
	time  *stopwatch
}

func (f *embedFlags) define(fs *flag.FlagSet) {
	f.work.define(fs)
	f.graph.define(fs, "; forms paper and attract need this, -degree or -neighbours")
	f.form.define(fs)
	f.size.define(fs)
	f.step.define(fs)
	f.files.define(fs)
	fs.StringVar(&f.out, "out", "", "write the embedding to `FILE`; required")
	f.plot.define(fs)
	f.keep.define(fs)
}

// settings checks the flags against each other and translates them.
func (f *embedFlags) settings(set map[string]bool) (*privatemail.Settings, error) {
	if err := f.form.settle(set); err != nil {
		return nil, err
	}
	if err := f.graph.need(set, f.form.form); err != nil {
		return nil, err
	}
	if err := f.graph.check(set); err != nil {
		return nil, err
	}
	if err := f.step.check(set); err != nil {
		return nil, err
	}
	if f.out == "" {
		return nil, cli.Usagef("-out FILE is missing: where should the embedding go?")
	}
	s := new(privatemail.Settings)
	if err := f.graph.apply(s); err != nil {
		return nil, err
	}
	f.form.apply(s, set)
	f.size.apply(s, set)
	return s, f.step.apply(s, &f.graph, set)
}

func (f *embedFlags) run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	f.time = newStopwatch(timeReading, timeGraph, timeSteps, timeWriting)
	name, err := oneFeatures(names)
	if err != nil {
		return err
	}
	s, err := f.settings(set)
	if err != nil {
		return err
	}
	in, err := f.input(e, name, s)
	if err != nil {
		return err
	}
	if err := checkMatrixFile(f.out); err != nil {
		return err
	}
	if err := f.plot.check(in, f.out); err != nil {
		return err
	}
	if err := f.keep.check(set, in, map[string]string{"out": f.out, "plot": f.plot.file}); err != nil {
		return err
	}
	if f.form.form == spectral {
		return f.runSpectral(ctx, e, in, s)
	}
	d, embedding, err := f.embed(ctx, e, in, s)
	if err != nil {
		return f.keep.explain(e, err)
	}
	f.time.split(timeGraph, timeSteps, embedding.Graph.StepTime)
	x := inSingle(s.Into, embedding.Points)
	f.form.size(e, x, s)
	if err := f.write(ctx, e, in, x, s.Coefficient != 0); err != nil {
		return f.keep.explain(e, err)
	}
	if err := f.keep.end(ctx, e); err != nil {
		return err
	}
	f.graph.warn(e, &embedding.Graph)
	return f.show(e, s, d, x, embedding)
}

// write writes points x, the plot and the names of classes; seen says whether labels have
// moved the points.
func (f *embedFlags) write(ctx context.Context, e *cli.Env, in input, x blas32.General, seen bool) error {
	if err := writePoints(ctx, e.Ranks(), f.out, x); err != nil {
		return err
	}
	return onFirst(ctx, e.Ranks(), func() (err error) {
		if err := f.plot.write(ctx, x, seen); err != nil {
			return fmt.Errorf("%w (the embedding is in %s already)", err, f.out)
		}
		f.names, err = writeClassNames(ctx, f.out, in)
		return err
	})
}

// oneFeatures returns FEATURES.
func oneFeatures(names []string) (string, error) {
	return oneName(names, "FEATURES", "name a file, or a folder with "+featuresName)
}

// oneName returns the only name there may be, that of what; advice is for none.
func oneName(names []string, what, advice string) (string, error) {
	switch len(names) {
	case 0:
		return "", cli.Usagef("%s is missing: %s", what, advice)
	case 1:
		return names[0], nil
	}
	return "", cli.Usagef("one %s is wanted, got %d: %s", what, len(names), strings.Join(names, " "))
}

// input finds the files. Labels are left out when they have no effect.
func (f *embedFlags) input(e *cli.Env, name string, s *privatemail.Settings) (input, error) {
	in, err := f.files.resolve(e, name)
	if err != nil {
		return in, err
	}
	if err := refuseInput("-out", f.out, in); err != nil {
		return in, err // labels that have no effect are not to be lost either
	}
	if s.Coefficient == 0 {
		if f.plot.wanted() && f.plot.by == "" {
			return in, nil // labels are drawn
		}
		if f.files.labels != "" {
			e.Note("-labels has no effect without -beta, -alpha or -plot, and is not read")
		}
		in.labels = ""
	} else if in.labels == "" {
		return in, cli.Usagef("%s comes without labels: add -labels FILE, or leave out -beta and -alpha to embed without%s", name, labelAdvice(in))
	}
	return in, nil
}

// embed reads the files and does the work; d is the dimension of the features.
func (f *embedFlags) embed(ctx context.Context, e *cli.Env, in input, s *privatemail.Settings) (d int, _ *iterate.Embedding, _ error) {
	var embedding *iterate.Embedding
	err := withRows(ctx, e, f.work, true, in, " (-1 for none)", func(engine *privatemail.Engine, x blas32.General, y []int32) (err error) {
		d = x.Cols
		f.time.lap(timeReading)
		if err := f.prepare(ctx, e, in, s, x, y); err != nil {
			return err
		}
		if s.Coefficient == 0 {
			y = nil
		}
		askRegression(e, in, y)
		release, err := f.keep.begin(ctx, e, s)
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
func (f *embedFlags) prepare(ctx context.Context, e *cli.Env, in input, s *privatemail.Settings, x blas32.General, y []int32) (err error) {
	if err := checkClassNames(f.out, in, input{}, f.keep.file); err != nil {
		return err
	}
	if err := f.plot.keep(ctx, in, x, y); err != nil {
		return err
	}
	s.Into, err = pointsBuffer(ctx, &f.work, e, x.Rows, columnsOf(s, x))
	f.time.lap(timeWriting)
	return err
}

// columnsOf returns the number of columns of the embedding of features x.
func columnsOf(s *privatemail.Settings, x blas32.General) int {
	if s.Form == kernel.Attract {
		return x.Cols
	}
	return cmp.Or(s.Columns, 2)
}

// embedReport is the object of embed -json.
type embedReport struct {
	N           int    `json:"n"`
	D           int    `json:"d"`
	K           int    `json:"k"`
	Form        string `json:"form"`
	Standardize bool   `json:"standardize,omitempty"`
	graphReport
	timeReport
	Status string       `json:"status"`
	Trace  []stepReport `json:"trace"`
	Out    string       `json:"out"`
	Names  string       `json:"names,omitempty"` // the file with the names of classes
	Plot   string       `json:"plot,omitempty"`
}

func (f *embedFlags) show(e *cli.Env, s *privatemail.Settings, d int, x blas32.General, m *iterate.Embedding) error {
	n, k := x.Rows, x.Cols
	f.time.lap(timeWriting)
	if e.JSON {
		graph := reportGraph(&m.Graph)
		times := f.time.report(&graph)
		return e.Object(embedReport{n, d, k, s.Form.String(), s.Standardize, graph, times, m.Status.String(), reportTrace(m.Trace), f.out, f.names, f.plot.file})
	}
	writeGraph(e, n, &m.Graph, f.graph.asked())
	t := facts(e.Stdout)
	f.graph.showStandardized(t)
	fmt.Fprintf(t, "steps\t%s\n", stepsOf(s.Form, m))
	if e.Verbose {
		fmt.Fprintf(t, "objective\t%s\n", objectiveOf(m.Trace))
	}
	fmt.Fprintf(t, "time\t%v\n", f.time)
	fmt.Fprintf(t, "wrote\t%s, %d x %d\n", f.out, n, k)
	writeNamesFact(t, f.names)
	f.plot.show(t)
	return t.Flush()
}
