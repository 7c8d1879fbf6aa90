// Package apply is the verb apply: it places new rows by a model and predicts their classes.
package apply

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/predictions"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "apply",
		Summary:  "place new rows by a model of fit, and predict their classes",
		Synopsis: []string{"MODEL ROWS [-out FILE] [-classes FILE [-k K] [-labels FILE]] [FLAGS]"},
		About: `
Places new rows by a MODEL of 'privatemail fit -model', as fit places queries.
ROWS is a file or folder with the columns that the model was made from. -out is
where the placed rows go; the answer to a row is what is nearest to it in the
embedding of the model. -classes writes the class of every row, by a vote of its
nearest rows. One of -out and -classes is needed.`,
		More: `
The same model and rows give the same bits on the same machine as in the run of fit, for any number
of workers.

-classes writes the class of every row, by name where the classes of the model have names, and its
share of the votes: a .csv with the columns class and share. The -k nearest rows of the model vote
if they have a label: of n voters the nearest has n votes, the next n - 1 and the last one 1. The
class with most votes wins; between classes with equal votes the nearest row decides. -k 1 is the
nearest row alone. Where ROWS have labels, or -labels names some, the output has the accuracy: the
share of rows with a label for which that class was predicted. Labels change nothing else.

ROWS is a file or folder as for embed. Rows of .npy (float16 and float32 among them), .npz, .fvecs,
.fbin and IDX are read, placed and written block by block, so that there may be more of them than
fit in memory. Text, and arrays in Fortran order, are read as a whole first. Where ROWS and the rows
of the model have names of columns, columns are taken by name, in any order, and a column that is
missing or too much is reported. Names come from a header, from columns.csv in a folder, or from the
array columns, column_names or feature_names of a .npz. 'privatemail show' lists those of a model.

-out is .npy (float32), .fvecs, .fbin or .idx. It is replaced as a whole or not at all: after a
failure, a full disk or Ctrl-C the previous file is as it was.`,
		Examples: []string{
			"privatemail apply birds.model new.npy -out z.npy",
			"privatemail apply birds.model new.csv -columns 'px*' -out z.npy",
			"privatemail apply birds.model new.csv -classes new-classes.csv",
		},
		Common: []string{"out", "classes", "k", "labels", "columns", "label-column", "header", "workers", "max-memory", "json", "quiet"},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: settings.Steered[Flags],
	}
}

type Flags struct {
	work    settings.Work
	files   files.Flags
	out     string
	classes string
	voters  int
}

func (f *Flags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	f.files.Define(fs)
	fs.StringVar(&f.out, "out", "", "write the placed rows to `FILE`")
	fs.StringVar(&f.classes, "classes", "", "write the class of each row to `FILE`, a .csv\nwith its share of votes")
	cli.CountVar(fs, &f.voters, "k", supervised.Voters, "with -classes, the `K` nearest rows vote")
}

func (f *Flags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	switch {
	case len(names) != 2:
		return cli.Usagef("want MODEL and ROWS, got %d names: a file of 'privatemail fit -model', and the rows to place", len(names))
	case f.out == "" && f.classes == "":
		return cli.Usagef("-out FILE is missing: where should the rows go? -classes FILE writes their classes")
	case f.classes == "" && (set["k"] || set["labels"]):
		return cli.Usagef("-k and -labels go with -classes, which predicts the class of every row")
	}
	in, err := f.input(e, names[1])
	if err != nil {
		return err
	}
	if err := f.checkOutputs(names[0], in); err != nil {
		return err
	}
	m := progress.NewMeter(e)
	closeMeter := sync.OnceFunc(m.Close)
	defer closeMeter()
	engine, stop, err := files.EngineWith(e, f.work, false, progress.Silent{}) // apply counts rows itself
	if err != nil {
		return err
	}
	defer stop()
	a, err := f.Open(ctx, engine, m, names[0])
	if err != nil {
		return err
	}
	a.In, a.Out = in, f.out
	began := time.Now()
	err = a.Run(ctx, engine, m)
	closeMeter()
	if err != nil {
		return err
	}
	if a.zeros > 0 && a.classes != nil {
		e.Note("%d rows are at the mean of the model's, which has no direction: they have no class, and as rows they are zeros", a.zeros)
	} else if a.zeros > 0 {
		e.Note("%d rows are at the mean of the model's, which has no direction: they are written as zeros", a.zeros)
	}
	return a.show(e, time.Since(began))
}

