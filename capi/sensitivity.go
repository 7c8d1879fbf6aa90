//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"

	"github.com/seed-64e14a55/privatemail"
)

//export pmgo_sensitivity
func pmgo_sensitivity(n, d C.int64_t, settings *C.pm_private_settings, caller C.pmc_caller) C.pm_status {
	return guard("pm_sensitivity", func() error {
		if caller.call == 0 {
			return argument("call is NULL: the assessment is its report")
		}
		return withCall(caller, func(ctx context.Context) (any, error) {
			rows, err := countOf(int64(n), "n")
			if err != nil {
				return nil, err
			}
			columns, err := countOf(int64(d), "d")
			if err != nil {
				return nil, err
			}
			fields, err := privateFieldsOf(settings, rows)
			if err != nil {
				return nil, err
			}
			s, err := fields.Query()
			if err != nil {
				return nil, err
			}
			return privatemail.Sensitivity(ctx, rows, columns, s)
		})
	})
}
