//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"

	"github.com/seed-64e14a55/privatemail"
)

//export pmgo_plan
func pmgo_plan(engine C.uintptr_t, x *C.pm_rows, settings *C.pm_settings, spectral C.int32_t, call C.uintptr_t) C.pm_status {
	return guard("pm_plan", func() error {
		if call == 0 {
			return argument("call is NULL: the plan is its report")
		}
		return withEngine(engine, call, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, s, err := describing(x, settings)
			if err != nil {
				return nil, err
			}
			if spectral != 0 {
				return e.PlanMap(ctx, rows, s)
			}
			return e.Plan(ctx, rows, s)
		})
	})
}
