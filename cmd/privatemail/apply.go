package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

func applyVerb() cli.Verb {
	return cli.Verb{
		Name:     "apply",
		Summary:  "place new rows by the map of a model that fit has saved",
		Synopsis: []string{"MODEL ROWS -out FILE [FLAGS]"},
		About: `
Places the rows of a file where 'privatemail fit' would have placed them as queries: by the map
of MODEL, a file of fit -model, alone. No labels are read. What is nearest to a placed row in
the embedding of the model is the answer to it. The same model and rows give the same bits on
the same machine as in the run of fit, for any number of workers.

ROWS is a file or folder as for embed, with the columns that MODEL was made from. Rows of .npy
(float16 and float32 among them), .npz, .fvecs, .fbin and IDX are read, placed and written block
by block, so that there may be more of them than fit in memory. Text, and arrays in Fortran
order, are read as a whole first. Where both files had a header, the names of their columns
must be the same.

-out is .npy (float32), .fvecs, .fbin or .idx. It is replaced as a whole or not at all: after
a failure, a full disk or Ctrl-C the previous file is as it was.`,
		Examples: []string{
			"privatemail apply birds.model new.npy -out z.npy",
			"privatemail apply birds.model new.csv -columns 'px*' -out z.npy",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(applyFlags)
			f.define(fs)
			return f.run
		},
	}
}

type applyFlags struct {
	work  workFlags
	files fileFlags
	out   string
}

func (f *applyFlags) define(fs *flag.FlagSet) {
	f.work.define(fs)
	f.files.defineColumns(fs)
	fs.StringVar(&f.out, "out", "", "write the placed rows to `FILE`; required")
}

func (f *applyFlags) run(ctx context.Context, e *cli.Env, names []string) error {
	switch {
	case len(names) != 2:
		return cli.Usagef("MODEL and ROWS are wanted, got %d names: a file of 'privatemail fit -model', and the rows to place", len(names))
	case f.out == "":
		return cli.Usagef("-out FILE is missing: where should the rows go?")
	}
	a, err := openApplication(ctx, e, names[0])
	if err != nil {
		return err
	}
	a.out = f.out
	if a.in, err = f.files.queries(e, names[1]); err != nil {
		return err
	}
	if err := errors.Join(refuseInput("-out", f.out, a.in), refuseInput("-out", f.out, input{features: a.model})); err != nil {
		return err
	}
	if err := checkMatrixFile(f.out); err != nil {
		return err
	}
	m := newMeter(e)
	engine, stop, err := engineWith(e, f.work, false, m)
	if err != nil {
		return err
	}
	began := time.Now()
	err = a.run(ctx, engine, m)
	stop()
	if err != nil {
		return err
	}
	if a.zeros > 0 {
		e.Note("%d rows are at the mean of the model's, which has no direction: they are written as zeros", a.zeros)
	}
	return a.show(e, time.Since(began))
}

// openApplication reads what is needed of a model, all of which is verified.
func openApplication(ctx context.Context, e *cli.Env, path string) (*application, error) {
	m := newMeter(e)
	defer m.close()
	s, err := supervised.Open(ctx, path, bytesRead(m, "MiB of the model"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path, err)
	case errors.Is(err, supervised.ErrFile):
		return nil, fmt.Errorf("%w; MODEL is a file of 'privatemail fit -model'", err)
	case err != nil:
		return nil, err
	}
	return &application{model: path, by: s.Model.Map, recipe: s.Model.Recipe, about: s.About}, s.Close()
}

// applyReport is the object of apply -json.
type applyReport struct {
	N       int     `json:"n"`
	D       int     `json:"d"`
	K       int     `json:"k"`
	Model   string  `json:"model"`
	Recipe  string  `json:"recipe"`
	Zeros   int     `json:"zeros"`
	Seconds float64 `json:"seconds"`
	Out     string  `json:"out"`
}

func (a *application) show(e *cli.Env, all time.Duration) error {
	r := &applyReport{
		N: a.rows, D: a.by.Dim, K: a.by.Columns(), Model: a.model, Recipe: a.recipe.String(), Zeros: a.zeros, Seconds: all.Seconds(), Out: a.out,
	}
	if e.JSON {
		return e.Object(r)
	}
	t := facts(e.Stdout)
	recipe := r.Recipe
	if a.recipe.Steps > 0 {
		recipe += "; steps move the rows of the model only"
	}
	fmt.Fprintf(t, "recipe\t%s\n", recipe)
	fmt.Fprintf(t, "time\t%.2f s\n", r.Seconds)
	fmt.Fprintf(t, "wrote\t%s, %d x %d\n", r.Out, r.N, r.K)
	return t.Flush()
}
