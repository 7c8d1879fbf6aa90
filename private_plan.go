package privatemail

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A privatePlan holds everything that makes a private first step. It follows from public
// numbers: from the settings, the number of rows and, where all rows except one are
// public, from those rows.
type privatePlan struct {
	settings    *PrivateSettings
	query       sensitivity.Query
	operator    string // makes the step: dense, background or poly
	order       int    // of poly
	q           blas64.General
	start       sensitivity.Start // q measured, until the noise is chosen
	bound       sensitivity.Bound
	calibration mechanism.Calibration
}

// beforeRows plans everything that needs no row of the n x d features: the query, the
// start and, unless the bound depends on public rows, the noise.
func (p *privatePlan) beforeRows(ctx context.Context, n, d int) (err error) {
	if err := p.draw(ctx, n); err != nil {
		return err
	}
	if err := p.measure(); err != nil {
		return err
	}
	if !p.settings.RestPublic {
		if p.bound, err = p.tight(p.settings.Relation); err != nil {
			return err
		}
		if err := p.calibrate(d); err != nil {
			return err
		}
		if err := p.confirm(); err != nil {
			return err
		}
	}
	return p.settings.checkTable(n)
}

// afterRows chooses the noise where it depends on public rows.
func (p *privatePlan) afterRows(ctx context.Context, rows *kernel.UnitRows, labels []int32, d int) (err error) {
	if !p.settings.RestPublic {
		return nil
	}
	if p.bound, err = p.known(ctx, rows, labels); err != nil {
		return err
	}
	if err := p.calibrate(d); err != nil {
		return err
	}
	return p.confirm()
}

// confirm asks the caller to accept the noise.
func (p *privatePlan) confirm() error {
	if p.settings.Confirm == nil {
		return nil
	}
	signal, err := p.query.Signal(p.q)
	if err != nil {
		return err
	}
	return p.settings.Confirm(p.calibration, signal)
}

// draw fixes the query and draws the public start.
func (p *privatePlan) draw(ctx context.Context, n int) (err error) {
	if p.settings.Records > n { // release.Check refuses it too
		return fmt.Errorf("%w: %d records of a unit, want at most the %d rows", ErrSettings, p.settings.Records, n)
	}
	s := p.settings
	p.operator = s.operator(n)
	if p.query, err = s.query(p.operator); err != nil {
		return err
	}
	p.q, err = iterate.RandomStart(ctx, n, s.Dim, s.Seed, s.SigmaQ)
	return err
}

// measure measures the start, once for all bounds.
func (p *privatePlan) measure() (err error) {
	p.start, err = sensitivity.NewStart(p.q)
	return err
}

const (
	// denseRows is the largest number of rows for which dense is the default.
	denseRows = 1 << 16
	// edgeWeight is the weight at the default radius of the operator background.
	edgeWeight = 1e-3
)

// operator returns the name of the operator for n rows.
func (s *PrivateSettings) operator(n int) string {
	switch {
	case s.Operator != "":
		return s.Operator
	case n <= denseRows || s.Radius != 0:
		return "dense"
	case s.Bandwidth.Radius(edgeWeight) <= 1:
		return "background"
	}
	return "poly"
}

// query returns the public numbers of the first step with an operator.
func (s *PrivateSettings) query(operator string) (q sensitivity.Query, err error) {
	q = sensitivity.Query{Sigma: s.Bandwidth.Sigma(), Alpha: s.Alpha}
	if q.Table, err = s.boundTable(); err != nil {
		return q, err
	}
	q.Operator, err = s.boundOperator(operator)
	return q, err
}

// boundTable returns the label table in the terms of package sensitivity.
func (s *PrivateSettings) boundTable() (sensitivity.Table, error) {
	switch s.Table {
	case "equal":
		return sensitivity.Equal{Classes: s.Classes}, nil
	case "different":
		return sensitivity.Different{Classes: s.Classes}, nil
	case "gaussian":
		return sensitivity.Gaussian{Classes: s.Classes, Sigma: s.Bandwidth.Sigma()}, nil
	}
	if _, err := kernel.TableByName(s.Table, s.Bandwidth); err != nil {
		return nil, err
	}
	return sensitivity.DataDependent{Name: s.Table}, nil // refused by every bound
}

// boundOperator returns the operator of a name in the terms of package
// sensitivity.
func (s *PrivateSettings) boundOperator(name string) (sensitivity.Operator, error) {
	if s.Radius != 0 && name != "background" {
		return nil, fmt.Errorf("%w: a radius is for the operator background, not for %s", ErrSettings, name)
	}
	switch name {
	case "dense", "poly":
		return sensitivity.Full{}, nil
	case "background":
		radius := s.Radius
		if radius == 0 {
			radius = min(2, s.Bandwidth.Radius(edgeWeight))
		}
		return sensitivity.Midpoint(s.Bandwidth.Sigma(), radius), nil
	case "csr":
		return sensitivity.Truncated{Radius: s.Bandwidth.Radius(edgeWeight)}, nil // refused by every bound
	}
	return nil, fmt.Errorf("%w: no operator %q for a private step, want dense, poly or background", ErrSettings, name)
}

