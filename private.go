package privatemail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Privatize computes the first step of the iteration on the features, n rows of
// d values, and releases it with noise:
//
//	f = Q + 1/2 Diag(L_X)^{-1} (alpha L_Y - L_X) Q,   release f + noise.
//
// labels may be nil when Alpha is 0 and labels are not randomised. The noise is
// calibrated to a proved bound (package sensitivity) and drawn exactly (package
// mechanism). The spend is written to the ledger before noise is drawn; a call
// that fails later, or is cancelled, has spent it: its error matches
// mechanism.ErrSpent. If only noting the hash of the release in the ledger fails,
// the release comes with the error.
//
// Every refusal is a typed error: those of packages sensitivity and mechanism,
// kernel.ErrUnitNorm, kernel.ErrNonFinite, kernel.ErrLabels, ErrZeroRow,
// ErrSettings. Messages name rows and settings, never values of rows.
func (e *Engine) Privatize(ctx context.Context, features blas32.General, labels []int32, settings *PrivateSettings) (*release.Release, error) {
	return e.privatize(ctx, features.Rows, features.Cols, labels, settings, func(o kernel.UnitOptions) (*kernel.UnitRows, error) {
		return kernel.NewUnitRows(features, o)
	})
}

// Privatize64 is Privatize for features in float64.
func (e *Engine) Privatize64(ctx context.Context, features blas64.General, labels []int32, settings *PrivateSettings) (*release.Release, error) {
	return e.privatize(ctx, features.Rows, features.Cols, labels, settings, func(o kernel.UnitOptions) (*kernel.UnitRows, error) {
		return kernel.NewUnitRows64(features, o)
	})
}

func (e *Engine) privatize(ctx context.Context, n, d int, labels []int32, settings *PrivateSettings, unitRows func(kernel.UnitOptions) (*kernel.UnitRows, error)) (*release.Release, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	s, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	// What needs no data comes first, so that a request that cannot be met is
	// refused before any is read.
	if ledger, ok := s.Ledger.(*mechanism.Ledger); s.Ledger == nil || ok && ledger == nil {
		return nil, fmt.Errorf("privatemail: privatize: %w: name one, or mechanism.NoLedger", mechanism.ErrLedger)
	}
	if err := checkLabelMode(&s); err != nil {
		return nil, fmt.Errorf("privatemail: privatize: %w", err)
	}
	if s.Unit.Kind == release.UnitClient && s.Records == 0 {
		return nil, fmt.Errorf("privatemail: privatize: %w: a client pays for all its rows; say how many there may be", ErrSettings)
	}
	if n < 2 || d < 1 {
		return nil, fmt.Errorf("privatemail: privatize: features: %w (%d x %d, want at least two rows)", kernel.ErrEmpty, n, d)
	}
	budget := e.budget()
	rest, err := s.rest(budget, n, d)
	if err != nil {
		return nil, err
	}
	p := private{settings: &s}
	if err := p.draw(ctx, n); err != nil {
		return nil, err
	}
	if !s.RestPublic {
		if p.bound, err = p.tight(); err != nil {
			return nil, fmt.Errorf("privatemail: privatize: %w", err)
		}
		if err := p.calibrate(d); err != nil {
			return nil, err
		}
	}
	if err := checkTable(&s, n); err != nil {
		return nil, fmt.Errorf("privatemail: privatize: %w", err)
	}
	nulls := 0
	if s.Relation == sensitivity.Null || s.Relation == sensitivity.FeaturesNull {
		nulls = 1
	}
	rows, err := unitRows(kernel.UnitOptions{Normalize: s.NormalizeRows, Nulls: nulls, BudgetBytes: budget})
	if err != nil {
		return nil, fmt.Errorf("privatemail: privatize: %w", err)
	}
	if err := checkNull(rows, &s); err != nil {
		return nil, fmt.Errorf("privatemail: privatize: %w", err)
	}
	if err := checkPrivateLabels(labels, rows, &s); err != nil {
		return nil, fmt.Errorf("privatemail: privatize: %w", err)
	}
	if s.RestPublic {
		if p.bound, err = knownBound(ctx, rows, labels, &p); err != nil {
			return nil, fmt.Errorf("privatemail: privatize: %w", err)
		}
		if err := p.calibrate(d); err != nil {
			return nil, err
		}
	}
	if ledger, ok := s.Ledger.(*mechanism.Ledger); ok { // refuse before the long work
		if err := ledger.Covers(s.Unit, p.calibration.Spend(s.LabelEpsilon)); err != nil {
			return nil, fmt.Errorf("privatemail: privatize: %w", err)
		}
	}
	shift, err := e.firstStep(ctx, rows, labels, &p, rest)
	if err != nil {
		return nil, err
	}
	request := mechanism.Request{
		Displacement: shift, Unit: s.Unit,
		Query: release.Query{
			Sigma: p.query.Sigma, Alpha: s.Alpha, Table: s.Table, Classes: s.Classes, SigmaQ: s.SigmaQ, Seed: s.Seed,
		},
		Labels: mechanism.LabelRequest{Mode: s.LabelMode, Epsilon: s.LabelEpsilon},
	}
	if s.LabelMode == release.ModeRandomised {
		request.Labels.Values = labels
	}
	out, err := mechanism.Privatize(ctx, p.calibration, s.Ledger, request, e.set)
	if err != nil {
		return out, fmt.Errorf("privatemail: privatize: %w", err)
	}
	return out, nil
}

