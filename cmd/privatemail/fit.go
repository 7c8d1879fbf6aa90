package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

func fitVerb() cli.Verb {
	return cli.Verb{
		Name:     "fit",
		Summary:  "make a labelled file searchable: the supervised embedding, and queries in it",
		Synopsis: []string{"FEATURES -out FILE [-labels FILE] [-queries FILE -queries-out FILE] [-map-out FILE] [FLAGS]"},
		About: `
Makes the embedding of mode supervised, the one to search in. A linear map shrinks what
differs within classes, rows are divided by their norm, and a step over the graph of their
neighbours draws rows of a class together a little. FEATURES and labels are those of embed;
rows with the label -1 have none.

Queries are placed by the map alone, without labels: -queries names their features and
-queries-out where their rows go. What is nearest to them in -out is the answer. -map-out
writes the map for others to use, a .npy of float64 with a matrix M of one row more than
features have columns: the image of a row f, divided by its norm first with -normalize-rows,
is (f 1) M, divided by its norm. Other files are .npy (float32), .fvecs, .fbin or .idx; each
is replaced as a whole or not at all. -plot draws features and embedding side by side, by
two principal components.`,
		Examples: []string{
			"privatemail fit birds/ -normalize-rows -out birds-embedded.npy -plot birds.html",
			"privatemail fit gallery.npy -labels gallery.csv -out x.npy -queries new.npy -queries-out z.npy -k 32",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(fitFlags)
			f.define(fs)
			return f.run
		},
	}
}

type fitFlags struct {
	work                workFlags
	settings            supervised.Settings
	plot                plotFlags
	normalizeRows       bool
	labels, out         string
	queries, queriesOut string
	mapOut              string
	rows, columns       int // of FEATURES
	placed, nowhere     int // queries, and those whose row is zeros
}

func (f *fitFlags) define(fs *flag.FlagSet) {
	f.work.define(fs)
	fs.BoolVar(&f.normalizeRows, "normalize-rows", false, "divide every row of features and queries by its norm first")
	numberVar(fs, &f.settings.MeanNeighbours, "degree", 20, positive(), "mean number of neighbours `G` in the graph; 5 to 60 change little")
	numberVar(fs, &f.settings.Beta, "beta", 3, positive(), "weight `B` of the labels against the neighbours")
	cli.CountVar(fs, &f.settings.Steps, "steps", 1, "number of steps `T`; 2 make purer lists and lose a little recall")
	cli.CountVar(fs, &f.settings.Columns, "k", 0, "`K` columns of the embedding, at most those of the features (default: as many)")
	labelsVar(fs, &f.labels)
	fs.StringVar(&f.out, "out", "", "write the embedding to `FILE`; required")
	fs.StringVar(&f.queries, "queries", "", "place the queries of `FILE` too")
	fs.StringVar(&f.queriesOut, "queries-out", "", "write the rows of the queries to `FILE`")
	fs.StringVar(&f.mapOut, "map-out", "", "write the map to `FILE`")
	f.plot.define(fs)
}

func (f *fitFlags) run(ctx context.Context, e *cli.Env, names []string) error {
	name, err := oneFeatures(names)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	in, from, err := f.inputs(name)
	if err != nil {
		return err
	}
	if err := f.checkOutputs(in, from); err != nil {
		return err
	}
	if err := f.plot.check(name, f.labels, f.out, f.queriesOut, f.mapOut, from.features); err != nil {
		return err
	}
	q, release, err := f.openQueries(ctx, from)
	if err != nil {
		return err
	}
	defer release()
	fit, queries, err := f.fit(ctx, e, in, from, q)
	if err != nil {
		return err
	}
	if err := f.write(ctx, fit, queries); err != nil {
		return err
	}
	if err := f.plot.write(ctx, fit.X, true); err != nil {
		return fmt.Errorf("%w (the embedding is in %s already)", err, f.out)
	}
	if f.nowhere > 0 {
		e.Note("%d queries are at the mean of FEATURES, which has no direction: their rows are zeros", f.nowhere)
	}
	noteDegree(e, &fit.Graph, min(f.settings.MeanNeighbours, float64(f.rows-1)), "")
	return f.show(e, fit)
}

// check refuses flags that lack others.
func (f *fitFlags) check() error {
	switch {
	case f.out == "":
		return cli.Usagef("-out FILE is missing: where should the embedding go?")
	case (f.queries == "") != (f.queriesOut == ""):
		return cli.Usagef("-queries and -queries-out go together: what to place, and where it goes")
	}
	return nil
}

