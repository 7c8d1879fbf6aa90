package privatemail

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
)

// Settings of an embedding. One of Bandwidth, MeanNeighbours, CutoffRadius and
// Neighbours is required; the zero value of every other field means its default.
type Settings struct {
	// Bandwidth of the Gaussian weights between features, for instance
	// kernel.Sigma(6).
	Bandwidth kernel.Bandwidth
	// MeanNeighbours, if set, chooses the bandwidth at which rows have this many
	// neighbours on average, found by sampling. The graph is then truncated at
	// CutoffWeight, unless Operator names one that does not truncate: then it is
	// the full kernel of that bandwidth.
	MeanNeighbours float64
	// Neighbours, if set, chooses the graph of the nearest neighbours: two rows have a
	// weight if one of them is among this many rows nearest to the other. Every row has its
	// own bandwidth (kernel.Options.SelfTuned). Only the operator csr supports this, and no
	// row is isolated.
	Neighbours int
	// CutoffWeight, if set, truncates the graph where a weight is below it. The
	// graph then does not depend on Tolerance; the certificate says how far it is
	// from the full kernel. Default: 1e-3 with MeanNeighbours; with Bandwidth
	// the cutoff follows from Tolerance. Range (0, 1).
	CutoffWeight float64
	// CutoffRadius, if set, truncates the graph at a distance instead: two rows have a weight
	// if their distance is at most this, computed in float64. The graph is then fixed, as with
	// CutoffWeight. Without a Bandwidth the weight at this distance is kernel.DegreeCutoff; with
	// one, pairs whose weight would be below 1.2e-38 have none. It excludes CutoffWeight,
	// MeanNeighbours and Neighbours.
	CutoffRadius float64
	// Tolerance is the largest error of a row's weights relative to its degree,
	// met by 99 in 100 rows of a sample. The certificate has every row, and
	// Isolated decides about the others. Default 1e-4.
	Tolerance float64
	// Operator forces an operator by name, one of kernel.OperatorNames. Default:
	// the first of those Plan lists that keeps the tolerance.
	Operator string
	// Isolated decides about rows without neighbours and rows that miss the
	// tolerance. Default kernel.Keep.
	Isolated kernel.IsolatedPolicy
	// Standardize subtracts its mean from every feature column and divides it by its standard
	// deviation first, so that no column outweighs others by its unit (points.StandardizeColumns).
	// A run in form Attract then begins at these rows. It is for features that are not private.
	Standardize bool
	// NormalizeRows divides every feature row by its norm first, after Standardize.
	NormalizeRows bool

	// Form is the form of the step. Default kernel.Paper.
	Form kernel.Form
	// Coefficient is alpha in form Paper, beta in form Attract. Default 0: no
	// label term.
	Coefficient float64
	// Table is the weight between labels. Default kernel.EqualTable in form
	// Paper, kernel.BalancedTable in form Attract.
	Table kernel.Table
	// AllowUnlabelled accepts rows with the label -1, which feel no label term.
	AllowUnlabelled bool

	// Start is the iterate to begin with, n rows. Default: in form Paper a
	// random start of Columns columns, in form Attract the features.
	Start blas32.General
	// Columns, SigmaQ and Seed describe the random start: its width (default
	// 2), standard deviation (default 1e-8, the paper's) and seed (any number;
	// the command's default is 1).
	Columns int
	SigmaQ  float64
	Seed    uint64

	// Steps is the number of steps. Default 5 in form Paper; 1 in form Attract,
	// which is meant to stop early.
	Steps int
	// StopTolerance ends the run when the relative change of a step is at most
	// this. Default 0: take all steps.
	StopTolerance float64
	// Normalize rescales after each step. Default iterate.None.
	Normalize iterate.Normalization

	// Into, if set, gets the points in float32, in which they are computed, and Points of the
	// result is nil: no copy in float64 is made. It has a row for each row of the features
	// and as many columns as the points. The budget counts it. On an error it is unchanged.
	// It shares no memory with the features, which stay unchanged; it may be the memory of
	// Start. It must not be used otherwise during the call.
	Into blas32.General
	// Overwrite lets Embed write to Into before it is done, in steps of a few columns at a time: it
	// saves the memory of two more copies of the points. Points get the same bits where the graph
	// is truncated. On an error the contents of Into, and of a Start in its memory, are lost. Where
	// the graph is truncated by MeanNeighbours, CutoffWeight, CutoffRadius or Neighbours, Into may
	// then be the features themselves, which are overwritten once the graph is built. It excludes
	// StopTolerance and Normalize, and is only for Embed.
	Overwrite bool

	// Checkpoint, if set, is called after every CheckpointEvery steps, except after the last, with
	// everything needed to continue from there. Its argument is invalid once it has returned:
	// package checkpoint writes it to a file. An error ends the run. It must not call the Engine.
	// Each rank calls its own function; the checkpoint is the same on all, so one rank may keep it.
	// It is only for Embed, without Overwrite.
	Checkpoint func(*Checkpoint) error
	// CheckpointEvery is the number of steps from one checkpoint to the next. Default: a tenth
	// of Steps, rounded up.
	CheckpointEvery int
	// Resume, if set, is a checkpoint from which the run continues. Its steps count among Steps,
	// and the result has the same bits as a run that was not interrupted. Features, labels and
	// settings must be those of the run that made it; Steps, StopTolerance and the number of
	// workers and ranks may differ. The default of Operator is the one of that run. Every rank
	// gets it. It is only for Embed, without Overwrite.
	Resume *Checkpoint

	identity map[string]string // everything that decides the result, where there are checkpoints
	full     bool              // for a Kernel: not truncated, with a copy of the rows that outlives the call
}