// private is what a private first step is made with.
type private struct {
	settings    *PrivateSettings
	query       sensitivity.Query
	operator    string // that makes the step: dense, background or poly
	order       int    // of poly
	q           blas64.General
	bound       sensitivity.Bound
	calibration mechanism.Calibration
}

// draw fixes the query and draws the public start.
func (p *private) draw(ctx context.Context, n int) (err error) {
	s := p.settings
	p.operator = s.operator(n)
	if p.query, err = s.query(p.operator); err != nil {
		return err
	}
	if p.q, err = iterate.RandomStart(ctx, n, s.Columns, s.Seed, s.SigmaQ); err != nil {
		return fmt.Errorf("privatemail: %w", err)
	}
	return nil
}

// tight is the bound for all rows of a unit that may be private.
func (p *private) tight() (sensitivity.Bound, error) {
	s := p.settings
	return s.group(sensitivity.Tight(s.Relation, p.query, p.q, sensitivity.Rows{Private: s.PrivateRows}))
}

// group turns the bound for one row into that for the rows of a unit.
func (s *PrivateSettings) group(b sensitivity.Bound, err error) (sensitivity.Bound, error) {
	if err != nil || s.Records <= 1 {
		return b, err
	}
	return b.Group(s.Records)
}

// inflate adds the error of the computed step, for features in d dimensions, to the
// bound: that of rounding and, for poly, that of its polynomial.
func (p *private) inflate(d int) error {
	eta, err := sensitivity.RoundingError(p.query, p.q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: d})
	if err == nil && p.operator == "poly" {
		var polynomial sensitivity.Eta
		switch polynomial, err = p.chooseOrder(d, eta); {
		case err == nil:
			eta = polynomial
		case errors.Is(err, kernel.ErrTolerance) && p.settings.Operator == "":
			p.operator, err = "dense", nil
		}
	}
	if err == nil {
		p.bound, err = p.bound.Inflate(eta)
	}
	if err != nil {
		return fmt.Errorf("privatemail: %w", err)
	}
	return nil
}

// polyShare is the most that the error of poly may add to the sensitivity beside the
// rounding that every operator has, as a part of it: the noise is larger by as much.
const polyShare = 0.01

// computed says how the step is computed.
func (p *private) computed() string {
	switch p.operator {
	case "poly":
		return fmt.Sprintf("float64, a polynomial of degree %d", p.order)
	case "background":
		return "float64, pairs within the radius"
	}
	return "float64, every pair"
}

// chooseOrder finds the least order of poly whose error, counted twice, is at most
// polyShare of the bound above that of computing every pair, and returns that error. It uses public numbers alone: the
// range of weights between unit rows, the bound, and Q. kernel.ErrTolerance is
// returned where no order will do.
func (p *private) chooseOrder(d int, dense sensitivity.Eta) (sensitivity.Eta, error) {
	for p.order = 0; ; p.order++ {
		entry, rounding, err := kernel.UnitPolyError(p.settings.Bandwidth, p.q.Rows, d, p.order)
		if errors.Is(err, kernel.ErrTolerance) && p.order < kernel.MaxUnitPolyOrder(d) {
			continue // too low
		}
		if err != nil {
			return sensitivity.Eta{}, err
		}
		eta, err := sensitivity.EntryError(p.query, p.q, entry)
		if err != nil {
			return sensitivity.Eta{}, err
		}
		computed, err := sensitivity.RoundingError(p.query, p.q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: d, Relative: rounding})
		if errors.Is(err, sensitivity.ErrEntryError) {
			// Its sums are rounded too coarsely, and those of higher orders more so.
			return sensitivity.Eta{}, fmt.Errorf("%w: poly: %w", kernel.ErrTolerance, err)
		}
		if err != nil {
			return sensitivity.Eta{}, err
		}
		if eta, err = eta.Plus(computed); err != nil {
			return sensitivity.Eta{}, err
		}
		if 2*(eta.Value()-dense.Value()) <= polyShare*p.bound.Exact() {
			return eta, nil
		}
	}
}

