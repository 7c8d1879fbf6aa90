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
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A graphReport is the report of a function that builds a graph, with the same fields as in
// iterate.Embedding.
type graphReport struct {
	Graph iterate.Graph `json:"graph"`
}

//export pmgo_graph_new
func pmgo_graph_new(engine C.uintptr_t, x *C.pm_rows, settings *C.pm_settings, id *C.uintptr_t, caller C.pmc_caller) C.pm_status {
	return guard("pm_graph_new", func() error {
		return newGraph(engine, x, settings, id, caller, func(ctx context.Context, e *privatemail.Engine, rows blas32.General, settings *privatemail.Graph) (graph, report any, err error) {
			g, err := e.NeighbourGraph(ctx, rows, settings)
			if err != nil {
				return nil, nil, err
			}
			return g, graphReport{g.Graph}, nil
		})
	})
}

//export pmgo_graph_between
func pmgo_graph_between(engine C.uintptr_t, x, queries *C.pm_rows, settings *C.pm_settings, id *C.uintptr_t, caller C.pmc_caller) C.pm_status {
	return guard("pm_graph_between", func() error {
		return newGraph(engine, x, settings, id, caller, func(ctx context.Context, e *privatemail.Engine, rows blas32.General, settings *privatemail.Graph) (graph, report any, err error) {
			asked, err := rowsOf(queries, "queries")
			if err != nil {
				return nil, nil, err
			}
			g, err := e.GraphBetween(ctx, rows, given(asked), settings)
			return g, struct{}{}, err
		})
	})
}

// newGraph returns to the caller a handle of the graph that build makes of rows.
func newGraph(engine C.uintptr_t, x *C.pm_rows, settings *C.pm_settings, id *C.uintptr_t, caller C.pmc_caller, build func(ctx context.Context, e *privatemail.Engine, rows blas32.General, settings *privatemail.Graph) (graph, report any, err error)) error {
	if id == nil {
		return argument("graph is NULL")
	}
	return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
		rows, s, err := describing(x, settings)
		if err != nil {
			return nil, err
		}
		graph, report, err := build(ctx, e, rows, &s.Graph)
		if err != nil {
			return nil, err
		}
		*id = C.uintptr_t(handles.add(graph))
		return report, nil
	})
}

//export pmgo_graph_size
func pmgo_graph_size(id C.uintptr_t, rows, nonzeros *C.int64_t) C.pm_status {
	return guard("pm_graph_size", func() error {
		g, done, err := use[*privatemail.NeighbourGraph](&handles, uintptr(id), "graph")
		if err != nil {
			return err
		}
		defer done()
		return giveNumbers(number{"rows", rows, g.Weights.Rows()}, number{"nonzeros", nonzeros, g.Weights.NNZ()})
	})
}

//export pmgo_graph_copy
func pmgo_graph_copy(id C.uintptr_t, indexBytes C.int32_t, indptr, indices unsafe.Pointer, weights *C.float) C.pm_status {
	return guard("pm_graph_copy", func() error {
		g, done, err := use[*privatemail.NeighbourGraph](&handles, uintptr(id), "graph")
		if err != nil {
			return err
		}
		defer done()
		var values []float32
		if weights != nil {
			if values, err = array((*float32)(weights), int64(g.Weights.NNZ()), "weights"); err != nil {
				return err
			}
		}
		switch indexBytes {
		case 4:
			if g.Weights.Rows() > math.MaxInt32 || g.Weights.NNZ() > math.MaxInt32 {
				return fmt.Errorf("%w: %d rows and %d weights do not fit in indices of 4 bytes", points.ErrShape, g.Weights.Rows(), g.Weights.NNZ())
			}
			return copyGraph(g.Weights, (*int32)(indptr), (*int32)(indices), values)
		case 8:
			return copyGraph(g.Weights, (*int64)(indptr), (*int64)(indices), values)
		}
		return argument("index_bytes is %d, want 4 or 8", int32(indexBytes))
	})
}

// copyGraph writes compressed rows to the arrays of the caller, any of which may be missing.
func copyGraph[T int32 | int64](g *sparse.CSR, indptr, indices *T, values []float32) error {
	var ptr, ind []T
	var err error
	if indptr != nil {
		if ptr, err = array(indptr, int64(g.Rows())+1, "indptr"); err != nil {
			return err
		}
	}
	if indices != nil {
		if ind, err = array(indices, int64(g.NNZ()), "indices"); err != nil {
			return err
		}
	}
	if err := checkOverlap([]span{spanOf("indptr", ptr), spanOf("indices", ind), spanOf("weights", values)}, nil); err != nil {
		return err
	}
	if ptr != nil {
		ptr[0] = 0
	}
	var buffer sparse.RowBuffer // one row at a time, without a second copy of the graph
	at := 0
	for i := range g.Rows() {
		columns, weights := g.Row(i, &buffer)
		if ind != nil {
			for e, j := range columns {
				ind[at+e] = T(j)
			}
		}
		if values != nil {
			copy(values[at:], weights)
		}
		at += len(columns)
		if ptr != nil {
			ptr[i+1] = T(at)
		}
	}
	return nil
}

//export pmgo_graph_distances
func pmgo_graph_distances(engine, id C.uintptr_t, x *C.pm_rows, distances *C.float, caller C.pmc_caller) C.pm_status {
	return guard("pm_graph_distances", func() error {
		g, done, err := use[*privatemail.NeighbourGraph](&handles, uintptr(id), "graph")
		if err != nil {
			return err
		}
		defer done()
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, err := rowsOf(x, "x")
			if err != nil {
				return nil, err
			}
			into, err := array((*float32)(distances), int64(g.Weights.NNZ()), "distances")
			if err != nil {
				return nil, err
			}
			if err := checkOverlap([]span{spanOf("distances", into)}, []span{spanOfRows("x", rows)}); err != nil {
				return nil, err
			}
			return struct{}{}, e.Distances(ctx, g, rows, into)
		})
	})
}

//export pmgo_graph_free
func pmgo_graph_free(id C.uintptr_t) C.pm_status {
	return guard("pm_graph_free", func() error { return free[*privatemail.NeighbourGraph](&handles, uintptr(id), "graph") })
}
