package files

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// PointsBuffer returns memory for points, which an Engine computes and a file has in float32.
// It is empty where the memory limit or the machine has no room for it, without the rest that
// points take: the Engine has the better error. Of several ranks all have the buffer or none: the
// Engines plan with it.
func PointsBuffer(ctx context.Context, f *settings.Work, e *cli.Env, rows, cols int) (into blas32.General, err error) {
	here := int64(e.RanksHere())
	room := min(cmp.Or(f.MaxMemory, mem.DefaultLimit()/here), mem.Available()/here, mem.AddressSpace/5)
	if room, err = leastOf(ctx, e.Ranks(), room); err != nil || 4*float64(rows)*float64(cols) >= float64(room) {
		return into, err
	}
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}, nil
}

// InSingle returns the points that went to the buffer, or, where that was empty, those in m.
func InSingle(into blas32.General, m *mat.Dense) blas32.General {
	if m == nil {
		return into
	}
	return points.Single(m.RawMatrix())
}
