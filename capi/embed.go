//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
)

// describing returns the rows and the settings of a function.
func describing(x *C.pm_rows, settings *C.pm_settings) (rows blas32.General, s *privatemail.Settings, err error) {
	if rows, err = rowsOf(x, "x"); err != nil {
		return rows, nil, err
	}
	s, err = settingsOf(settings)
	return rows, s, err
}

// placing returns the rows and the settings of a function that places each row in out. The
// engine writes there directly, which saves a copy.
func placing(x *C.pm_rows, settings *C.pm_settings, out *C.pm_matrix) (rows blas32.General, s *privatemail.Settings, err error) {
	if rows, s, err = describing(x, settings); err != nil {
		return rows, nil, err
	}
	if s.Into, err = matrixOf(out, "out"); err != nil {
		return rows, nil, err
	}
	return rows, s, checkOverlap([]span{spanOfRows("out", s.Into)}, []span{spanOfRows("x", rows), spanOfRows("start", s.Start)})
}

// placingLabelled is placing for a function that also takes labels, which may be NULL.
func placingLabelled(x *C.pm_rows, labels *C.int32_t, settings *C.pm_settings, out *C.pm_matrix) (rows blas32.General, y []int32, s *privatemail.Settings, err error) {
	if rows, s, err = placing(x, settings, out); err != nil {
		return rows, nil, nil, err
	}
	if y, err = labelsOf(labels, rows.Rows); err != nil {
		return rows, nil, nil, err
	}
	return rows, y, s, checkOverlap([]span{spanOfRows("out", s.Into)}, []span{spanOf("labels", y)})
}

//export pmgo_embed
func pmgo_embed(engine C.uintptr_t, x *C.pm_rows, labels *C.int32_t, settings *C.pm_settings, out *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_embed", func() error {
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, y, s, err := placingLabelled(x, labels, settings, out)
			if err != nil {
				return nil, err
			}
			return e.Embed(ctx, rows, y, s)
		})
	})
}

//export pmgo_converge
func pmgo_converge(engine C.uintptr_t, x *C.pm_rows, labels *C.int32_t, settings *C.pm_settings, out *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_converge", func() error {
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, y, s, err := placingLabelled(x, labels, settings, out)
			if err != nil {
				return nil, err
			}
			own, err := convergeSettings(s)
			if err != nil {
				return nil, err
			}
			return e.Converge(ctx, rows, y, own)
		})
	})
}

//export pmgo_map
func pmgo_map(engine C.uintptr_t, x *C.pm_rows, settings *C.pm_settings, out *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_map", func() error {
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, s, err := placing(x, settings, out)
			if err != nil {
				return nil, err
			}
			own, err := mapSettings(s)
			if err != nil {
				return nil, err
			}
			return e.Map(ctx, rows, own)
		})
	})
}