// input finds the files of ROWS; their labels are wanted with -classes alone.
func (f *Flags) input(e *cli.Env, name string) (files.Input, error) {
	if f.classes == "" {
		return f.files.Queries(e, name)
	}
	return f.files.Resolve(e, name)
}

// checkOutputs checks before long work whether everything can be written.
func (f *Flags) checkOutputs(model string, in files.Input) error {
	inputs := []files.Input{in, {Features: model}}
	if f.out != "" {
		for _, in := range inputs {
			if err := files.RefuseInput("-out", f.out, in); err != nil {
				return err
			}
		}
		if err := files.CheckMatrixFile(f.out); err != nil {
			return err
		}
	}
	return predictions.Check("-classes", f.classes, inputs, f.out)
}

// Open reads what is needed of a model, all of which is verified.
func (f *Flags) Open(ctx context.Context, engine *privatemail.Engine, m progress.Meter, path string) (a *application, err error) {
	s, err := supervised.Open(ctx, path, files.BytesRead(m, "MiB of the model"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, files.Missing(path, err)
	case errors.Is(err, supervised.ErrFile):
		return nil, fmt.Errorf("%w; MODEL is a file of 'privatemail fit -model'", err)
	case err != nil:
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	a = &application{model: path, by: s.Model.Map, recipe: s.Model.Recipe, columns: files.ColumnsOfModel(path, s)}
	if f.classes == "" {
		return a, nil
	}
	if a.classes, err = openClassing(ctx, engine, path, s); err != nil {
		return nil, err
	}
	a.classes.out, a.classes.k = f.classes, f.voters
	return a, nil
}

// Report is the object of apply -json.
type Report struct {
	N       int     `json:"n"`
	D       int     `json:"d"`
	K       int     `json:"dim"`
	Model   string  `json:"model"`
	Recipe  string  `json:"recipe"`
	Zeros   int     `json:"zeros"`
	Seconds float64 `json:"seconds"`
	Out     string  `json:"out,omitempty"`

	// With -classes.
	Classes  string   `json:"classes,omitempty"`
	Voters   int      `json:"voters,omitempty"`
	NoClass  int      `json:"rows_without_class,omitempty"`
	Labelled int      `json:"labelled_rows,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
}

func (a *application) show(e *cli.Env, all time.Duration) error {
	r := &Report{
		N: a.rows, D: a.by.Dim, K: a.by.Columns(), Model: a.model, Recipe: a.recipe.String(), Zeros: a.zeros, Seconds: all.Seconds(), Out: a.Out,
	}
	if c := a.classes; c != nil {
		r.Classes, r.Voters, r.NoClass, r.Labelled, r.Accuracy = c.out, c.k, c.None, c.Scored, c.Accuracy()
	}
	if e.JSON {
		return e.Object(r)
	}
	t := report.Facts(e.Stdout)
	recipe := r.Recipe
	if a.recipe.Steps > 0 {
		recipe += "; steps move the rows of the model only"
	}
	fmt.Fprintf(t, "recipe\t%s\n", recipe)
	fmt.Fprintf(t, "time\t%.2f s\n", r.Seconds)
	if r.Out != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d\n", r.Out, r.N, r.K)
	}
	if a.classes != nil {
		a.classes.WriteFacts(t, r.Classes)
	}
	return t.Flush()
}
