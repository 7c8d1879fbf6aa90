//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/points"
)

// asking returns the rows of x and the queries that are looked up among them.
func asking(x, queries *C.pm_rows) (rows, asked blas32.General, err error) {
	if rows, err = rowsOf(x, "x"); err != nil {
		return rows, asked, err
	}
	if asked, err = rowsOf(queries, "queries"); err != nil {
		return rows, asked, err
	}
	return rows, given(asked), nil
}

//export pmgo_nearest
func pmgo_nearest(engine C.uintptr_t, x, queries *C.pm_rows, k C.int64_t, ids *C.int64_t, distances *C.float, call C.uintptr_t) C.pm_status {
	return guard("pm_nearest", func() error {
		return withEngine(engine, call, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			var rows, asked blas32.General
			var err error
			answered := 0
			if queries != nil {
				rows, asked, err = asking(x, queries)
				answered = asked.Rows
			} else {
				rows, err = rowsOf(x, "x")
				answered = rows.Rows
			}
			if err != nil {
				return nil, err
			}
			if k < 1 || int64(k) > int64(rows.Rows) || int64(answered) > math.MaxInt64/int64(k) {
				return nil, fmt.Errorf("k: %w: %d neighbours among %d rows", points.ErrShape, int64(k), rows.Rows)
			}
			var to []int64
			if ids != nil {
				if to, err = array((*int64)(ids), int64(answered)*int64(k), "ids"); err != nil {
					return nil, err
				}
			}
			var far []float32
			if distances != nil {
				if far, err = array((*float32)(distances), int64(answered)*int64(k), "distances"); err != nil {
					return nil, err
				}
			}
			return struct{}{}, e.Nearest(ctx, rows, asked, int(k), to, far)
		})
	})
}
