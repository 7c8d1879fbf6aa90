package privatemail

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/points"
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
// kernel.ErrShape, kernel.ErrEmpty, kernel.ErrUnitNorm, kernel.ErrNonFinite,
// kernel.ErrLabels, kernel.ErrMemory, ErrZeroRow, ErrSettings. Messages name rows and settings, never values of rows.
func (e *Engine) Privatize(ctx context.Context, features blas32.General, labels []int32, settings *PrivateSettings) (*release.Release, error) {
	return call(e, "privatize", func() (*release.Release, error) {
		return privatize(ctx, e, features, kernel.NewUnitRows, labels, settings)
	})
}

// Privatize64 is Privatize for features in float64.
func (e *Engine) Privatize64(ctx context.Context, features blas64.General, labels []int32, settings *PrivateSettings) (*release.Release, error) {
	return call(e, "privatize", func() (*release.Release, error) {
		return privatize(ctx, e, features, kernel.NewUnitRows64, labels, settings)
	})
}

// privatize is Privatize for both types of features; unitRows makes unit rows of them.
func privatize[M points.Matrix](ctx context.Context, e *Engine, features M, unitRows func(M, kernel.UnitOptions) (*kernel.UnitRows, error), labels []int32, settings *PrivateSettings) (*release.Release, error) {
	s, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	// What needs no data comes first, so that most requests that cannot be met are
	// refused before any is read.
	if err := mechanism.CheckPayer(s.Ledger, s.Unit); err != nil {
		return nil, err
	}
	request := mechanism.Request{
		Unit: s.Unit, Labels: mechanism.LabelRequest{Mode: s.LabelMode, Epsilon: s.LabelEpsilon},
		Query: release.Query{
			Sigma: s.Bandwidth.Sigma(), Alpha: s.Alpha, Table: s.Table, Classes: s.Classes, SigmaQ: s.SigmaQ, Seed: s.Seed,
		},
	}
	if s.Relation != 0 { // without one there is no bound, which says so
		if err := request.Labels.Check(s.Relation); err != nil {
			return nil, err
		}
	}
	if s.Unit.Kind == release.UnitClient && s.Records == 0 {
		return nil, fmt.Errorf("%w: a client pays for all its rows; say how many there may be", ErrSettings)
	}
	n, d, err := points.Dims(features)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	if n < 2 || d < 1 {
		return nil, fmt.Errorf("features: %w (%d x %d, want at least two rows)", kernel.ErrEmpty, n, d)
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
			return nil, err
		}
		if err := p.calibrate(d); err != nil {
			return nil, err
		}
	}
	if err := s.checkTable(n); err != nil {
		return nil, err
	}
	nulls := 0
	if s.Relation == sensitivity.Null || s.Relation == sensitivity.FeaturesNull {
		nulls = 1
	}
	rows, err := unitRows(features, kernel.UnitOptions{Normalize: s.NormalizeRows, Nulls: nulls, BudgetBytes: budget})
	if err != nil {
		return nil, err
	}
	if err := checkNull(rows, &s); err != nil {
		return nil, err
	}
	if err := checkPrivateLabels(labels, rows, &s); err != nil {
		return nil, err
	}
	if s.RestPublic {
		if p.bound, err = p.known(ctx, rows, labels); err != nil {
			return nil, err
		}
		if err := p.calibrate(d); err != nil {
			return nil, err
		}
	}
	if ledger, ok := s.Ledger.(*mechanism.Ledger); ok { // refuse before the long work
		if err := ledger.Covers(s.Unit, p.calibration.Spend(s.LabelEpsilon)); err != nil {
			return nil, err
		}
	}
	if request.Displacement, err = e.firstStep(ctx, rows, labels, &p, rest); err != nil {
		return nil, err
	}
	if s.LabelMode == release.ModeRandomised {
		request.Labels.Values = labels
	}
	return mechanism.Privatize(ctx, p.calibration, s.Ledger, request, e.workers)
}

// checkNull refuses a null record that is no private row: its neighbours would
// have two, and no bound covers them.
func checkNull(rows *kernel.UnitRows, s *PrivateSettings) error {
	for i := range rows.N() {
		if rows.Null(i) && s.PrivateRows != nil && !slices.Contains(s.PrivateRows, i) {
			return fmt.Errorf("a null record that is not among the private rows: %w", &points.ZeroRowError{Row: i})
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

// firstStep returns f - Q, in float64 throughout.
func (e *Engine) firstStep(ctx context.Context, rows *kernel.UnitRows, labels []int32, p *private, budget int64) (blas64.General, error) {
	s := p.settings
	step := kernel.Step{Form: kernel.Paper, Coefficient: s.Alpha}
	if labels != nil && s.Alpha != 0 {
		table, err := kernel.TableByName(s.Table, s.Bandwidth)
		if err != nil {
			return blas64.General{}, err
		}
		if step.Labels, err = kernel.NewLabels(labels, table, false); err != nil {
			return blas64.General{}, err
		}
	}
	o := &kernel.Options{Steps: 1, Columns: s.Columns, BudgetBytes: budget, Workers: e.workers, Kernels: e.kernels, Progress: e.report()}
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
		return blas64.General{}, err
	}
	defer op.Close()
	f := blas64.General{Rows: p.q.Rows, Cols: p.q.Cols, Stride: p.q.Cols, Data: make([]float64, len(p.q.Data))}
	var stats kernel.Stats
	if err := stats.Gather64(p.q, step.Labels); err != nil {
		return f, err
	}
	if err := op.Step64(ctx, f, p.q, &step, &stats); err != nil {
		return f, err
	}
	for i, v := range p.q.Data { // both are contiguous
		f.Data[i] -= v
	}
	return f, nil
}
