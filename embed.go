package privatemail

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Embed embeds the features, n rows of d values, with a label for each row;
// labels may be nil when Coefficient is 0. Neither is changed, unless Into is
// the memory of the features.
//
// Errors: ErrSettings, ErrClosed, ErrZeroRow, kernel.ErrShape, ErrEmpty, ErrNonFinite,
// ErrBandwidth, ErrLabels, ErrOperator, ErrTolerance, ErrIsolated and ErrMemory,
// iterate.ErrDiverged, sparse.ErrAlias for Into, ErrCheckpoint for Resume, and the errors of
// Checkpoint and of ctx. Messages name rows and settings, never values of rows.
func (e *Engine) Embed(ctx context.Context, features blas32.General, labels []int32, settings *Settings) (out *iterate.Embedding, err error) {
	c, err := e.begin(ctx, "embed")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	s, err := settings.forEmbed(features)
	if err != nil {
		return nil, err
	}
	m, err := e.reserveGraph(ctx, features, &s, s.pointBytes(features))
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = e.embed(ctx, m, features, labels, s)
	}
	return out, err
}

// forEmbed returns the settings with their defaults, and refuses an Into that does not fit.
func (s *Settings) forEmbed(features blas32.General) (Settings, error) {
	out, err := s.withDefaults(features)
	if err == nil && !out.overwrites(features) {
		err = out.checkInto(features, out.Dim)
	}
	return out, err
}

func (e *Engine) embed(ctx context.Context, m *share, features blas32.General, labels []int32, s Settings) (*iterate.Embedding, error) {
	step, err := s.step(features.Rows, labels)
	if err != nil {
		return nil, err
	}
	if err := s.identify(ctx, e.workers, features, step.Labels); err != nil {
		return nil, err
	}
	p, err := e.prepare(ctx, m, features, step.Labels, &s)
	if err != nil {
		return nil, err
	}
	if err := checkStart(p.x, &s); err != nil {
		return nil, err
	}
	op, graph, err := pipeline.Build(ctx, p.opened, s.Bandwidth, p.options)
	if err != nil {
		return nil, err
	}
	defer op.Close()
	graph.Neighbours = s.Neighbours
	if err := s.identifyGraph(op, e.Level().String()); err != nil {
		return nil, err
	}
	from, err := start(ctx, p.x, &s)
	if err != nil {
		return nil, err
	}
	run := s.run(e.workers)
	if report := e.report(ctx); report != nil {
		run.Taken = func(done, total int) { report("steps", done, total) }
	}
	return pipeline.Steps(ctx, op, graph, from, step, run)
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
func (e *Engine) Plan(ctx context.Context, features blas32.General, settings *Settings) (_ *Plan, err error) {
	c, err := e.begin(ctx, "plan")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	s, err := settings.forEmbed(features)
	if err != nil {
		return nil, err
	}
	return e.plan(ctx, features, s, s.pointBytes(features))
}

// plan is Plan with settings that have their defaults, for a call that takes that many
// bytes for steps. It reserves its own memory, and plans with the whole limit.
func (e *Engine) plan(ctx context.Context, features blas32.General, s Settings, steps float64) (out *Plan, err error) {
	s.stepBytes = steps
	m, err := e.reserve(ctx, s.copied(features), "plan")
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = e.planWith(ctx, m, features, s)
	}
	return out, err
}

func (e *Engine) planWith(ctx context.Context, m *share, features blas32.General, s Settings) (*Plan, error) {
	p, err := e.prepare(ctx, m, features, nil, &s)
	if err != nil {
		return nil, err
	}
	candidates, err := p.opened.Plan(ctx, s.Bandwidth, p.options)
	if err != nil {
		return nil, err
	}
	for i := range candidates { // plus the copy of the features
		cost := &candidates[i].Cost
		cost.PeakBytes = min(cost.PeakBytes, math.MaxInt64-p.held) + p.held
	}
	return &Plan{Bandwidth: s.Bandwidth, Neighbours: s.Neighbours, Candidates: candidates}, nil
}

// prepared is everything that a graph is built from.
type prepared struct {
	x       blas32.General // the points of the graph
	opened  *kernel.Points // the same
	options *kernel.Options
	held    int64 // bytes of the copy of the features and of the labels
}

// prepare makes the points of the graph and fills in the bandwidth. The kernel may use the memory limit
// without the bytes that are held, and knows the memory of the steps.
func (e *Engine) prepare(ctx context.Context, m *share, features blas32.General, labels *kernel.Labels, s *Settings) (*prepared, error) {
	held, steps := s.copied(features), s.stepBytes
	if labels != nil {
		held += float64(labels.Bytes())
		steps += pipeline.LabelBytes(features.Rows, s.columnsAtOnce(), labels)
	}
	if _, err := pipeline.Reserve(m.limit, held+steps, s.what(features)); err != nil {
		return nil, err
	}
	p := &prepared{options: e.graphOptions(s), held: int64(held)}
	o := p.options
	o.Progress, o.StepBytes = e.report(ctx), int64(steps)
	o.MaxMemory = min(m.limit, mem.AddressSpace) - p.held
	o.Reserve = func(bytes int64) bool { return m.grow(p.held + bytes) }
	var err error
	if p.x, err = s.rows(features); err != nil {
		return nil, err
	}
	if p.opened, err = kernel.Open(p.x, o); err != nil {
		return nil, err
	}
	return p, s.settle(ctx, m, p.opened, o)
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
		Tolerance: s.Tolerance, Isolated: s.Isolated, Operator: s.Operator, Steps: s.Steps, Columns: s.Dim,
		Workers: e.workers, Ranks: e.options.ranks, Kernels: e.kernels, Calibration: e.options.calibration,
	}
}

// checkStart refuses features that a run cannot begin with. Settings.Start has already
// been checked.
func checkStart(p blas32.General, s *Settings) error {
	if s.Start.Data == nil && s.Form == kernel.Attract {
		return points.CheckStart(p)
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
	x := blas32.General{Rows: p.Rows, Cols: s.Dim, Stride: s.Dim, Data: make([]float32, p.Rows*s.Dim)}
	if from.Data == nil {
		return x, random.Start(ctx, x.Data, s.Seed, s.SigmaQ)
	}
	for i := range x.Rows {
		copy(x.Data[i*x.Stride:][:x.Cols], from.Data[i*from.Stride:])
	}
	return x, nil
}
