package privatemail

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
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
// the release is returned with the error.
//
// Every refusal is a typed error: those of packages sensitivity and mechanism,
// kernel.ErrShape, kernel.ErrEmpty, kernel.ErrUnitNorm, kernel.ErrNonFinite,
// kernel.ErrLabels, kernel.ErrMemory, ErrZeroRow and ErrSettings. Messages name rows
// and settings, never values of rows.
func (e *Engine) Privatize(ctx context.Context, features blas32.General, labels []int32, settings *PrivateSettings) (*release.Release, error) {
	return privatize(ctx, e, features, labels, settings)
}

// Privatize64 is Privatize for features in float64.
func (e *Engine) Privatize64(ctx context.Context, features blas64.General, labels []int32, settings *PrivateSettings) (*release.Release, error) {
	return privatize(ctx, e, features, labels, settings)
}

// privatize is Privatize for both types of features. Checks that need no data come
// first, so most calls that cannot succeed are refused before any row is read.
func privatize[M points.Matrix](ctx context.Context, e *Engine, features M, labels []int32, settings *PrivateSettings) (out *release.Release, err error) {
	c, err := e.begin(ctx, "privatize")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	if err := e.alone(noiseAlone); err != nil {
		return nil, err
	}
	s, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := s.checkPayment(); err != nil {
		return nil, err
	}
	n, d, err := privateSize(features)
	if err != nil {
		return nil, err
	}
	own, what := s.ownBytes(n, d)
	m, err := e.reserveInTurn(ctx, own, what)
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = privatizeWithin(ctx, e, m, features, labels, s)
	}
	return out, err
}

// privatizeWithin is privatize with a share of the memory limit for the memory besides the
// operator. Until the spend is written to the ledger it can start again.
func privatizeWithin[M points.Matrix](ctx context.Context, e *Engine, m *share, features M, labels []int32, s PrivateSettings) (*release.Release, error) {
	n, d, _ := points.Dims(features)
	own, what := s.ownBytes(n, d)
	rest, err := pipeline.Reserve(m.limit, own, what)
	if err != nil {
		return nil, err
	}
	plan := privatePlan{settings: &s}
	if err := plan.beforeRows(ctx, n, d); err != nil {
		return nil, err
	}
	unit := s.unitOptions(m.limit)
	unit.Workers = e.workers
	rows, err := kernel.NewUnitRows(features, unit)
	if err != nil {
		return nil, err
	}
	if err := s.checkRows(rows, labels); err != nil {
		return nil, err
	}
	if err := plan.afterRows(ctx, rows, labels, d); err != nil {
		return nil, err
	}
	if err := s.checkLedger(plan.calibration); err != nil {
		return nil, err
	}
	o := e.firstOptions(ctx, &s)
	o.MaxMemory, o.Reserve = rest, func(bytes int64) bool { return m.grow(int64(own) + bytes) }
	f, err := e.firstStep(ctx, rows, labels, &plan, o)
	if err != nil {
		return nil, err
	}
	return plan.calibration.Privatize(ctx, s.Ledger, s.released(f, labels), e.workers)
}

// checkPayment checks everything about the payer and the labels that needs no
// data.
func (s *PrivateSettings) checkPayment() error {
	if err := s.Unit.Check(s.Ledger); err != nil {
		return err
	}
	if s.Relation != 0 { // without one the bound is refused, with its own error
		if err := s.labels().Check(s.Relation); err != nil {
			return err
		}
	}
	if s.Unit.Kind == release.UnitClient && s.Records == 0 {
		return fmt.Errorf("%w: a client pays for all its rows: state how many there may be", ErrSettings)
	}
	return nil
}

// privateSize returns the numbers of rows and columns of features, and refuses sizes
// that cannot be private.
func privateSize[M points.Matrix](features M) (n, d int, err error) {
	if n, d, err = points.Dims(features); err != nil {
		return 0, 0, fmt.Errorf("features: %w", err)
	}
	if n < 2 || d < 1 {
		return 0, 0, fmt.Errorf("features: %w (%d x %d, want at least two rows)", kernel.ErrEmpty, n, d)
	}
	return n, d, nil
}

// unitOptions are the conditions on rows: unit norm, except for one null record
// under the relations that have it.
func (s *PrivateSettings) unitOptions(limit int64) kernel.UnitOptions {
	o := kernel.UnitOptions{Normalize: s.NormalizeRows, MaxMemory: limit}
	if s.Relation == sensitivity.Null || s.Relation == sensitivity.FeaturesNull {
		o.Nulls = 1
	}
	return o
}

// checkRows refuses rows and labels that no bound covers. Its errors contain only row
// numbers.
func (s *PrivateSettings) checkRows(rows *kernel.UnitRows, labels []int32) error {
	if err := s.checkNull(rows); err != nil {
		return err
	}
	return s.checkLabels(rows, labels)
}

// checkNull refuses a null record outside the private rows: neighbouring data
// would have two null records, which no bound covers.
func (s *PrivateSettings) checkNull(rows *kernel.UnitRows) error {
	for i := range rows.N() {
		if rows.Null(i) && s.PrivateRows != nil && !slices.Contains(s.PrivateRows, i) {
			return fmt.Errorf("the null record is not among the private rows: %w", &points.ZeroRowError{Row: i})
		}
	}
	return nil
}

// checkLabels refuses labels that are missing, too few or too many, outside the public
// classes, or not 0 for a null record.
func (s *PrivateSettings) checkLabels(rows *kernel.UnitRows, labels []int32) error {
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
			return fmt.Errorf("%w: the label of row %d is not in 0 .. %d, the public classes", kernel.ErrLabels, i+1, s.Classes-1)
		}
		if rows.Null(i) && s.Relation == sensitivity.Null && y != 0 {
			return fmt.Errorf("%w: row %d is the null record, whose label is 0 by definition", kernel.ErrLabels, i+1)
		}
	}
	return nil
}

// checkLedger refuses, before the long work, a spend that the budget cannot pay.
func (s *PrivateSettings) checkLedger(c mechanism.Calibration) error {
	budget, ok := s.Ledger.(interface {
		Covers(mechanism.Unit, mechanism.Spend) error
	})
	if !ok {
		return nil
	}
	return budget.Covers(s.Unit, c.Spend(s.LabelEpsilon))
}

// released returns the input of the release: f - Q, with the labels if they are
// randomised.
func (s *PrivateSettings) released(displacement blas64.General, labels []int32) mechanism.FirstStep {
	f := mechanism.FirstStep{
		Displacement: displacement, Unit: s.Unit, Labels: s.labels(),
		Query: release.Query{
			Sigma: s.Bandwidth.Sigma(), Alpha: s.Alpha, Table: s.Table, Classes: s.Classes, SigmaQ: s.SigmaQ, Seed: s.Seed,
		},
	}
	if s.LabelMode == release.ModeRandomised {
		f.Labels.Values = labels
	}
	return f
}

// labels returns the label mode and its price, without labels.
func (s *PrivateSettings) labels() mechanism.LabelSettings {
	return mechanism.LabelSettings{Mode: s.LabelMode, Epsilon: s.LabelEpsilon}
}
