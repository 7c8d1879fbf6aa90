// Package fit is the verb fit: it makes a labelled file searchable and saves the model.
package fit

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "fit",
		Summary:  "make a labelled file searchable, and place queries in it",
		Synopsis: []string{"FEATURES [-out FILE] [-model FILE] [-labels FILE] [-queries FILE -queries-out FILE] [-map-out FILE] [FLAGS]"},
		About: `
Learns from labelled rows how to prepare rows and where to place them, so that
the nearest rows are of the same class. -out is the embedding of FEATURES;
-model is the model in one file, for 'privatemail apply', serve and show. One of
them is needed. -queries places rows without labels. FEATURES is a file (.npy,
.csv and others) or a folder with features.npy and labels.npy. fit prints how
often held-out rows find their class, as they are and in the embedding.`,
		More: `
What happens to a row is its recipe: roots of its values, division by its norm, columns of equal
spread or weighed by what they say about the classes, a linear map that shrinks what differs within
classes, division by the norm again, and steps over the graph of neighbours that draw rows of a
class together. Without -recipe, recipes are compared on labelled rows that are held out, by -goal.
Among the recipes that the best one does not beat by a standard error, fit takes the one with the
purest lists (P@8). Rows with the label -1 have no label. -columns holds for queries, too.

The output says how often held-out rows find their class at the nearest row (R@1) and among the 8
nearest (R@8), and how many of these 8 have it (P@8): among the rows as they are (raw), among rows
with columns of equal spread (scaled), under the three best recipes, and with a recipe that was
chosen by other rows than those it is measured on (result). Where raw and scaled are far behind,
their figures are those of the first hundreds of the held-out rows. It says what the recipe gives up
against the others. -goal map is the average precision of the 100 nearest.

-recipe is auto, a name (raw, scaled, classic, deep) or words with commas between, such as
root,unit-rows,discriminate,ridge=1,unit-images,steps=1,beta=3: what happens, in that order.
standardize and weigh scale the columns; a discriminate without them depends on the units of the
columns. whiten keeps the columns, discriminate leaves one less than there are classes; columns=K
leaves fewer. -steps, -beta, -dim and -normalize-rows fix that part of every recipe.

Queries are placed by the map alone, without labels: -queries names their features and -queries-out
where their rows go. The answer to a query is what is nearest to it in -out. Rows of -out have been
moved by their own labels: do not cross-validate on these, measure on queries. -model saves the map,
the recipe, the embedding, the facts of its graph, the label of every row, and the names of classes
and columns. Keep it as private as FEATURES and labels: it has the labels, and features can often be
computed from it.

-diagnose reports the distance between the classes of the embedding, how far the map carries a row
that is near to rows of its class, and what follows for the nearest row to a new one: a bound of its
accuracy, or why there is none (docs/margin.md).

-map-out writes the linear part of the map for others to use, a .npy of float64 with a matrix M of
one row more than features have columns: the image of a row f, after the words of the recipe before
the map, is (f 1) M, to which the words after the map apply. Other files are .npy (float32), .fvecs,
.fbin or .idx; each is replaced as a whole or not at all. -plot draws features and embedding side by
side, by two principal components. Processes that mpirun starts share the work, and files of points
have the same bytes.`,
		Examples: []string{
			"privatemail fit birds/ -out birds-embedded.npy -plot birds.html",
			"privatemail fit gallery.csv -label-column species -out x.npy -queries new.csv -queries-out z.npy",
			"privatemail fit gallery.npy -labels gallery.csv -out x.npy -queries new.npy -queries-out z.npy -dim 32",
			"privatemail fit birds/ -recipe deep,steps=2 -out birds-embedded.npy",
			"privatemail fit birds/ -model birds.model",
		},
		Common: []string{"labels", "label-column", "columns", "out", "model", "queries", "queries-out", "recipe", "goal", "dim", "normalize-rows", "measure", "diagnose", "plot", "json"},
		Prints: cli.PrintsJSON | cli.PrintsProgress | cli.PrintsDetails,
		Ranks:  true,
		Define: settings.Steered[fitFlags],
	}
}

type fitFlags struct {
	work                settings.Work
	recipe, goal        string
	fixed               supervised.Recipe // what flags fix of every recipe
	seed                uint64
	measure             bool
	diagnosis           fitDiagnosis
	plot                files.PlotFlags
	files               files.Flags
	out                 string
	names               string // the file with the names of classes, if there is one
	queries, queriesOut string
	mapOut              string
	modelOut            string
	about               supervised.About // what the model says of FEATURES
	set                 map[string]bool  // flags that were given
	rows, columns       int              // of FEATURES
	placed, nowhere     int              // queries, and those whose row is zeros
	zeros, firstZero    int              // rows of FEATURES that are zeros
	copies, compared    int              // rows of FEATURES that equal an earlier one, and rows compared
	uneven              string           // columns of FEATURES so large that a given recipe hardly sees the others
	idle                func()           // gives the memory of FEATURES back until they are read again
}

