package privatemail

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// The distances are in the order of the weights, and belong to them.
func TestGraphDistances(t *testing.T) {
	x, _ := classes(t, 2500, 5) // more rows than a worker takes at a time
	e := engine(t, WithWorkers(2))
	for name, s := range map[string]*Graph{
		"radius":    {CutoffRadius: 0.2},
		"unit rows": {MeanNeighbours: 6, NormalizeRows: true},
		"compact":   {Neighbours: 4},
	} {
		g, err := e.NeighbourGraph(t.Context(), x, s)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, g.Weights.NNZ())
		if err := e.Distances(t.Context(), g, x, got); err != nil {
			t.Fatal(err)
		}
		rows := x
		if s.NormalizeRows {
			rows = blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float32, x.Rows*x.Cols)}
			if err := points.NormalizeRows(rows, x); err != nil {
				t.Fatal(err)
			}
		}
		ptr, ind, _ := g.Weights.Arrays()
		for i := range x.Rows {
			for at := ptr[i]; at < ptr[i+1]; at++ {
				d2 := 0.0
				for c := range x.Cols {
					diff := float64(rows.Data[i*rows.Stride+c]) - float64(rows.Data[int(ind[at])*rows.Stride+c])
					d2 += float64(diff * diff)
				}
				if want := float32(math.Sqrt(d2)); got[at] != want {
					t.Fatalf("%s: rows %d and %d are at %g, want %g", name, i, ind[at], got[at], want)
				}
			}
		}
	}
}

func TestGraphDistancesRefusals(t *testing.T) {
	x, _ := classes(t, 60, 3)
	e := engine(t)
	g, err := e.NeighbourGraph(t.Context(), x, &Graph{Neighbours: 4, NormalizeRows: true})
	if err != nil {
		t.Fatal(err)
	}
	into := make([]float32, g.Weights.NNZ())
	fewer, bad := x, blas32.General{Rows: 60, Cols: 3, Stride: 3, Data: make([]float32, 180)}
	fewer.Rows--
	first := x
	first.Data = append(slices.Clone(x.Data), make([]float32, len(into))...)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"no graph":      {e.Distances(t.Context(), nil, x, into), ErrSettings},
		"empty graph":   {e.Distances(t.Context(), new(NeighbourGraph), x, into), ErrSettings},
		"fewer rows":    {e.Distances(t.Context(), g, fewer, into), kernel.ErrShape},
		"no columns":    {e.Distances(t.Context(), g, blas32.General{Rows: 60, Stride: 3}, into), kernel.ErrEmpty},
		"its own rows":  {e.Distances(t.Context(), g, first, first.Data[len(x.Data)-1:][:len(into)]), sparse.ErrAlias},
		"behind rows":   {e.Distances(t.Context(), g, first, first.Data[len(x.Data):]), nil},
		"too little":    {e.Distances(t.Context(), g, x, into[1:]), kernel.ErrShape},
		"rows of zeros": {e.Distances(t.Context(), g, bad, into), ErrZeroRow},
		"no memory":     {engine(t, WithMaxMemory(64)).Distances(t.Context(), g, x, into), kernel.ErrMemory},
		"cancelled":     {e.Distances(cancelled, g, x, into), context.Canceled},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}