// checkTable refuses a Gaussian table that labels in 0 .. Classes-1 could make
// too large. The number of labels in use is private, so it does not count here.
func (s *PrivateSettings) checkTable(n int) error {
	if s.Table != "gaussian" || s.Alpha == 0 {
		return nil
	}
	if !s.Bandwidth.TableFits(min(n, s.Classes)) {
		return fmt.Errorf("%w: a gaussian label table for %d rows of up to %d classes: state fewer classes or use the equal table", kernel.ErrMemory, n, s.Classes)
	}
	return nil
}

// ownBytes is the memory of unit rows, starts and results, without the operator, from
// public numbers only, and its name in errors.
func (s *PrivateSettings) ownBytes(n, d int) (own float64, what string) {
	own = float64(n)*float64(d)*8 + float64(n)*float64(s.Dim)*(8+8+8+8+8)
	if s.RestPublic {
		own += float64(n) * float64(d) * 16 // the public rows, and a centred copy
	}
	return own, fmt.Sprintf("private step of %d x %d", n, s.Dim)
}

// tight is the bound under a relation for all rows of a unit that may be private.
func (p *privatePlan) tight(relation sensitivity.Relation) (sensitivity.Bound, error) {
	s := p.settings
	return s.group(p.start.Tight(relation, p.query, sensitivity.Rows{Private: s.PrivateRows}))
}

// known is the bound for one private row among public ones.
func (p *privatePlan) known(ctx context.Context, rows *kernel.UnitRows, labels []int32) (sensitivity.Bound, error) {
	s := p.settings
	if len(s.PrivateRows) != 1 {
		return sensitivity.Bound{}, fmt.Errorf("%w: with the rest public one row is private, not %d", ErrSettings, len(s.PrivateRows))
	}
	row := s.PrivateRows[0]
	if row < 0 || row >= rows.N() {
		return sensitivity.Bound{}, fmt.Errorf("%w: private row %d, want 1 to %d", ErrSettings, row+1, rows.N())
	}
	public := sensitivity.Public{Row: row, Features: rows.Except(row), Labels: make([]int32, rows.N()-1)}
	if labels != nil {
		copy(public.Labels, labels[:row])
		copy(public.Labels[row:], labels[row+1:])
		if !s.Relation.LabelPrivate() {
			public.Label = labels[row]
		}
	}
	return s.group(p.query.Known(ctx, s.Relation, p.q, public, nil))
}

// group turns the bound for one row into the bound for the rows of a unit.
func (s *PrivateSettings) group(b sensitivity.Bound, err error) (sensitivity.Bound, error) {
	if err != nil || s.Records <= 1 {
		return b, err
	}
	return b.Group(s.Records)
}

// inflate adds the error of the computed step, for features in d dimensions, to the
// bound: the error of rounding and, for poly, of its polynomial.
func (p *privatePlan) inflate(d int) error {
	eta, err := p.start.RoundingError(p.query, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: d})
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
	return err
}

// polyShare is the largest share that the error of poly may add to the sensitivity,
// not counting the rounding that every operator has: the noise grows by as much.
const polyShare = 0.01

// computed says how the step is computed.
func (p *privatePlan) computed() string {
	switch p.operator {
	case "poly":
		return fmt.Sprintf("float64, a polynomial of degree %d", p.order)
	case "background":
		return "float64, pairs within the radius"
	}
	return "float64, every pair"
}

// chooseOrder finds the least order of poly for which twice the excess of its error
// over that of computing every pair is at most polyShare of the bound, and returns
// the error. It uses only public numbers: the range of weights between unit rows,
// the bound, and Q. It returns kernel.ErrTolerance where no order suffices.
func (p *privatePlan) chooseOrder(d int, dense sensitivity.Eta) (sensitivity.Eta, error) {
	for p.order = 0; ; p.order++ {
		entry, rounding, err := p.settings.Bandwidth.UnitPolyError(p.q.Rows, d, p.order)
		if errors.Is(err, kernel.ErrTolerance) && p.order < kernel.MaxUnitPolyOrder(d) {
			continue // too low
		}
		if err != nil {
			return sensitivity.Eta{}, err
		}
		eta, err := p.start.EntryError(p.query, entry)
		if err != nil {
			return sensitivity.Eta{}, err
		}
		computed, err := p.start.RoundingError(p.query, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: d, Relative: rounding})
		if errors.Is(err, sensitivity.ErrQuery) {
			// EntryError has accepted the query. So sums of this order are rounded too
			// coarsely, and sums of higher orders even more.
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
func (p *privatePlan) calibrate(d int) error {
	if err := p.inflate(d); err != nil {
		return err
	}
	reach, err := p.start.Displacement(p.query)
	if err != nil {
		return err
	}
	reach += p.bound.Eta() // the error of one entry is at most that of all together
	p.start = sensitivity.Start{}
	p.calibration, err = mechanism.Calibrate(mechanism.CalibrationSettings{
		Epsilon: p.settings.Epsilon, Delta: p.settings.Delta, Sensitivity: p.bound, Reach: reach, Rule: p.settings.Rule,
	})
	return err
}