// inputs finds the files of FEATURES and those of the queries, none without them.
func (f *fitFlags) inputs(name string) (in, queries input, err error) {
	if in, err = resolve(name, f.labels); err != nil {
		return in, queries, err
	}
	if in.labels == "" {
		return in, queries, cli.Usagef("%s comes without labels: add -labels FILE; 'privatemail embed' works without", name)
	}
	if f.queries != "" {
		queries, err = resolve(f.queries, "")
	}
	return in, queries, err
}

// checkOutputs tells before long work whether everything can be written.
func (f *fitFlags) checkOutputs(in, queries input) error {
	var seen []string
	for _, c := range []struct {
		flag, out string
		check     func(path string) error
	}{{"-out", f.out, checkMatrixFile}, {"-queries-out", f.queriesOut, checkMatrixFile}, {"-map-out", f.mapOut, checkMapFile}} {
		if c.out == "" {
			continue
		}
		if err := errors.Join(refuseInput(c.flag, c.out, in), refuseInput(c.flag, c.out, queries)); err != nil {
			return err
		}
		for _, other := range seen {
			if same, err := sameTarget(c.out, other); err != nil {
				return err
			} else if same {
				return cli.Usagef("two results would go to %s: name another file for one", c.out)
			}
		}
		seen = append(seen, c.out)
		if err := c.check(c.out); err != nil {
			return err
		}
	}
	return nil
}

// checkMapFile is checkMatrixFile for float64.
func checkMapFile(path string) error {
	return checkFile(path, func(ended context.Context) error { return formats.WriteMatrix(ended, path, 1, 1, []float64{0}) })
}

// openQueries returns the features of the queries, none if there are no queries, and a
// function that releases them.
func (f *fitFlags) openQueries(ctx context.Context, in input) (q blas32.General, release func(), err error) {
	if f.queries == "" {
		return q, func() {}, nil
	}
	if q, release, err = readFeatures(ctx, in.features); err != nil {
		return q, nil, err
	}
	if q.Rows == 0 {
		release()
		return q, nil, fmt.Errorf("%s: no queries in it", in.features)
	}
	return q, release, nil
}

// fit reads FEATURES and does the work, and places the queries q, which come from their
// own files; the second result is nil where there are none.
func (f *fitFlags) fit(ctx context.Context, e *cli.Env, in, from input, q blas32.General) (fit *supervised.Model, queries *mat.Dense, err error) {
	x, y, release, err := readRows(ctx, in, " (-1 for none)")
	if err != nil {
		return nil, nil, err
	}
	defer release()
	f.rows, f.columns, f.placed = x.Rows, x.Cols, q.Rows
	switch {
	case f.settings.Columns > x.Cols:
		return nil, nil, cli.Usagef("-k %d is more than the %d columns of %s", f.settings.Columns, x.Cols, in.features)
	case q.Rows > 0 && q.Cols != x.Cols:
		return nil, nil, fmt.Errorf("%s: rows of %d values, but those of %s have %d", f.queries, q.Cols, in.features, x.Cols)
	}
	if err := f.plot.keep(ctx, x); err != nil {
		return nil, nil, explain(err, in)
	}
	if fit, err = f.model(ctx, e, in, x, y, q.Rows); err != nil {
		return nil, nil, explain(err, in)
	}
	if q.Rows == 0 {
		return fit, nil, nil
	}
	// A copy, not q: who gives up waiting releases that.
	rows, err := f.double(ctx, q)
	if err == nil {
		queries, err = await(ctx, func() (*mat.Dense, error) { return fit.Map.Apply(rows) })
	}
	if err != nil {
		return nil, nil, explain(err, from)
	}
	for i := range q.Rows {
		if mat.Norm(queries.RowView(i), 1) == 0 {
			f.nowhere++
		}
	}
	return fit, queries, nil
}

// model fits rows x with labels y, and leaves room for queries.
func (f *fitFlags) model(ctx context.Context, e *cli.Env, in input, x blas32.General, y []int32, queries int) (*supervised.Model, error) {
	work, err := f.engineWork(x, queries)
	if err != nil {
		return nil, err
	}
	engine, stop, err := engine(e, work, true)
	if err != nil {
		return nil, err
	}
	defer stop()
	rows, err := f.double(ctx, x)
	if err != nil {
		return nil, err
	}
	// The map takes no context.
	fit, err := await(ctx, func() (*supervised.Model, error) { return supervised.Fit(ctx, engine, rows, y, &f.settings) })
	return fit, f.explain(err, in)
}