func (f *fitFlags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	fs.StringVar(&f.recipe, "recipe", "auto", "prepare rows by the recipe `HOW`\nauto, raw, scaled, classic, deep, or words with commas between")
	fs.StringVar(&f.goal, "goal", supervised.GoalR1.String(), "choose the recipe by `WHAT`: r1, p8, r8 or map\nof rows that are held out")
	fs.BoolVar(&f.fixed.UnitRows, "normalize-rows", false, "divide every row by its norm, in every recipe\nof features and of queries (default: as the recipe says)")
	settings.NumberVar(fs, &f.fixed.Neighbours, "mean-neighbours", 0, settings.Positive(), "mean number of neighbours `G` in the graph of steps\n(default: 20)")
	settings.NumberVar(fs, &f.fixed.Beta, "beta", 0, settings.Positive(), "weight `B` of the labels against the neighbours in steps\n(default: as the recipe says)")
	settings.WholeVar(fs, &f.fixed.Steps, "steps", 0, "number of steps `T`\n(default: as the recipe says)")
	cli.CountVar(fs, &f.fixed.Columns, "dim", 0, "`K` columns of the embedding\nat most those of the features (default: as the recipe says)")
	settings.SeedVar(fs, &f.seed, "seed `Q` of the choice of held-out rows")
	fs.BoolVar(&f.measure, "measure", true, "measure on held-out rows\n-measure=false saves that time where -recipe is not auto")
	fs.BoolVar(&f.diagnosis.wanted, "diagnose", false, "bound the accuracy for new rows, if there is a bound\nfrom the distances between classes")
	f.files.Define(fs)
	fs.StringVar(&f.out, "out", "", "write the embedding to `FILE`")
	fs.StringVar(&f.modelOut, "model", "", "save the model to `FILE`, for apply, serve and show\nmap, recipe, embedding, labels and facts of the graph")
	fs.StringVar(&f.queries, "queries", "", "also place the queries of `FILE`")
	fs.StringVar(&f.queriesOut, "queries-out", "", "write the rows of the queries to `FILE`")
	fs.StringVar(&f.mapOut, "map-out", "", "write the map to `FILE`")
	f.plot.Define(fs)
}

// settings translates the flags.
func (f *fitFlags) settings(progress func(stage string, done, total int)) (*supervised.Settings, error) {
	s := &supervised.Settings{Unmeasured: !f.measure, Seed: f.seed, NormalizeRows: f.fixed.UnitRows, OnlyX: f.modelOut == "", Idle: f.idle, Progress: progress}
	goal, err := supervised.ParseGoal(f.goal)
	if err != nil {
		return nil, cli.Usagef("-goal: %w", text.Bare(err))
	}
	s.Goal = goal
	if f.recipe != "auto" {
		r, err := supervised.ParseRecipe(f.recipe)
		if err != nil {
			return nil, cli.Usagef("-recipe: %w", text.Bare(err))
		}
		s.Recipe = &r
	}
	if s.Recipe == nil && !f.measure {
		return nil, cli.Usagef("-measure=false leaves nothing to choose a recipe by: name one with -recipe")
	}
	if f.set["normalize-rows"] || f.set["mean-neighbours"] || f.set["beta"] || f.set["steps"] || f.set["dim"] {
		s.Fix = f.fix
	}
	return s, nil
}

// fix puts what flags say into a recipe.
func (f *fitFlags) fix(r *supervised.Recipe) {
	if f.set["normalize-rows"] {
		r.UnitRows = f.fixed.UnitRows
	}
	if f.set["steps"] {
		r.Steps = f.fixed.Steps
	}
	if f.set["dim"] {
		r.Columns = f.fixed.Columns
	}
	if r.Steps > 0 && f.set["beta"] {
		r.Beta = f.fixed.Beta
	}
	if r.Steps > 0 && f.set["mean-neighbours"] {
		r.Neighbours = f.fixed.Neighbours
	}
}

