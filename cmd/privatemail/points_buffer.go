package main

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/points"
)

// pointsBuffer returns memory for points, which an Engine computes and a file has in float32.
// It is empty where the budget or the machine has no room for it, without the rest that
// points take: the Engine says so better.
func (f *workFlags) pointsBuffer(rows, cols int) (into blas32.General) {
	room := min(cmp.Or(f.budget, mem.Budget()), mem.Available(), mem.AddressSpace/5)
	if 4*float64(rows)*float64(cols) >= float64(room) {
		return into
	}
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

// inSingle returns the points that went to the buffer, or, where that was empty, those in m.
func inSingle(into blas32.General, m *mat.Dense) blas32.General {
	if m == nil {
		return into
	}
	return points.Single(m.RawMatrix())
}

// writePoints writes a file of points.
func writePoints(ctx context.Context, path string, x blas32.General) error {
	return formats.WriteMatrix(ctx, path, x.Rows, x.Cols, x.Data)
}
