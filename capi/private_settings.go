//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/capi/internal/private"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// privateFieldsOf returns a copy of the fields of private settings for the given number of
// rows. Package private interprets them.
func privateFieldsOf(p *C.pm_private_settings, rows int) (*private.Fields, error) {
	if p == nil {
		return nil, argument("settings is NULL")
	}
	// The first version ended before other_relation.
	s, err := sized(p, unsafe.Offsetof(p.other_relation), "pm_private_settings", unsafe.Offsetof(p.private_rows))
	if err != nil {
		return nil, err
	}
	if err := checkFinite(mechanism.ErrParam, []numberField{
		{"epsilon", s.epsilon}, {"delta", s.delta}, {"label_epsilon", s.label_epsilon}, {"sigma", s.sigma}, {"gamma", s.gamma}, {"alpha", s.alpha},
		{"sigma_q", s.sigma_q}, {"radius", s.radius},
	}); err != nil {
		return nil, err
	}
	out := &private.Fields{
		Epsilon: float64(s.epsilon), Delta: float64(s.delta), LabelEpsilon: float64(s.label_epsilon),
		NewUnit: int32(s.new_unit), NormalizeRows: int32(s.normalize_rows), RestPublic: int32(s.rest_public), Uncounted: int32(s.uncounted),
		OtherRelation: int32(s.other_relation),
		Alpha:         float64(s.alpha), SigmaQ: float64(s.sigma_q), Radius: float64(s.radius), Seed: uint64(s.seed),
	}
	if out.Bandwidth, err = bandwidthOf(float64(s.sigma), float64(s.gamma)); err != nil {
		return nil, err
	}
	if err := setCounts([]countField{
		{"records", s.records, &out.Records}, {"classes", s.classes, &out.Classes}, {"dim", s.dim, &out.Dim},
	}); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name string
		text *C.char
		to   *string
	}{
		{"relation", s.relation, &out.Relation}, {"label_mode", s.label_mode, &out.LabelMode}, {"unit", s.unit, &out.Unit},
		{"unit_kind", s.unit_kind, &out.UnitKind}, {"rule", s.rule, &out.Rule}, {"table", s.table, &out.Table}, {"op", s.op, &out.Operator},
	} {
		if *c.to, err = textOf(c.text, c.name); err != nil {
			return nil, err
		}
	}
	if s.private_rows == nil && s.private_count == 0 {
		return out, nil
	}
	// Checked before memory is allocated for the list: the engine has no rows beyond 32 bits.
	if int64(s.private_count) > min(int64(rows), math.MaxUint32) {
		return nil, fmt.Errorf("private_count: %w: %d private rows of %d", points.ErrShape, int64(s.private_count), rows)
	}
	list, err := array((*int64)(s.private_rows), int64(s.private_count), "private_rows")
	if err != nil {
		return nil, err
	}
	out.PrivateRows = make([]int, len(list))
	for i, row := range list {
		if out.PrivateRows[i], err = countOf(row, "a private row"); err != nil {
			return nil, err
		}
	}
	return out, nil
}
