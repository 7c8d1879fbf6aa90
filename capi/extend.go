//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"

	"github.com/seed-64e14a55/privatemail"
)

//export pmgo_extend
func pmgo_extend(engine C.uintptr_t, x, embedding, queries *C.pm_rows, k C.int64_t, out *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_extend", func() error {
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, asked, err := asking(x, queries)
			if err != nil {
				return nil, err
			}
			places, err := rowsOf(embedding, "embedding")
			if err != nil {
				return nil, err
			}
			into, err := matrixOf(out, "out")
			if err != nil {
				return nil, err
			}
			count, err := countOf(int64(k), "k")
			if err != nil {
				return nil, err
			}
			if err := checkOverlap([]span{spanOfRows("out", into)}, []span{spanOfRows("x", rows), spanOfRows("embedding", places), spanOfRows("queries", asked)}); err != nil {
				return nil, err
			}
			return struct{}{}, e.Extend(ctx, rows, places, asked, count, into)
		})
	})
}
