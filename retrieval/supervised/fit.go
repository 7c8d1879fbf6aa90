package supervised

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// Settings steer Fit. The zero value of each field, and a nil pointer,
// mean the default.
type Settings struct {
	// Recipe says what becomes of the rows. Default: the one that finds most on rows that
	// are held out, see the package comment.
	Recipe *Recipe
	// Fix, if not nil, changes every recipe that is tried, such as to fix the number of
	// steps. Raw and scaled rows are measured as they are.
	Fix func(*Recipe)
	// NormalizeRows divides every row by its norm, and so does the Map with queries: every
	// recipe that is tried has UnitRows. A row of zeros is then refused.
	NormalizeRows bool
	// Unmeasured leaves out the measurement of a Recipe that is given.
	Unmeasured bool
	// OnlyX leaves out Z of a Model whose rows were moved by steps: X takes its memory, and the
	// Model is a copy of the rows smaller.
	OnlyX bool
	// Idle, if not nil, is called whenever Fit has copied what it needs of the rows for a while.
	// Where rows are a mapped file, the system can have its memory back, as with the method
	// Unload of formats.Matrix. Fit may read the rows again later.
	Idle func()
	// Goal is what the recipe is chosen by. Default: R@1.
	Goal Goal
	// Seed decides which rows are held out.
	Seed uint64
	// Progress is told how far a stage of the work has come. Within the steps, it is the Engine
	// that reports. It reports the steps of each recipe while stage "recipes" measures them. Default: the function that the Engine tells of the call (Engine.Report).
	Progress func(stage string, done, total int)
}

// stageRecipes is the stage in which recipes are measured.
const stageRecipes = "recipes"

// A Model is what Fit makes of the server's rows.
type Model struct {
	// Recipe is what became of the rows.
	Recipe Recipe
	// Map is published; it takes a query to where X is searched.
	Map *Map
	// Z are the images of the rows under the map and X is where the steps have
	// moved them, in the order of the rows. Without steps they are the same. With steps
	// and Settings.OnlyX Z is empty.
	Z, X blas32.General
	// Labels are the labels of the rows, as Fit got them, -1 for none; nil in a model of an earlier
	// version. ClassNames are the names of labels 0, 1 and so on, for who has names; nil where
	// labels are numbers. Fit leaves them to its caller.
	Labels     []int32
	ClassNames []string
	// Graph describes the graph of the rows of Z; nil without steps.
	Graph *iterate.Graph
	// Trace has a record of each step, with the objective before it.
	Trace []iterate.Record
	// Held is what was measured on rows held out; nil with Settings.Unmeasured, and where
	// there are too few labelled rows.
	Held *Held
	// ChoiceTime, MapTime and StepsTime are what the measurement, the final map, and its
	// graph and steps took.
	ChoiceTime, MapTime, StepsTime time.Duration
}

// Fit makes the map and the embedding of rows, n x d, with a label for each, -1
// where there is none: those of the gallery and whatever public rows there are.
// A row without neighbours moves by its label alone, one without a label by its
// neighbours alone, one without both stays.
//
// Errors: those of Recipe.NewMap and Map.Apply, privatemail.ErrSettings, privatemail.ErrZeroRow, those of Engine.Embed,
// and that of ctx, which is looked at throughout.
func Fit(ctx context.Context, e *privatemail.Engine, rows blas32.General, labels []int32, settings *Settings) (_ *Model, err error) {
	defer par.Catch(&err)
	var s Settings
	if settings != nil {
		s = *settings
	}
	if s.Progress == nil {
		s.Progress = e.Report(ctx)
	}
	if s.Goal < 0 || s.Goal >= goals {
		return nil, fmt.Errorf("supervised: fit: %w: %v", privatemail.ErrSettings, s.Goal)
	}
	if err := checkRows(rows, labels); err != nil {
		return nil, err
	}
	if s.NormalizeRows {
		if err := s.normalizeRows(rows); err != nil {
			return nil, err
		}
	}
	return reserved(ctx, e, rows, &s, func(ctx context.Context) (*Model, error) {
		f := &fitter{engine: e, core: &dense.Core{Workers: e.Lend(), Kernels: simd.At(e.Level())}, settings: &s}
		return f.model(ctx, rows, labels)
	})
}

// model chooses the recipe and makes the model.
func (f *fitter) model(ctx context.Context, rows blas32.General, labels []int32) (*Model, error) {
	began := time.Now()
	recipe, held, err := f.choose(ctx, rows, labels)
	if err != nil {
		return nil, fmt.Errorf("supervised: fit: %w", err)
	}
	choice := time.Since(began)
	if held != nil {
		mem.Reclaim(mem.Saturate(contestBytes(float64(rows.Rows), float64(rows.Cols))))
	}
	m, err := f.fit(ctx, rows, labels, recipe)
	if f.settings.Recipe == nil && impossible(err) { // what parts of the rows allowed, all do not
		held = nil
		m, err = f.fit(ctx, rows, labels, f.fixed([]Recipe{rawRecipe()})[0])
	}
	if err != nil {
		return nil, fmt.Errorf("supervised: fit: %w", explainFarRow(err, rows))
	}
	m.Held, m.ChoiceTime, m.Labels = held, choice, slices.Clone(labels)
	return m, nil
}