// withDefaults returns a copy with the defaults that depend on other settings.
func (s *Settings) withDefaults(features blas32.General) (Settings, error) {
	if s == nil {
		return Settings{}, fmt.Errorf("%w: no settings: a bandwidth or a number of neighbours is required", ErrSettings)
	}
	if rows, cols, err := points.Dims(features); err != nil {
		return Settings{}, fmt.Errorf("features: %w", err)
	} else if rows < 1 || cols < 1 {
		return Settings{}, fmt.Errorf("features: %w (%d x %d)", kernel.ErrEmpty, rows, cols)
	}
	out := *s
	out.resumeOperator()
	graph := out.graph()
	if !graph.Given() {
		return out, fmt.Errorf("%w: a bandwidth, a number of neighbours or a cutoff radius is required", ErrSettings)
	}
	if err := graph.Check(); err != nil {
		return out, err
	}
	if err := out.setStart(features); err != nil {
		return out, err
	}
	out.setForm()
	return out, out.run(nil).Check()
}

// setStart fills in the defaults of the start and refuses one that does not fit.
func (s *Settings) setStart(features blas32.General) error {
	if s.Columns < 0 || s.Steps < 0 {
		return fmt.Errorf("%w: %d columns, %d steps, want 0 or more", ErrSettings, s.Columns, s.Steps)
	}
	if s.Columns == 0 {
		s.Columns = 2
	}
	if s.Start.Data != nil {
		rows, cols, err := points.Dims(s.Start)
		if err != nil || rows != features.Rows || cols < 1 {
			return fmt.Errorf("%w: a start of %d x %d for %d rows", kernel.ErrShape, s.Start.Rows, s.Start.Cols, features.Rows)
		}
		if err := iterate.CheckStart(s.Start); err != nil {
			return err
		}
		s.Columns = cols
	} else if s.Form == kernel.Attract {
		s.Columns = features.Cols
	}
	if s.SigmaQ == 0 {
		s.SigmaQ = 1e-8
	}
	if !(s.SigmaQ >= 1e-30 && s.SigmaQ <= 1e30) { // well within float32
		return fmt.Errorf("%w: sigma_q %g, want a number from 1e-30 to 1e30", ErrSettings, s.SigmaQ)
	}
	return nil
}

// setForm fills in the defaults that depend on the form: the table and the
// steps.
func (s *Settings) setForm() {
	table, steps := kernel.EqualTable(), 5
	if s.Form == kernel.Attract {
		table, steps = kernel.BalancedTable(), 1
	}
	if s.Table.IsZero() && s.Table.Name() == "" {
		s.Table = table
	}
	if s.Steps == 0 {
		s.Steps = steps
	}
}

// graph returns the settings of the weights of the graph.
func (s *Settings) graph() *pipeline.GraphSettings {
	return &pipeline.GraphSettings{Bandwidth: s.Bandwidth, MeanNeighbours: s.MeanNeighbours, CutoffWeight: s.CutoffWeight, CutoffRadius: s.CutoffRadius, Neighbours: s.Neighbours}
}

// run returns the settings of the loop.
func (s *Settings) run(workers *par.Workers) *iterate.Settings {
	run := &iterate.Settings{Steps: s.Steps, Tolerance: s.StopTolerance, Normalize: s.Normalize, Into: s.Into, Overwrite: s.Overwrite, Workers: workers}
	s.addCheckpoints(run)
	return run
}

