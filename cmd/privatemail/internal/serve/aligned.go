package serve

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
)

// alignedFlags say what Algorithm 1 is answered from.
type alignedFlags struct {
	rows, public string
	method       retrieval.Method
	sigma        float64
	matches      int
}

// alignedFlagNames are the flags that need -aligned.
var alignedFlagNames = []string{"aligned-public", "sigma", "alpha", "k", "steps", "matches"}

func (f *alignedFlags) Define(fs *flag.FlagSet) {
	f.method = retrieval.PaperMethod()
	fs.StringVar(&f.rows, "aligned", "", "also answer questions of Algorithm 1, from the labelled rows of `FOLDER`")
	fs.StringVar(&f.public, "aligned-public", "", "the labelled rows that both sides of Algorithm 1 have are in `FOLDER`")
	settings.NumberVar(fs, &f.sigma, "sigma", 6, settings.Positive(), "bandwidth `S` of Algorithm 1")
	settings.NumberVar(fs, &f.method.Alpha, "alpha", f.method.Alpha, settings.Positive(), "coefficient `A` of the label term of Algorithm 1")
	cli.CountVar(fs, &f.method.Columns, "k", f.method.Columns, "`K` dimensions of the embeddings of Algorithm 1")
	cli.CountVar(fs, &f.method.Steps, "steps", f.method.Steps, "number of steps `T` of Algorithm 1")
	cli.CountVar(fs, &f.matches, "matches", 8, "answer `K` rows for each hidden row of a question of Algorithm 1")
}

// check refuses flags that lack others.
func (f *alignedFlags) check(set map[string]bool) error {
	if f.rows == "" {
		for _, name := range alignedFlagNames {
			if set[name] {
				return cli.Usagef("-%s needs -aligned: it is about Algorithm 1", name)
			}
		}
		return nil
	}
	if f.public == "" {
		return cli.Usagef("-aligned needs -aligned-public: the rows that clients have, too")
	}
	f.method.Bandwidth = kernel.Sigma(f.sigma)
	return nil
}

// An aligner has the engine of Algorithm 1, as long as questions are answered.
type aligner struct {
	flags  *alignedFlags
	env    *cli.Env
	engine *privatemail.Engine // nil where Algorithm 1 is not offered
	shown  atomic.Pointer[progress.Meter]
}

// newAligner starts the engine if questions are to be answered.
func (f *Flags) newAligner(e *cli.Env) (*aligner, error) {
	a := &aligner{flags: &f.aligned, env: e}
	if f.aligned.rows == "" {
		return a, nil
	}
	options := []privatemail.Option{privatemail.WithCalibration(files.Speed()), privatemail.WithProgress(a.Report)}
	if f.work.Workers > 0 {
		options = append(options, privatemail.WithWorkers(f.work.Workers))
	}
	if f.work.Budget > 0 {
		options = append(options, privatemail.WithBudget(f.work.Budget))
	}
	var err error
	a.engine, err = privatemail.New(options...)
	return a, err
}

// report shows progress while rows are embedded. Questions show none.
func (a *aligner) Report(p privatemail.Progress) {
	if m := a.shown.Load(); m != nil {
		(*m).Report(p)
	}
}

func (a *aligner) Close() {
	if a.engine != nil {
		a.engine.Close() // always nil
	}
}

// load embeds the rows; nil where Algorithm 1 is not offered.
func (a *aligner) load(ctx context.Context) (*server.Paper, error) {
	if a.engine == nil {
		return nil, nil
	}
	x, y, err := a.read(ctx, "-aligned", a.flags.rows)
	if err != nil {
		return nil, err
	}
	publicRows, publicLabels, err := a.read(ctx, "-aligned-public", a.flags.public)
	if err != nil {
		return nil, err
	}
	// Clients have the public rows alone, so these say how many classes there are.
	public, err := retrieval.NewPublic(publicRows, publicLabels, int(slices.Max(publicLabels))+1)
	if err != nil {
		return nil, fmt.Errorf("-aligned-public: %w", err)
	}
	m := progress.NewMeter(a.env)
	a.shown.Store(&m)
	defer func() {
		a.shown.Store(nil)
		m.Close()
	}()
	paper, err := server.NewPaper(ctx, a.engine, server.Gallery{Features: x, Labels: y}, public, a.flags.method, a.flags.matches, 1)
	if err != nil {
		return nil, fmt.Errorf("-aligned: %w", err)
	}
	return paper, nil
}

// read returns labelled rows as float64. Labels are numbers: names would be numbered in each
// file for itself.
func (a *aligner) read(ctx context.Context, name, folder string) (x blas64.General, y []int32, err error) {
	in, err := (&files.Reading{Env: a.env}).Resolve(folder, "")
	if err != nil {
		return x, nil, err
	}
	if in.Labels == "" {
		return x, nil, cli.Usagef("%s %s comes without labels", name, folder)
	}
	in.Read = nil
	rows, y, release, err := files.ReadRows(ctx, in, "")
	if err != nil {
		return x, nil, err
	}
	defer release()
	if slices.Min(y) < 0 {
		return x, nil, fmt.Errorf("%s: a row without a label", in.Labels)
	}
	x = blas64.General{Rows: rows.Rows, Cols: rows.Cols, Stride: rows.Cols, Data: make([]float64, 0, rows.Rows*rows.Cols)}
	for i := range rows.Rows {
		for _, v := range rows.Data[i*rows.Stride:][:rows.Cols] {
			x.Data = append(x.Data, float64(v))
		}
	}
	return x, y, nil
}