// engineWork leaves the engine what the copies it does not count leave of the budget:
// rows and queries and their images in float64, and the images in float32. Without a
// budget the engine looks for itself once they are made.
func (f *fitFlags) engineWork(x blas32.General, queries int) (workFlags, error) {
	work := f.work
	k := f.settings.Columns
	if k == 0 {
		k = x.Cols
	}
	own := (float64(x.Rows) + float64(queries)) * (8*float64(x.Cols) + (8+4)*float64(k))
	rest, err := pipeline.Reserve(cmp.Or(work.budget, mem.Budget()), own, fmt.Sprintf("supervised embedding of %d x %d and %d queries", x.Rows, x.Cols, queries))
	if work.budget > 0 {
		work.budget = rest
	}
	return work, err
}

// double returns the rows in float64, divided by their norm if that is wanted.
func (f *fitFlags) double(ctx context.Context, x blas32.General) (blas64.General, error) {
	out := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: max(x.Cols, 1), Data: make([]float64, x.Rows*x.Cols)}
	for i := range x.Rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
		row := out.Data[i*out.Stride:][:x.Cols]
		points.ReadRow(row, x, i)
		if f.normalizeRows && points.Normalize(row) == 0 {
			return out, &points.ZeroRowError{Row: i}
		}
	}
	return out, nil
}

// explain is for errors that have another cause here than elsewhere.
func (f *fitFlags) explain(err error, in input) error {
	if zero, ok := errors.AsType[*points.ZeroRowError](err); ok {
		return fmt.Errorf("%s: row %d (counted from 0) has no direction once it is embedded: it is at the mean of all rows, and nothing draws it away; remove it", in.features, zero.Row)
	}
	if errors.Is(err, supervised.ErrNoPairs) {
		return fmt.Errorf("%s: %w; 'privatemail embed' works without labels", in.labels, supervised.ErrNoPairs)
	}
	return err
}

// write writes the files.
func (f *fitFlags) write(ctx context.Context, fit *supervised.Model, queries *mat.Dense) error {
	if err := writeEmbedding(ctx, f.out, fit.X); err != nil {
		return err
	}
	if queries != nil {
		if err := writeEmbedding(ctx, f.queriesOut, queries); err != nil {
			return fmt.Errorf("%w (the embedding is in %s already)", err, f.out)
		}
	}
	if f.mapOut != "" {
		m := fit.Map.Affine().RawMatrix()
		if err := formats.WriteMatrix(ctx, f.mapOut, m.Rows, m.Cols, m.Data); err != nil {
			return fmt.Errorf("%w (the embedding is in %s already)", err, f.out)
		}
	}
	return nil
}

// fitReport is the object of fit -json.
type fitReport struct {
	N int `json:"n"`
	D int `json:"d"`
	K int `json:"k"`
	graphReport
	Trace      []stepReport `json:"trace"`
	Out        string       `json:"out"`
	Queries    int          `json:"queries,omitempty"`
	QueriesOut string       `json:"queries_out,omitempty"`
	MapOut     string       `json:"map_out,omitempty"`
	Plot       string       `json:"plot,omitempty"`
}

func (f *fitFlags) show(e *cli.Env, fit *supervised.Model) error {
	_, k := fit.X.Dims()
	if e.JSON {
		return e.Object(fitReport{f.rows, f.columns, k, reportGraph(&fit.Graph), reportTrace(fit.Trace), f.out, f.placed, f.queriesOut, f.mapOut, f.plot.file})
	}
	if e.Quiet {
		return nil
	}
	writeGraph(e.Stdout, f.rows, &fit.Graph)
	t := facts(e.Stdout)
	fmt.Fprintf(t, "time\t%.2f s for the graph, %.2f s for the steps\n", fit.Graph.BuildTime.Seconds(), fit.Graph.StepTime.Seconds())
	fmt.Fprintf(t, "wrote\t%s, %d x %d\n", f.out, f.rows, k)
	if f.queriesOut != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d queries\n", f.queriesOut, f.placed, k)
	}
	if f.mapOut != "" {
		fmt.Fprintf(t, "wrote\t%s, the map from %d columns and a 1 to %d\n", f.mapOut, f.columns, k)
	}
	f.plot.show(t)
	return t.Flush()
}
