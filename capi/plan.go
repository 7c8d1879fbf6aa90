//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"

	"github.com/seed-64e14a55/privatemail"
)

//export pmgo_plan
func pmgo_plan(engine C.uintptr_t, x *C.pm_rows, settings *C.pm_settings, spectral C.int32_t, caller C.pmc_caller) C.pm_status {
	return guard("pm_plan", func() error {
		if caller.call == 0 {
			return argument("call is NULL: the plan is its report")
		}
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, s, err := describing(x, settings)
			if err != nil {
				return nil, err
			}
			ofMap := false
			if err := setFlags([]flagField{{"map", spectral, &ofMap}}); err != nil {
				return nil, err
			}
			if !ofMap {
				return e.Plan(ctx, rows, s)
			}
			own, err := mapSettings(s)
			if err != nil {
				return nil, err
			}
			return e.PlanMap(ctx, rows, own)
		})
	})
}
