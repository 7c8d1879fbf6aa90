//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// missing reports a setting of a release that has no default.
func missing(field string) error {
	return fmt.Errorf("%w: %s is required and has no default", mechanism.ErrParam, field)
}

// flagOf returns a setting that is 0 or 1. What decides about privacy is not guessed from other
// numbers.
func flagOf(value C.int32_t, field string) (bool, error) {
	if value != 0 && value != 1 {
		return false, argument("%s is %d, want 0 or 1", field, int32(value))
	}
	return value == 1, nil
}

// privateSettingsOf returns the settings that decide about the query and its bound, and a copy of
// what they were made of. What concerns labels and the payer is left to paymentOf.
func privateSettingsOf(p *C.pm_private_settings) (*privatemail.PrivateSettings, *C.pm_private_settings, error) {
	if p == nil {
		return nil, nil, argument("settings is NULL")
	}
	s, err := sized(p, unsafe.Sizeof(*p), "pm_private_settings")
	if err != nil {
		return nil, nil, err
	}
	out := &privatemail.PrivateSettings{
		Epsilon: float64(s.epsilon), Delta: float64(s.delta), Alpha: float64(s.alpha),
		SigmaQ: float64(s.sigma_q), Seed: uint64(s.seed), Radius: float64(s.radius),
	}
	if s.sigma == 0 && s.gamma == 0 {
		return nil, nil, missing("sigma or gamma")
	}
	if out.Bandwidth, err = bandwidthOf(float64(s.sigma), float64(s.gamma)); err != nil {
		return nil, nil, err
	}
	for _, c := range []struct {
		name  string
		value C.int64_t
		to    *int
	}{{"records", s.records, &out.Records}, {"classes", s.classes, &out.Classes}, {"columns", s.columns, &out.Columns}} {
		if *c.to, err = countOf(int64(c.value), c.name); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range []struct {
		name  string
		value C.int32_t
		to    *bool
	}{{"normalize_rows", s.normalize_rows, &out.NormalizeRows}, {"rest_public", s.rest_public, &out.RestPublic}} {
		if *c.to, err = flagOf(c.value, c.name); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range []struct {
		name string
		text *C.char
		set  func(name string) error
	}{
		{"relation", s.relation, func(name string) (err error) { out.Relation, err = sensitivity.RelationByName(name); return err }},
		{"rule", s.rule, func(name string) (err error) { out.Rule, err = mechanism.RuleByName(name); return err }},
		{"table", s.table, func(name string) error { out.Table = name; return nil }},
		{"op", s.op, func(name string) error { out.Operator = name; return nil }},
	} {
		name, err := textOf(c.text, c.name)
		if err == nil && name != "" {
			err = c.set(name)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if out.Relation == 0 {
		return nil, nil, missing("relation")
	}
	if out.PrivateRows, err = privateRowsOf(&s); err != nil {
		return nil, nil, err
	}
	return out, &s, nil
}

// privateRowsOf returns the rows that may be private, nil where any may. An empty list is none:
// it would say that no row is.
func privateRowsOf(s *C.pm_private_settings) ([]int, error) {
	if s.private_rows == nil && s.private_count == 0 {
		return nil, nil
	}
	if s.private_count == 0 {
		return nil, argument("private_count is 0, and private_rows is not NULL")
	}
	list, err := array((*int64)(unsafe.Pointer(s.private_rows)), int64(s.private_count), "private_rows")
	if err != nil {
		return nil, err
	}
	rows := make([]int, len(list))
	for i, row := range list {
		if rows[i], err = countOf(row, "a private row"); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// paymentOf fills in what happens to labels and who pays. ledger is nil for none, which is right
// only where the caller has said that nothing is counted.
func paymentOf(s *C.pm_private_settings, ledger *mechanism.Ledger, out *privatemail.PrivateSettings) (err error) {
	switch {
	case s.epsilon == 0:
		return missing("epsilon")
	case s.delta == 0:
		return missing("delta")
	}
	if out.LabelMode, err = textOf(s.label_mode, "label_mode"); err != nil {
		return err
	}
	switch out.LabelMode {
	case "":
		return missing("label_mode")
	case release.ModePublic, release.ModeDropped, release.ModeRandomised:
	default:
		return fmt.Errorf("%w: no label_mode %q; there are %s, %s and %s", mechanism.ErrParam, out.LabelMode, release.ModePublic, release.ModeDropped, release.ModeRandomised)
	}
	out.LabelEpsilon = float64(s.label_epsilon)
	labels := mechanism.LabelSettings{Mode: out.LabelMode, Epsilon: out.LabelEpsilon}
	if err := labels.Check(out.Relation); err != nil { // a matter of settings: no label has been looked at
		return fmt.Errorf("%w: label_mode and label_epsilon: %v", mechanism.ErrParam, err)
	}
	if out.Classes == 0 && readsLabels(out) {
		return missing("classes")
	}
	return payerOf(s, ledger, out)
}

// readsLabels tells whether the release depends on labels.
func readsLabels(s *privatemail.PrivateSettings) bool {
	return s.Alpha != 0 || s.LabelMode == release.ModeRandomised
}

// payerOf fills in the ledger and the unit.
func payerOf(s *C.pm_private_settings, ledger *mechanism.Ledger, out *privatemail.PrivateSettings) error {
	uncounted, err := flagOf(s.uncounted, "uncounted")
	if err != nil {
		return err
	}
	if out.Unit, err = unitOf(s.unit, s.unit_kind); err != nil {
		return err
	}
	if out.Unit.New, err = flagOf(s.new_unit, "new_unit"); err != nil {
		return err
	}
	switch {
	case uncounted && ledger != nil:
		return argument("uncounted is 1, and there is a ledger")
	case uncounted:
		out.Ledger = mechanism.NoLedger
		if out.Unit.Name == "" {
			out.Unit.Name = "unnamed" // nobody reads it
		}
	case ledger == nil:
		return fmt.Errorf("%w: ledger is NULL: open one, or set uncounted to 1 where nothing is to be counted", mechanism.ErrParam)
	case out.Unit.Name == "":
		return missing("unit")
	default:
		out.Ledger = ledger
	}
	if out.Unit.Kind == mechanism.UnitClient && out.Records == 0 {
		return fmt.Errorf("%w: records is required for the unit_kind client: a client pays for all its rows", mechanism.ErrParam)
	}
	return nil
}

// unitOf returns a unit; a kind of NULL stands for a record.
func unitOf(name, kind *C.char) (u mechanism.Unit, err error) {
	if u.Name, err = textOf(name, "unit"); err != nil {
		return u, err
	}
	if u.Kind, err = textOf(kind, "unit_kind"); err != nil {
		return u, err
	}
	switch u.Kind {
	case "":
		u.Kind = mechanism.UnitRecord
	case mechanism.UnitRecord, mechanism.UnitClient:
	default:
		return u, fmt.Errorf("%w: no unit_kind %q; there are %s and %s", mechanism.ErrParam, u.Kind, mechanism.UnitRecord, mechanism.UnitClient)
	}
	return u, nil
}
