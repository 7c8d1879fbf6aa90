//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// asking returns the rows of x and the queries to look up among them.
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
func pmgo_nearest(engine C.uintptr_t, x, queries *C.pm_rows, k C.int64_t, indexBytes C.int32_t, ids unsafe.Pointer, distances *C.float, caller C.pmc_caller) C.pm_status {
	return guard("pm_nearest", func() error {
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
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
			answers := int64(answered) * int64(k)
			far, err := wanted((*float32)(distances), answers, "distances")
			if err != nil {
				return nil, err
			}
			read := []span{spanOfRows("x", rows), spanOfRows("queries", asked)}
			switch indexBytes {
			case 4:
				to, err := wanted((*int32)(ids), answers, "ids")
				if err == nil {
					err = checkOverlap([]span{spanOf("ids", to), spanOf("distances", far)}, read)
				}
				if err != nil {
					return nil, err
				}
				return struct{}{}, e.Nearest32(ctx, rows, asked, int(k), to, far)
			case 8:
				to, err := wanted((*int64)(ids), answers, "ids")
				if err == nil {
					err = checkOverlap([]span{spanOf("ids", to), spanOf("distances", far)}, read)
				}
				if err != nil {
					return nil, err
				}
				return struct{}{}, e.Nearest(ctx, rows, asked, int(k), to, far)
			}
			return nil, argument("index_bytes is %d, want 4 or 8", int32(indexBytes))
		})
	})
}

// wanted returns an array of the caller, nil if the caller wants none.
func wanted[T any](data *T, count int64, name string) ([]T, error) {
	if data == nil {
		return nil, nil
	}
	return array(data, count, name)
}