func (f *fitFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	f.set = set
	name, err := embed.OneFeatures(names)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if _, err := f.settings(nil); err != nil {
		return err
	}
	in, from, err := f.inputs(e, name)
	if err != nil {
		return err
	}
	if err := f.checkOutputs(in, from); err != nil {
		return err
	}
	if err := f.plot.Check(in, f.out, f.modelOut, f.queriesOut, f.mapOut, from.Features); err != nil {
		return err
	}
	q, release, err := f.openQueries(ctx, from)
	if err != nil {
		return err
	}
	defer release()
	began := time.Now()
	fit, queries, err := f.fit(ctx, e, in, from, q)
	if err != nil {
		return err
	}
	if err := f.write(ctx, e.Ranks(), fit, queries); err != nil {
		return err
	}
	err = files.OnFirst(ctx, e.Ranks(), func() (err error) {
		if err := f.plot.Write(ctx, fit.X, fit.Recipe.Projection != supervised.Keep || fit.Recipe.Steps > 0); err != nil {
			return f.late(err)
		}
		f.names, err = files.WriteClassNames(ctx, f.first(), in)
		return err
	})
	if err != nil {
		return err
	}
	f.note(e, fit)
	return f.show(e, fit, time.Since(began))
}

// check refuses flags that lack others.
func (f *fitFlags) check() error {
	switch {
	case f.first() == "":
		return cli.Usagef("-out FILE is missing: where should the embedding go? -model FILE saves it with its map")
	case (f.queries == "") != (f.queriesOut == ""):
		return cli.Usagef("-queries and -queries-out go together: what to place, and where it goes")
	}
	return nil
}

// inputs finds the files of FEATURES and those of the queries, none without them.
func (f *fitFlags) inputs(e *cli.Env, name string) (in, queries files.Input, err error) {
	if in, err = f.files.Resolve(e, name); err != nil {
		return in, queries, err
	}
	if err := files.RefuseOneRow(in.Features, in.Read.Rows); err != nil {
		return in, queries, err
	}
	if in.Labels == "" {
		return in, queries, cli.Usagef("%s comes without labels: add -labels FILE, or -label-column NAME for a column of text; 'privatemail embed' works without%s", name, files.LabelAdvice(in))
	}
	if f.queries != "" {
		queries, err = f.files.Further(e, f.queries, "")
		queries.Labels = ""
	}
	return in, queries, err
}