// calibrate chooses the noise.
func (p *private) calibrate(d int) error {
	if err := p.inflate(d); err != nil {
		return err
	}
	reach, err := sensitivity.Displacement(p.query, p.q)
	if err != nil {
		return fmt.Errorf("privatemail: %w", err)
	}
	reach += p.bound.Eta() // no entry is further off than all together
	p.calibration, err = mechanism.Calibrate(mechanism.Params{
		Epsilon: p.settings.Epsilon, Delta: p.settings.Delta, Sensitivity: p.bound, Reach: reach, Rule: p.settings.Rule,
	})
	if err != nil {
		return fmt.Errorf("privatemail: %w", err)
	}
	return nil
}

// checkLabelMode refuses what package mechanism would refuse after the work.
func checkLabelMode(s *PrivateSettings) error {
	switch s.LabelMode {
	case release.ModePublic, release.ModeDropped, release.ModeRandomised:
	case "":
		return fmt.Errorf("%w: no label mode; name public, dropped or randomised", ErrSettings)
	default:
		return fmt.Errorf("%w: no label mode %q; there are public, dropped and randomised", ErrSettings, s.LabelMode)
	}
	if (s.LabelMode == release.ModeRandomised) != (s.LabelEpsilon != 0) {
		return fmt.Errorf("%w: randomised labels and their epsilon go together", ErrSettings)
	}
	if s.LabelMode == release.ModeRandomised && s.Relation != 0 && !s.Relation.LabelPrivate() {
		return fmt.Errorf("%w: the relation %v takes labels to be public, so randomising them would promise what it does not keep", mechanism.ErrLabels, s.Relation)
	}
	return nil
}

// checkTable refuses a Gaussian table that labels in 0 .. Classes-1 could make
// too large. How many labels there are is private, so they do not decide it.
func checkTable(s *PrivateSettings, n int) error {
	if s.Table != "gaussian" || s.Alpha == 0 {
		return nil
	}
	if !kernel.GaussianTableFits(s.Bandwidth, min(n, s.Classes)) {
		return fmt.Errorf("%w: a gaussian label table for %d rows of up to %d classes; state fewer classes or use the equal table", kernel.ErrMemory, n, s.Classes)
	}
	return nil
}

// checkNull refuses a null record that is no private row: its neighbours would
// have two, and no bound covers them.
func checkNull(rows *kernel.UnitRows, s *PrivateSettings) error {
	for i := range rows.N() {
		if rows.Null(i) && s.PrivateRows != nil && !slices.Contains(s.PrivateRows, i) {
			return fmt.Errorf("a null record that is not among the private rows: %w", &kernel.ZeroRowError{Row: i})
		}
	}
	return nil
}

// checkPrivateLabels checks labels and null record by their row numbers alone.
func checkPrivateLabels(labels []int32, rows *kernel.UnitRows, s *PrivateSettings) error {
	if labels == nil {
		if s.Alpha != 0 || s.LabelMode == release.ModeRandomised {
			return fmt.Errorf("%w: a label term and randomised labels need labels", kernel.ErrLabels)
		}
		return nil
	}
	if len(labels) != rows.N() {
		return fmt.Errorf("%w: %d labels for %d rows", kernel.ErrLabels, len(labels), rows.N())
	}
	for i, y := range labels {
		if y < 0 || int(y) >= s.Classes {
			return fmt.Errorf("%w: the label of row %d is not in 0 .. %d, the public classes", kernel.ErrLabels, i, s.Classes-1)
		}
		if rows.Null(i) && s.Relation == sensitivity.Null && y != 0 {
			return fmt.Errorf("%w: row %d is the null record, whose label is 0 by definition", kernel.ErrLabels, i)
		}
	}
	return nil
}