// normalizeRows fixes UnitRows in every recipe, and refuses rows that have no direction.
func (s *Settings) normalizeRows(rows blas32.General) error {
	for i := range rows.Rows {
		if !slices.ContainsFunc(rowOf(rows, i), func(v float32) bool { return v != 0 }) {
			return fmt.Errorf("supervised: fit: %w", &points.ZeroRowError{Row: i})
		}
	}
	fix := s.Fix
	s.Fix = func(r *Recipe) {
		if fix != nil {
			fix(r)
		}
		r.UnitRows = true
	}
	return nil
}

// A fitter is what the calls of one Fit share.
type fitter struct {
	engine   *privatemail.Engine
	core     *dense.Core
	settings *Settings
	done     int // recipes measured, of each part of the rows
	planned  int // about how many there will be
}

func (f *fitter) report(stage string, done, total int) {
	if f.settings.Progress != nil {
		f.settings.Progress(stage, done, total)
	}
}

// idle says that the rows are not read for a while.
func (f *fitter) idle() {
	if f.settings.Idle != nil {
		f.settings.Idle()
	}
}

// measured reports more recipes, each on one part of the rows. How many there are is known
// when the last one is done.
func (f *fitter) measured(more int) {
	f.done += more
	f.report(stageRecipes, min(f.done, f.planned-1), f.planned)
}

// fit makes the model of a recipe.
func (f *fitter) fit(ctx context.Context, rows blas32.General, labels []int32, r Recipe) (*Model, error) {
	began := time.Now()
	f.core.Progress = func(done, total int) { f.report("map", done, total) }
	defer func() { f.core.Progress = nil }()
	m, z, err := f.images(ctx, rows, labels, r)
	if err != nil {
		return nil, err
	}
	f.idle()
	model := &Model{Recipe: r, Map: m, Z: z, X: z, MapTime: time.Since(began)}
	if r.Steps == 0 {
		return model, nil
	}
	began = time.Now()
	x := z
	if f.settings.OnlyX {
		model.Z = blas32.General{}
	} else {
		x = newRows(z.Rows, z.Cols)
	}
	out, err := f.move(ctx, x, z, labels, r, m.UnitImages, kernel.Bandwidth{})
	if err != nil {
		return nil, err
	}
	graph := out.Graph // a pointer into out would keep its rows in memory
	model.X, model.Graph, model.Trace = x, &graph, out.Trace
	model.StepsTime = time.Since(began)
	return model, nil
}

// images makes the map of a recipe, and the images of the rows that it is made from.
func (f *fitter) images(ctx context.Context, rows blas32.General, labels []int32, r Recipe) (m *Map, z blas32.General, err error) {
	if err := r.Check(); err != nil {
		return nil, z, err
	}
	prepared, err := r.preparation().apply(ctx, f.core, rows)
	if err != nil {
		return nil, z, err
	}
	if m, err = newTrainer(f.core, prepared, labels).newMap(ctx, r); err != nil {
		return nil, z, err
	}
	if z, err = m.images(ctx, f.core, prepared); r.preparation() != (preparation{}) {
		mem.Reclaim(4 * int64(rows.Rows) * int64(rows.Cols)) // of the prepared rows
	}
	return m, z, err
}

// move takes the steps of a recipe from z to x, which may be z, and divides rows by their norm
// again where their images are unit vectors. The zero bandwidth is the one that gives a row as
// many neighbours as the recipe says.
func (f *fitter) move(ctx context.Context, x, z blas32.General, labels []int32, r Recipe, unit bool, bandwidth kernel.Bandwidth) (*iterate.Embedding, error) {
	settings := &privatemail.Settings{
		Form: kernel.Attract, Coefficient: r.Beta,
		AllowUnlabelled: true, Steps: r.Steps, Into: x, Overwrite: true,
	}
	if bandwidth == (kernel.Bandwidth{}) {
		settings.MeanNeighbours = min(r.Neighbours, float64(z.Rows-1))
	} else {
		settings.Bandwidth, settings.CutoffWeight = bandwidth, kernel.DegreeCutoff
	}
	out, err := f.engine.Embed(ctx, z, labels, settings)
	if err != nil {
		return nil, err
	}
	if unit {
		normalizeAll(f.core.Loops(), x)
	}
	return out, nil
}