// Embed embeds the features, n rows of d values, with a label for each row;
// labels may be nil when Coefficient is 0. Neither is changed, unless Into is
// the memory of the features.
//
// Errors: ErrSettings, ErrClosed, ErrZeroRow, kernel.ErrShape, ErrEmpty, ErrNonFinite,
// ErrBandwidth, ErrLabels, ErrTable, ErrOperator, ErrTolerance, ErrIsolated and ErrMemory,
// iterate.ErrDiverged, sparse.ErrAlias for Into, ErrCheckpoint for Resume, and the errors of
// Checkpoint and of ctx. Messages name rows and settings, never values of rows.
func (e *Engine) Embed(ctx context.Context, features blas32.General, labels []int32, settings *Settings) (*iterate.Embedding, error) {
	return call(ctx, e, "embed", func() (*iterate.Embedding, error) {
		s, err := settings.withDefaults(features)
		if err == nil && !s.overwrites(features) {
			err = s.checkInto(features, s.Columns)
		}
		if err != nil {
			return nil, err
		}
		return withGraph(ctx, e, features, &s, s.pointBytes(features), func(m *share, s *Settings) (*iterate.Embedding, error) {
			return e.embed(ctx, m, features, labels, s)
		})
	})
}

func (e *Engine) embed(ctx context.Context, m *share, features blas32.General, labels []int32, s *Settings) (*iterate.Embedding, error) {
	step, err := s.step(features.Rows, labels)
	if err != nil {
		return nil, err
	}
	if err := s.identify(ctx, e.workers, features, step.Labels); err != nil {
		return nil, err
	}
	p, opened, graphOptions, _, err := e.prepare(ctx, m, features, step.Labels, s)
	if err != nil {
		return nil, err
	}
	if err := checkStart(p, s); err != nil {
		return nil, err
	}
	run := s.run(e.workers)
	if report := e.report(ctx); report != nil {
		run.Taken = func(done, total int) { report("steps", done, total) }
	}
	from := func(op kernel.Operator) (blas32.General, error) {
		if err := s.identifyGraph(op, e.Level().String()); err != nil {
			return blas32.General{}, err
		}
		return start(ctx, p, s)
	}
	out, err := pipeline.Embed(ctx, opened, s.Bandwidth, graphOptions, from, step, run)
	if err == nil {
		out.Graph.Neighbours = s.Neighbours
	}
	return out, err
}

// step returns the step for n rows with labels, which may be nil.
func (s *Settings) step(n int, labels []int32) (step kernel.Step, err error) {
	step = kernel.Step{Form: s.Form, Coefficient: s.Coefficient}
	if labels != nil {
		if len(labels) != n {
			return step, fmt.Errorf("%w: %d labels for %d rows", kernel.ErrLabels, len(labels), n)
		}
		if step.Labels, err = kernel.NewLabels(labels, s.Table, s.AllowUnlabelled); err != nil {
			return step, err
		}
	} else if s.Coefficient != 0 {
		return step, fmt.Errorf("%w: a coefficient of %g needs labels", kernel.ErrLabels, s.Coefficient)
	}
	return step, step.Check(n)
}

// A Plan describes what Embed would do.
type Plan struct {
	// Bandwidth is the given one, or the one found for the mean number of neighbours.
	Bandwidth kernel.Bandwidth
	// Neighbours is as in the settings. Where it is set every row has its own bandwidth.
	Neighbours int
	// Candidates are the operators; Embed would take the first.
	Candidates []kernel.Candidate
}

// Plan returns what Embed would do with the same arguments, and its cost. It
// reads a sample of rows and builds nothing. Errors: those of Embed.
func (e *Engine) Plan(ctx context.Context, features blas32.General, settings *Settings) (*Plan, error) {
	return call(ctx, e, "plan", func() (*Plan, error) {
		s, err := settings.withDefaults(features)
		if err == nil && !s.overwrites(features) {
			err = s.checkInto(features, s.Columns)
		}
		if err != nil {
			return nil, err
		}
		return e.plan(ctx, features, &s, s.pointBytes(features))
	})
}

// plan is Plan with settings that have their defaults, for a call that takes that many
// bytes for steps. It reserves its own memory, and plans with the whole budget.
func (e *Engine) plan(ctx context.Context, features blas32.General, settings *Settings, steps float64) (*Plan, error) {
	return within(ctx, e, settings.copied(features), "plan", func(m *share) (*Plan, error) {
		s := *settings
		m.steps = steps
		return e.planWith(ctx, m, features, &s)
	})
}

