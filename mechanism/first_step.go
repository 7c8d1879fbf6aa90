package mechanism

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A FirstStep is a computed first step f to be released, and the unit that pays
// for it.
type FirstStep struct {
	// Displacement is f - Q. It is secret: it leaves Calibration.Privatize only as the
	// release.
	Displacement blas64.General
	// Query holds the public parameters of Q and of f, the latter equal to those of
	// the bound.
	Query release.Query
	// Unit is the unit whose privacy is spent.
	Unit Unit
	// Labels says what later steps may know about the labels.
	Labels LabelSettings
}

// LabelSettings choose a label mode; there is no default.
type LabelSettings struct {
	// Mode is release.ModePublic, ModeDropped or ModeRandomised. ModePublic needs a
	// relation under which the label is public.
	Mode string
	// Values are the labels of all rows, nil in every mode but ModeRandomised, which
	// needs a relation that protects the label.
	Values []int32
	// Epsilon is the cost of randomising the labels, for each row: in [1e-6,
	// 20] in ModeRandomised, 0 in the other modes.
	Epsilon float64
}

// check checks everything that can make a release fail, except entropy, the budget and
// the context.
func (f FirstStep) check(c Calibration, budget Budget) error {
	if err := f.Unit.Check(budget); err != nil {
		return err
	}
	if c.multiple == 0 {
		return fmt.Errorf("mechanism: the calibration was not made by Calibrate: %w", errSensitivity)
	}
	if err := checkQuery(c.Bound().Query(), f.Query); err != nil {
		return err
	}
	if err := f.checkLabels(c.Bound()); err != nil {
		return err
	}
	return checkMatrix(c.Bound(), f.Displacement)
}

// checkMatrix compares the matrix with the one the bound is for.
func checkMatrix(b sensitivity.Bound, x blas64.General) error {
	rows, columns := b.Size()
	if x.Rows != rows || x.Cols != columns {
		return fmt.Errorf("mechanism: the matrix is %d x %d and the bound is for %d x %d: %w", x.Rows, x.Cols, rows, columns, errSensitivity)
	}
	if x.Stride < x.Cols || x.Stride > len(x.Data) || int64(len(x.Data)) < int64(rows-1)*int64(x.Stride)+int64(columns) {
		return fmt.Errorf("mechanism: the matrix has a stride of %d and %d numbers, too few for %d x %d: %w", x.Stride, len(x.Data), rows, columns, ErrParam)
	}
	for i := range rows {
		for _, v := range x.Data[i*x.Stride : i*x.Stride+columns] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("mechanism: the matrix to be released: %w", ErrNonFinite)
			}
		}
	}
	return nil
}

// checkQuery compares the query that the release will state with the query of
// the bound.
func checkQuery(bound sensitivity.Query, q release.Query) error {
	name, classes := "", 0
	switch t := bound.Table.(type) {
	case sensitivity.Gaussian:
		// A release states one width, the width of the features.
		if t.Sigma == bound.Sigma {
			name, classes = "gaussian", t.Classes
		}
	case sensitivity.Equal:
		name, classes = "equal", t.Classes
	case sensitivity.Different:
		name, classes = "different", t.Classes
	}
	switch {
	case name == "":
		return fmt.Errorf("mechanism: a release cannot describe the label table %v: %w", bound.Table, errSensitivity)
	case q.Sigma != bound.Sigma || q.Alpha != bound.Alpha || q.Table != name || q.Classes != classes:
		return fmt.Errorf("mechanism: the query differs from the query of the bound, %v: %w", bound, errSensitivity)
	case !(q.SigmaQ > 0 && q.SigmaQ <= math.MaxFloat64):
		return &ParamError{Field: "Query.SigmaQ", Value: q.SigmaQ, Allowed: "a positive finite number"}
	}
	return nil
}

// Check reports before any work whether the mode and its price fit a relation;
// Calibration.Privatize checks the labels themselves. Errors are ErrLabels and ErrParam.
func (l LabelSettings) Check(relation sensitivity.Relation) error {
	switch l.Mode {
	case release.ModePublic, release.ModeDropped:
		if l.Epsilon != 0 {
			return fmt.Errorf("mechanism: a label epsilon is given, but labels are %s: %w", l.Mode, ErrLabels)
		}
		if l.Mode == release.ModePublic && relation.LabelPrivate() {
			return fmt.Errorf("mechanism: public labels under %v, which protects the label: drop or randomise them, or choose a relation of features only: %w", relation, ErrLabels)
		}
		return nil
	case release.ModeRandomised:
	default:
		return fmt.Errorf("mechanism: label mode %q, want %q, %q or %q: %w", l.Mode, release.ModePublic, release.ModeDropped, release.ModeRandomised, ErrLabels)
	}
	if !relation.LabelPrivate() {
		return fmt.Errorf("mechanism: labels are public under %v, so randomising them protects nothing: %w", relation, ErrLabels)
	}
	if !(l.Epsilon >= minEpsilon && l.Epsilon <= maxLabelEpsilon) {
		return &ParamError{Field: "Labels.Epsilon", Value: l.Epsilon, Allowed: "1e-6 to 20"}
	}
	return nil
}

// checkLabels checks the label mode and the labels. Its errors contain no
// label.
func (f FirstStep) checkLabels(b sensitivity.Bound) error {
	if err := f.Labels.Check(b.Relation()); err != nil {
		return err
	}
	if f.Labels.Mode != release.ModeRandomised {
		if f.Labels.Values != nil {
			return fmt.Errorf("mechanism: labels are given in mode %s: %w", f.Labels.Mode, ErrLabels)
		}
		return nil
	}
	if len(f.Labels.Values) != f.Displacement.Rows {
		return fmt.Errorf("mechanism: %d labels for %d rows: %w", len(f.Labels.Values), f.Displacement.Rows, ErrLabels)
	}
	for _, l := range f.Labels.Values {
		if l < 0 || int(l) >= f.Query.Classes {
			return fmt.Errorf("mechanism: a label is outside 0 .. %d: %w", f.Query.Classes-1, ErrLabels)
		}
	}
	return nil
}

const maxLabelEpsilon = 20
