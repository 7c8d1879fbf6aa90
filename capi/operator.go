//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"

	"github.com/seed-64e14a55/privatemail"
)

// An operator is the value of a pm_operator.
type operator struct {
	kernel *privatemail.Kernel
	engine C.uintptr_t // its products use the workers and the memory limit of this engine
}

// Close releases the memory of the kernel. The registry calls it when no product is running, so
// it does not wait, and a progress function may free the handle.
func (o *operator) Close() error {
	_ = o.kernel.Close()
	return nil
}

//export pmgo_operator_new
func pmgo_operator_new(engine C.uintptr_t, x *C.pm_rows, settings *C.pm_settings, id *C.uintptr_t, caller C.pmc_caller) C.pm_status {
	return guard("pm_operator_new", func() error {
		if id == nil {
			return argument("op is NULL")
		}
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, s, err := describing(x, settings)
			if err != nil {
				return nil, err
			}
			k, err := e.Kernel(ctx, rows, &privatemail.KernelSettings{Graph: s.Graph, Products: s.Steps, Columns: s.Dim})
			if err != nil {
				return nil, err
			}
			*id = C.uintptr_t(handles.add(&operator{k, engine}))
			return graphReport{k.Graph()}, nil
		})
	})
}

//export pmgo_operator_apply
func pmgo_operator_apply(id C.uintptr_t, v *C.pm_rows, out *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_operator_apply", func() error {
		o, done, err := use[*operator](&handles, uintptr(id), "operator")
		if err != nil {
			return err
		}
		defer done()
		return withEngine(o.engine, caller, func(ctx context.Context, _ *privatemail.Engine) (any, error) {
			from, err := rowsOf(v, "v")
			if err != nil {
				return nil, err
			}
			to, err := matrixOf(out, "out")
			if err != nil {
				return nil, err
			}
			if err := checkOverlap([]span{spanOfRows("out", to)}, []span{spanOfRows("v", from)}); err != nil {
				return nil, err
			}
			return struct{}{}, o.kernel.Apply(ctx, to, from)
		})
	})
}

//export pmgo_operator_free
func pmgo_operator_free(id C.uintptr_t) C.pm_status {
	return guard("pm_operator_free", func() error { return free[*operator](&handles, uintptr(id), "operator") })
}
