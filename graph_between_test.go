package privatemail

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// part returns the rows lo to hi-1.
func part(x blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride:]}
}

// The graph between new rows and others has the same entries as the graph of all rows, bit for
// bit.
func TestGraphBetween(t *testing.T) {
	for _, d := range []int{2, 5, 24} {
		x, _ := classes(t, 1400, d)
		const n = 1390
		copy(x.Data[(n+3)*x.Stride:][:d], x.Data[77*x.Stride:]) // a new row that equals another one
		for name, s := range map[string]*Graph{
			"radius":    {CutoffRadius: 0.3},
			"bandwidth": {CutoffRadius: 0.3, Bandwidth: kernel.Sigma(0.05)},
			"unit rows": {CutoffRadius: 0.2, NormalizeRows: true},
			"all":       {CutoffRadius: 1e9, Bandwidth: kernel.Sigma(1e9)},
			"none":      {CutoffRadius: 1e-9},
		} {
			e := engine(t, WithWorkers(2))
			all, err := e.NeighbourGraph(t.Context(), x, s)
			if err != nil {
				t.Fatal(err)
			}
			far := make([]float32, all.Weights.NNZ())
			if err := e.Distances(t.Context(), all, x, far); err != nil {
				t.Fatal(err)
			}
			got, err := e.GraphBetween(t.Context(), part(x, 0, n), part(x, n, x.Rows), s)
			if err != nil {
				t.Fatal(err)
			}
			distances := make([]float32, got.Weights.NNZ())
			if err := e.Distances(t.Context(), got, part(x, 0, n), distances); err != nil {
				t.Fatal(err)
			}
			if rows, cols := got.Weights.Dims(); rows != x.Rows-n || cols != n || got.Graph.Radius != s.CutoffRadius || got.Graph.Bandwidth != all.Graph.Bandwidth {
				t.Fatalf("d=%d, %s: %d x %d, %v", d, name, rows, cols, got.Graph)
			}
			ptr, ind, val := all.Weights.Arrays()
			ptrNew, indNew, valNew := got.Weights.Arrays()
			for i := n; i < x.Rows; i++ {
				var columns []uint32
				var weights, dists []float32
				for at := ptr[i]; at < ptr[i+1]; at++ {
					if ind[at] < n {
						columns, weights, dists = append(columns, ind[at]), append(weights, val[at]), append(dists, far[at])
					}
				}
				lo, hi := ptrNew[i-n], ptrNew[i-n+1]
				if !slices.Equal(indNew[lo:hi], columns) || !slices.Equal(valNew[lo:hi], weights) || !slices.Equal(distances[lo:hi], dists) {
					t.Fatalf("d=%d, %s: new row %d has %d entries, want %d", d, name, i-n, hi-lo, len(columns))
				}
			}
			if at := ptrNew[3]; name != "all" && (indNew[at] > 77 || !slices.Contains(indNew[at:ptrNew[4]], 77)) {
				t.Errorf("d=%d, %s: an equal row is missing", d, name)
			}
		}
	}
}

func TestGraphBetweenRefusals(t *testing.T) {
	x, _ := classes(t, 60, 3)
	e := engine(t)
	bad := part(x, 0, 2)
	bad.Data = slices.Clone(bad.Data)
	bad.Data[4] = float32(math.NaN())
	narrow := x
	narrow.Cols = 2
	one := &Graph{CutoffRadius: 1}
	for name, c := range map[string]struct {
		x, q blas32.General
		s    *Graph
		want error
	}{
		"no settings":      {x, x, nil, ErrSettings},
		"no radius":        {x, x, &Graph{Bandwidth: kernel.Sigma(1)}, ErrSettings},
		"mean neighbours":  {x, x, &Graph{MeanNeighbours: 3}, ErrSettings},
		"neighbours":       {x, x, &Graph{Neighbours: 3, CutoffRadius: 1}, ErrSettings},
		"tiny radius":      {x, x, &Graph{CutoffRadius: 1e-200}, kernel.ErrBandwidth},
		"no queries":       {x, blas32.General{}, one, kernel.ErrEmpty},
		"other columns":    {x, narrow, one, kernel.ErrShape},
		"NaN in a query":   {x, bad, one, kernel.ErrNonFinite},
		"NaN in a feature": {bad, x, one, kernel.ErrNonFinite},
	} {
		if _, err := e.GraphBetween(t.Context(), c.x, c.q, c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	small := engine(t, WithMaxMemory(8<<10))
	if _, err := small.GraphBetween(t.Context(), x, part(x, 0, 30), &Graph{CutoffRadius: 1e9}); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("a memory limit that does not hold the neighbours: %v", err)
	}
	if _, err := small.GraphBetween(t.Context(), x, part(x, 0, 30), &Graph{CutoffRadius: 1e-9}); err != nil {
		t.Errorf("no neighbours: %v", err)
	}
}
