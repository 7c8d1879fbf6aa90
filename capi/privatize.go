//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/capi/internal/private"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

// pmgo_privatize may return a handle together with an error: if the only failure is that the
// ledger could not record the release, the release has been paid for.
//
//export pmgo_privatize
func pmgo_privatize(engine C.uintptr_t, x *C.pm_rows, labels *C.int32_t, settings *C.pm_private_settings, ledger C.uintptr_t, id *C.uintptr_t, caller C.pmc_caller) C.pm_status {
	return guard("pm_privatize", func() error {
		if id == nil {
			return argument("release is NULL")
		}
		var payer mechanism.Budget
		if ledger != 0 {
			l, done, err := use[*mechanism.Ledger](&handles, uintptr(ledger), "ledger")
			if err != nil {
				return err
			}
			defer done()
			payer = l
		}
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, err := rowsOf(x, "x")
			if err != nil {
				return nil, err
			}
			fields, err := privateFieldsOf(settings, rows.Rows)
			if err != nil {
				return nil, err
			}
			s, err := fields.Settings(payer)
			if err != nil {
				return nil, err
			}
			var y []int32
			if private.ReadsLabels(s) { // otherwise they are not read
				if y, err = labelsOf(labels, rows.Rows); err != nil {
					return nil, err
				}
			}
			r, err := e.Privatize(ctx, rows, y, s)
			if r != nil {
				*id = C.uintptr_t(handles.add(r))
			}
			return summary{r}, err
		})
	})
}

// A summary is the report of a function that makes a release.
type summary struct{ *release.Release }

// MarshalJSON implements json.Marshaler: the release without its numbers.
func (s summary) MarshalJSON() ([]byte, error) { return s.Summary() }

//export pmgo_continue
func pmgo_continue(engine, id C.uintptr_t, labels *C.int32_t, settings *C.pm_settings, useCoefficient C.int32_t, out *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_continue", func() error {
		r, done, err := use[*release.Release](&handles, uintptr(id), "release")
		if err != nil {
			return err
		}
		defer done()
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			s, err := continueSettings(settings, useCoefficient)
			if err != nil {
				return nil, err
			}
			if s.Into, err = matrixOf(out, "out"); err != nil {
				return nil, err
			}
			y, err := labelsOf(labels, r.Rows)
			if err != nil {
				return nil, err
			}
			if err := checkOverlap([]span{spanOfRows("out", s.Into)}, []span{spanOf("public_labels", y)}); err != nil {
				return nil, err
			}
			var public *release.PublicLabels
			if y != nil {
				if public, err = release.Declare(y, r.Query.Classes); err != nil {
					return nil, err
				}
			}
			return e.Continue(ctx, r, public, s)
		})
	})
}

// continueSettings returns the settings of later steps; NULL means the defaults.
func continueSettings(p *C.pm_settings, useCoefficient C.int32_t) (*post.Settings, error) {
	ownCoefficient := false
	if err := setFlags([]flagField{{"use_coefficient", useCoefficient, &ownCoefficient}}); err != nil {
		return nil, err
	}
	if p == nil {
		return new(post.Settings), nil
	}
	s, err := settingsOf(p)
	if err != nil {
		return nil, err
	}
	if s.CutoffRadius != 0 || s.Neighbours != 0 {
		return nil, fmt.Errorf("%w: later steps take neither a radius nor a number of nearest neighbours", privatemail.ErrSettings)
	}
	out := &post.Settings{
		Bandwidth: s.Bandwidth, MeanNeighbours: s.MeanNeighbours, CutoffWeight: s.CutoffWeight, Tolerance: s.Tolerance,
		Operator: s.Operator, Isolated: s.Isolated, Steps: s.Steps, StopTolerance: s.StopTolerance, Normalize: s.Normalize,
	}
	if ownCoefficient {
		out.Alpha = &s.Coefficient
	}
	return out, nil
}