func (e *Engine) planWith(ctx context.Context, m *share, features blas32.General, s *Settings) (*Plan, error) {
	_, opened, graphOptions, always, err := e.prepare(ctx, m, features, nil, s)
	if err != nil {
		return nil, err
	}
	candidates, err := opened.Plan(ctx, s.Bandwidth, graphOptions)
	if err != nil {
		return nil, err
	}
	for i := range candidates { // plus the copy of the features
		cost := &candidates[i].Cost
		cost.PeakBytes = min(cost.PeakBytes, math.MaxInt64-always) + always
	}
	return &Plan{Bandwidth: s.Bandwidth, Neighbours: s.Neighbours, Candidates: candidates}, nil
}

// prepare returns the points of the graph, as a matrix and opened, and fills in the bandwidth.
// always is the memory of the copy of the features and of the labels; the kernel may use the rest
// of the budget, and knows the memory of the steps.
func (e *Engine) prepare(ctx context.Context, m *share, features blas32.General, labels *kernel.Labels, s *Settings) (p blas32.General, opened *kernel.Points, o *kernel.Options, always int64, err error) {
	o = e.graphOptions(s)
	o.Progress = e.report(ctx)
	held, steps := s.copied(features), m.steps
	if labels != nil {
		held += float64(labels.Bytes())
		steps += pipeline.LabelBytes(features.Rows, s.columnsAtOnce(), labels)
	}
	if _, err = pipeline.Reserve(m.limit, held+steps, s.what(features)); err != nil {
		return p, nil, nil, 0, err
	}
	always, o.StepBytes = int64(held), int64(steps)
	o.BudgetBytes = min(m.limit, mem.AddressSpace) - always
	o.Reserve = func(bytes int64) bool { return m.reserve(always + bytes) }
	if p, err = s.rows(features); err != nil {
		return p, nil, nil, 0, err
	}
	if opened, err = kernel.Open(p, o); err != nil {
		return p, nil, nil, 0, err
	}
	return p, opened, o, always, s.settle(ctx, m, opened, o)
}

// rows returns the rows of the graph: the features, or a copy of them.
func (s *Settings) rows(features blas32.General) (blas32.General, error) {
	if !s.copies() {
		return features, nil
	}
	p := blas32.General{Rows: features.Rows, Cols: features.Cols, Stride: features.Cols, Data: make([]float32, features.Rows*features.Cols)}
	if s.Standardize {
		if err := points.StandardizeColumns(p, features); err != nil {
			return p, err
		}
		features = p
	}
	if s.NormalizeRows {
		return p, points.NormalizeRows(p, features)
	}
	if s.Standardize {
		return p, nil
	}
	for i := range p.Rows {
		copy(p.Data[i*p.Stride:][:p.Cols], features.Data[i*features.Stride:])
	}
	return p, nil
}

// graphOptions returns the options of the graph, except its memory and progress.
func (e *Engine) graphOptions(s *Settings) *kernel.Options {
	return &kernel.Options{
		Tolerance: s.Tolerance, Isolated: s.Isolated, Operator: s.Operator, Steps: s.Steps, Columns: s.Columns,
		Workers: e.workers, Ranks: e.options.ranks, Kernels: e.kernels, Calibration: e.options.calibration,
	}
}

// checkStart refuses features that a run cannot begin with. Settings.Start has already
// been checked.
func checkStart(p blas32.General, s *Settings) error {
	if s.Start.Data == nil && s.Form == kernel.Attract {
		return iterate.CheckStart(p)
	}
	return nil
}

// start returns the first iterate of the run: a fresh copy, unless the run does not change it.
func start(ctx context.Context, p blas32.General, s *Settings) (blas32.General, error) {
	from := s.Start
	switch {
	case s.Resume != nil:
		from = s.Resume.State.Points
	case from.Data == nil && s.Form == kernel.Attract:
		from = p
	}
	if from.Data != nil && s.Into.Data != nil {
		return from, nil
	}
	x := blas32.General{Rows: p.Rows, Cols: s.Columns, Stride: s.Columns, Data: make([]float32, p.Rows*s.Columns)}
	if from.Data == nil {
		return x, iterate.FillRandomStart(ctx, x, s.Seed, s.SigmaQ)
	}
	for i := range x.Rows {
		copy(x.Data[i*x.Stride:][:x.Cols], from.Data[i*from.Stride:])
	}
	return x, nil
}
