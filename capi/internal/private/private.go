// Package private makes the settings of a private first step from the fields that a caller of
// the C library has filled in. A C struct begins as zeros, so a forgotten field looks like a 0:
// fields on which a promise of privacy rests have no default here, and the error names the
// missing field.
package private

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Fields are the fields of pm_private_settings, with the same names. Flags are 0 or 1.
type Fields struct {
	Epsilon, Delta, LabelEpsilon                  float64
	Relation, LabelMode, Unit, UnitKind           string
	NewUnit, NormalizeRows, RestPublic, Uncounted int32
	OtherRelation                                 int32
	Records, Classes, Dim                         int
	Rule, Table, Operator                         string
	Bandwidth                                     kernel.Bandwidth // of sigma or gamma
	Alpha, SigmaQ, Radius                         float64
	Seed                                          uint64
	PrivateRows                                   []int // nil if any row may be private
}

// Query returns the settings that determine the first step, its bound and its noise. It ignores
// those of labels and payment, except for flags that are neither 0 nor 1. Errors are
// mechanism.ErrParam and sensitivity.ErrRelation.
func (f *Fields) Query() (*privatemail.PrivateSettings, error) {
	s := &privatemail.PrivateSettings{
		Epsilon: f.Epsilon, Delta: f.Delta, Bandwidth: f.Bandwidth, Alpha: f.Alpha, Table: f.Table, Classes: f.Classes,
		Dim: f.Dim, SigmaQ: f.SigmaQ, Seed: f.Seed, Operator: f.Operator, Radius: f.Radius, Records: f.Records, PrivateRows: f.PrivateRows,
	}
	var err error
	switch {
	case f.Relation == "":
		return nil, Missing("relation")
	case f.Bandwidth == kernel.Bandwidth{}:
		return nil, Missing("sigma or gamma")
	case f.PrivateRows != nil && len(f.PrivateRows) == 0:
		return nil, fmt.Errorf("%w: private_rows is an empty list, which would mean that no row is private", mechanism.ErrParam)
	}
	if s.Relation, err = sensitivity.RelationByName(f.Relation); err != nil {
		return nil, err
	}
	if f.Rule != "" {
		if s.Rule, err = mechanism.RuleByName(f.Rule); err != nil {
			return nil, err
		}
	}
	if s.NormalizeRows, err = flag(f.NormalizeRows, "normalize_rows"); err != nil {
		return nil, err
	}
	if s.RestPublic, err = flag(f.RestPublic, "rest_public"); err != nil {
		return nil, err
	}
	for _, other := range []struct { // of the payment, which does not affect the query
		value int32
		field string
	}{{f.NewUnit, "new_unit"}, {f.OtherRelation, "other_relation"}, {f.Uncounted, "uncounted"}} {
		if _, err := flag(other.value, other.field); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Settings returns all settings of a release that the ledger pays for. ledger is nil for none,
// which is only allowed if the caller has said that nothing is counted. The error is
// mechanism.ErrParam, or that of Query.
func (f *Fields) Settings(ledger mechanism.Budget) (*privatemail.PrivateSettings, error) {
	switch {
	case f.Epsilon == 0:
		return nil, Missing("epsilon")
	case f.Delta == 0:
		return nil, Missing("delta")
	}
	s, err := f.Query()
	if err != nil {
		return nil, err
	}
	if err := f.setLabels(s); err != nil {
		return nil, err
	}
	return s, f.setPayer(s, ledger)
}

// setLabels fills in the handling of labels.
func (f *Fields) setLabels(s *privatemail.PrivateSettings) error {
	switch f.LabelMode {
	case "":
		return Missing("label_mode")
	case release.ModePublic, release.ModeDropped, release.ModeRandomised:
	default:
		return fmt.Errorf("%w: no label_mode %q; there are %s, %s and %s", mechanism.ErrParam, f.LabelMode, release.ModePublic, release.ModeDropped, release.ModeRandomised)
	}
	s.LabelMode, s.LabelEpsilon = f.LabelMode, f.LabelEpsilon
	labels := mechanism.LabelSettings{Mode: f.LabelMode, Epsilon: f.LabelEpsilon}
	if err := labels.Check(s.Relation); err != nil { // this concerns only settings: no label was read
		return fmt.Errorf("%w: label_mode and label_epsilon: %v", mechanism.ErrParam, err)
	}
	if f.Classes == 0 && ReadsLabels(s) {
		return Missing("classes")
	}
	return nil
}

// setPayer fills in the ledger and the unit.
func (f *Fields) setPayer(s *privatemail.PrivateSettings, ledger mechanism.Budget) error {
	uncounted, err := flag(f.Uncounted, "uncounted")
	if err != nil {
		return err
	}
	if s.Unit, err = Unit(f.Unit, f.UnitKind); err != nil {
		return err
	}
	if s.Unit.New, err = flag(f.NewUnit, "new_unit"); err != nil {
		return err
	}
	if s.Unit.OtherRelation, err = flag(f.OtherRelation, "other_relation"); err != nil {
		return err
	}
	switch {
	case uncounted && ledger != nil:
		return fmt.Errorf("%w: uncounted is 1 but there is a ledger: choose one of them", mechanism.ErrParam)
	case uncounted:
		s.Ledger = mechanism.NoLedger
		if s.Unit.Name == "" {
			s.Unit.Name = "unnamed" // not used
		}
	case ledger == nil:
		return fmt.Errorf("%w: ledger is NULL: open one, or set uncounted to 1 to count nothing", mechanism.ErrParam)
	case f.Unit == "":
		return Missing("unit")
	default:
		s.Ledger = ledger
	}
	if s.Unit.Kind == release.UnitClient && f.Records == 0 {
		return fmt.Errorf("%w: records is required if unit_kind is client: a client pays for all its rows", mechanism.ErrParam)
	}
	return nil
}

// ReadsLabels reports whether a release depends on labels. If it does not, labels must not be
// read.
func ReadsLabels(s *privatemail.PrivateSettings) bool {
	return s.Alpha != 0 || s.LabelMode == release.ModeRandomised
}

// Unit returns the unit with a name; an empty kind means a record. The error is
// mechanism.ErrParam.
func Unit(name, kind string) (mechanism.Unit, error) {
	switch kind {
	case "":
		kind = release.UnitRecord
	case release.UnitRecord, release.UnitClient:
	default:
		return mechanism.Unit{}, fmt.Errorf("%w: no unit_kind %q; there are %s and %s", mechanism.ErrParam, kind, release.UnitRecord, release.UnitClient)
	}
	return mechanism.Unit{Kind: kind, Name: name}, nil
}

// Total returns the total of a new ledger. Kind and epsilon have no default. delta has none
// either; only a pure ledger does not need it. The error is mechanism.ErrParam.
func Total(kind string, epsilon, delta, pureEpsilon float64) (t mechanism.Total, err error) {
	t = mechanism.Total{Epsilon: epsilon, Delta: delta, PureEpsilon: pureEpsilon}
	switch {
	case kind == "":
		return t, Missing("kind")
	case epsilon == 0:
		return t, Missing("epsilon")
	case delta == 0 && kind != mechanism.Pure.String():
		return t, Missing("delta")
	}
	t.Kind, err = mechanism.KindByName(kind)
	return t, err
}

// Missing reports a field that has no default. It matches mechanism.ErrParam.
func Missing(field string) error {
	return fmt.Errorf("%w: %s is required and has no default", mechanism.ErrParam, field)
}

// flag returns a field that is 0 or 1. Other numbers are refused, since a promise of privacy
// must not rest on a guess.
func flag(value int32, field string) (bool, error) {
	if value != 0 && value != 1 {
		return false, fmt.Errorf("%w: %s is %d, want 0 or 1", mechanism.ErrParam, field, value)
	}
	return value == 1, nil
}