// knownBound is the bound for one private row among public ones.
func knownBound(ctx context.Context, rows *kernel.UnitRows, labels []int32, p *private) (sensitivity.Bound, error) {
	s := p.settings
	if len(s.PrivateRows) != 1 {
		return sensitivity.Bound{}, fmt.Errorf("%w: the rest is public where one row is private, not %d", ErrSettings, len(s.PrivateRows))
	}
	row := s.PrivateRows[0]
	if row < 0 || row >= rows.N() {
		return sensitivity.Bound{}, fmt.Errorf("%w: private row %d of %d", ErrSettings, row, rows.N())
	}
	public := sensitivity.Public{Row: row, Features: rows.Except(row), Labels: make([]int32, rows.N()-1)}
	if labels != nil {
		copy(public.Labels, labels[:row])
		copy(public.Labels[row:], labels[row+1:])
		if !s.Relation.LabelPrivate() {
			public.Label = labels[row]
		}
	}
	return s.group(sensitivity.Known(ctx, s.Relation, p.query, p.q, public, nil))
}

// rest returns what unit rows, starts and results leave of the budget for the
// operator, from public numbers alone.
func (s *PrivateSettings) rest(budget int64, n, d int) (int64, error) {
	own := float64(n)*float64(d)*8 + float64(n)*float64(s.Columns)*(8+8+8+8+8)
	if s.RestPublic {
		own += float64(n) * float64(d) * 16 // the public rows, and centred
	}
	if own >= float64(budget) {
		return 0, &kernel.MemoryError{What: fmt.Sprintf("private step of %d x %d", n, s.Columns), Need: int64(min(own, math.MaxInt64/2)), Budget: budget}
	}
	return budget - int64(own), nil
}

// firstStep returns f - Q, in float64 throughout.
func (e *Engine) firstStep(ctx context.Context, rows *kernel.UnitRows, labels []int32, p *private, budget int64) (blas64.General, error) {
	s := p.settings
	step := kernel.Step{Form: kernel.Paper, Coefficient: s.Alpha}
	if labels != nil && s.Alpha != 0 {
		table, err := kernel.TableByName(s.Table, s.Bandwidth)
		if err == nil {
			step.Labels, err = kernel.NewLabels(labels, table, false)
		}
		if err != nil {
			return blas64.General{}, fmt.Errorf("privatemail: privatize: %w", err)
		}
	}
	o := &kernel.Options{Steps: 1, Columns: s.Columns, BudgetBytes: budget, Workers: e.set, Kernels: e.kernels, Progress: e.report()}
	var op kernel.Operator64
	var err error
	switch p.operator {
	case "background":
		background := p.query.Operator.(sensitivity.Background)
		op, err = kernel.NewBackground(ctx, rows, s.Bandwidth, background.Radius, background.Weight, o)
		if errors.Is(err, kernel.ErrMemory) {
			// How much it would take is a fact about private rows.
			err = fmt.Errorf("%w: the budget is too small for this radius", kernel.ErrMemory)
		}
	case "poly":
		op, err = kernel.NewUnitPoly(ctx, rows, s.Bandwidth, p.order, o)
	default:
		op, err = kernel.NewUnitDense(ctx, rows, s.Bandwidth, o)
	}
	if err != nil {
		return blas64.General{}, fmt.Errorf("privatemail: privatize: %w", err)
	}
	defer op.Close()
	f := blas64.General{Rows: p.q.Rows, Cols: p.q.Cols, Stride: p.q.Cols, Data: make([]float64, len(p.q.Data))}
	var stats kernel.Stats
	if err := stats.Gather64(p.q, step.Labels); err != nil {
		return f, fmt.Errorf("privatemail: privatize: %w", err)
	}
	if err := op.Step64(ctx, f, p.q, &step, &stats); err != nil {
		return f, fmt.Errorf("privatemail: privatize: %w", err)
	}
	for i, v := range p.q.Data { // both are contiguous
		f.Data[i] -= v
	}
	return f, nil
}

// Continue takes a release further: it rebuilds the graph from the released
// points and takes the later steps (package post). Nothing private goes in, so
// it may run anywhere. Workers, level, budget and progress are the engine's.
func (e *Engine) Continue(ctx context.Context, r *release.Release, labels *release.PublicLabels, settings *post.Settings) (*Embedding, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	var s post.Settings
	if settings != nil {
		s = *settings
	}
	s.Workers, s.Kernels, s.BudgetBytes, s.Progress = e.set, e.kernels, e.budget(), e.report()
	out, err := post.Continue(ctx, r, labels, &s)
	if err != nil {
		return nil, fmt.Errorf("privatemail: continue: %w", err)
	}
	return out, nil
}