// checkOutputs checks before long work whether everything can be written.
func (f *fitFlags) checkOutputs(in, queries files.Input) error {
	var seen []string
	for _, c := range []struct {
		flag, out string
		check     func(path string) error
	}{{"-out", f.out, files.CheckMatrixFile}, {"-model", f.modelOut, files.CheckPlace}, {"-queries-out", f.queriesOut, files.CheckMatrixFile}, {"-map-out", f.mapOut, checkMapFile}} {
		if c.out == "" {
			continue
		}
		if err := errors.Join(files.RefuseInput(c.flag, c.out, in), files.RefuseInput(c.flag, c.out, queries)); err != nil {
			return err
		}
		for _, other := range seen {
			if same, err := files.SameTarget(c.out, other); err != nil {
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

// checkMapFile is CheckMatrixFile for float64.
func checkMapFile(path string) error {
	return files.CheckFile(path, func(ended context.Context) error { return formats.WriteMatrix(ended, path, 1, 1, []float64{0}) })
}

// openQueries returns the features of the queries, none if there are no queries, and a
// function that releases them.
func (f *fitFlags) openQueries(ctx context.Context, in files.Input) (q blas32.General, release func(), err error) {
	if f.queries == "" {
		return q, func() {}, nil
	}
	if q, _, release, err = files.ReadRows(ctx, in, ""); err != nil {
		return q, nil, err
	}
	return q, release, nil
}

// fit reads FEATURES and does the work, and places the queries q, which come from their
// own files; the second result has no rows where there are none.
func (f *fitFlags) fit(ctx context.Context, e *cli.Env, in, from files.Input, q blas32.General) (fit *supervised.Model, queries blas32.General, err error) {
	t, x, y, err := files.ReadLabelled(ctx, in, " (-1 for none)")
	if err != nil {
		return nil, queries, err
	}
	defer t.Close()
	if err := files.RefuseOneRow(in.Features, x.Rows); err != nil {
		return nil, queries, err
	}
	files.AskRegression(e, in, y)
	f.idle = t.Unload
	if err := files.CheckClassNames(f.first(), in, from, f.modelOut, f.queriesOut, f.mapOut); err != nil {
		return nil, queries, err
	}
	if err := f.diagnosis.check(in, y); err != nil {
		return nil, queries, err
	}
	f.rows, f.columns, f.placed = x.Rows, x.Cols, q.Rows
	f.about = aboutRows(in, x, y)
	f.zeros, f.firstZero = files.ZeroRows(x), files.ZeroRow(x)
	if f.measure {
		f.copies, f.compared = copiedRows(x)
	}
	if s, err := f.settings(nil); err == nil && dependsOnUnits(s.Recipe) {
		f.uneven, _ = files.DominantColumns(x, in)
	}
	switch {
	case f.fixed.Columns > x.Cols:
		return nil, queries, cli.Usagef("-dim %d is more than the %d columns of %s", f.fixed.Columns, x.Cols, in.Features)
	}
	if q, err = from.Arrange(q, in.ColumnsOf()); err != nil {
		return nil, queries, err
	}
	if q.Rows > 0 && q.Cols != x.Cols {
		return nil, queries, fmt.Errorf("%s: rows of %d values, but those of %s have %d", f.queries, q.Cols, in.Features, x.Cols)
	}
	if err := f.plot.Keep(ctx, in, x, y); err != nil {
		return nil, queries, files.Explain(err, in)
	}
	engine, stop, m, err := f.engine(e, x, q.Rows)
	if err != nil {
		return nil, queries, files.Explain(err, in)
	}
	defer stop()
	if fit, err = f.model(ctx, engine, m, in, x, y); err != nil {
		return nil, queries, files.Explain(err, in)
	}
	if err := f.diagnosis.Run(ctx, e, engine, fit, x, y); err != nil {
		return nil, queries, files.Explain(err, in)
	}
	fit.ClassNames, fit.Map.ColumnNames = in.ClassNames(), in.ColumnsOf().Names
	if q.Rows > 0 {
		if queries, err = fit.Map.Place(ctx, engine, q); err != nil {
			return nil, queries, files.Explain(err, from)
		}
		if fit.Map.UnitImages {
			f.nowhere = files.ZeroRows(queries)
		}
	}
	return fit, queries, nil
}

// dependsOnUnits reports whether the map of a recipe that was given is another one where columns are
// in other units.
func dependsOnUnits(r *supervised.Recipe) bool {
	return r != nil && r.Projection != supervised.Keep && !r.UnitRows && !r.Standardize && !r.Weigh
}

// mostCompared is how many rows are compared with each other to find copies, about as many as a
// choice of recipes is measured on.
const mostCompared = 20_000

// copiedRows counts the rows that equal an earlier one, except rows of zeros. Of more than
// mostCompared rows it compares that many.
func copiedRows(x blas32.General) (copies, compared int) {
	compared = min(x.Rows, mostCompared)
	met := make(map[uint64]int, compared)
	for at := range compared {
		i := at * x.Rows / compared
		row := x.Data[i*x.Stride:][:x.Cols]
		var hash uint64
		for _, v := range row {
			hash = hash*0x9e3779b97f4a7c15 + uint64(math.Float32bits(v+0)) + 1 // -0 is 0
		}
		first, known := met[hash]
		switch {
		case !known:
			met[hash] = i
		case slices.Equal(row, x.Data[first*x.Stride:][:x.Cols]) && files.ZeroRow(files.RowsOf(x, i, i+1)) < 0:
			copies++
		}
	}
	return copies, compared
}

// engine starts an engine with what the rows and queries leave of the memory limit, and the meter
// that shows its progress.
func (f *fitFlags) engine(e *cli.Env, x blas32.General, queries int) (*privatemail.Engine, func(), *fitMeter, error) {
	work, err := f.engineWork(x, queries, e.RanksHere())
	if err != nil {
		return nil, nil, nil, err
	}
	m := &fitMeter{Meter: progress.NewMeter(e)}
	engine, stop, err := files.EngineWith(e, work, true, m)
	return engine, stop, m, err
}

// model fits rows x with labels y.
func (f *fitFlags) model(ctx context.Context, engine *privatemail.Engine, m *fitMeter, in files.Input, x blas32.General, y []int32) (*supervised.Model, error) {
	settings, err := f.settings(m.fit)
	if err != nil {
		return nil, err
	}
	fit, err := supervised.Fit(ctx, engine, x, y, settings)
	return fit, f.explain(err, in)
}

// engineWork leaves the engine what the queries and their images leave of the memory limit, which
// is that of one of that many ranks on this machine. Without a limit the engine looks for
// itself.
func (f *fitFlags) engineWork(x blas32.General, queries, ranks int) (settings.Work, error) {
	work := f.work
	own := 2 * 4 * float64(x.Cols) * float64(queries)
	rest, err := pipeline.Reserve(cmp.Or(work.MaxMemory, mem.DefaultLimit()/int64(ranks)), own, fmt.Sprintf("%d queries of %d columns", queries, x.Cols))
	if work.MaxMemory > 0 {
		work.MaxMemory = rest
	}
	return work, err
}

// explain is for errors that have another cause here than elsewhere.
func (f *fitFlags) explain(err error, in files.Input) error {
	if errors.Is(err, supervised.ErrEqualMeans) {
		return fmt.Errorf("%s: %w: discriminate has no direction to keep", in.Labels, supervised.ErrEqualMeans)
	}
	if errors.Is(err, supervised.ErrNoPairs) {
		return fmt.Errorf("%s: %w; 'privatemail embed' works without labels", in.Labels, supervised.ErrNoPairs)
	}
	return err
}
