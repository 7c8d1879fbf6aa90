package privatemail

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

func sameSize(x blas32.General, data []float32) blas32.General {
	return blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: data}
}

// Points that overwrite a buffer, or the features, have the same bits as others.
func TestOverwriteHasTheBitsOfPoints(t *testing.T) {
	for name, c := range map[string]struct {
		n, d int
		s    Settings
	}{
		"many columns": {400, 20, Settings{Graph: Graph{MeanNeighbours: 10}, Coefficient: 2}},
		"neighbours":   {400, 20, Settings{Graph: Graph{Neighbours: 5}}},
		"unit rows":    {400, 20, Settings{Graph: Graph{MeanNeighbours: 10, NormalizeRows: true}}},
		"few columns":  {400, 3, Settings{Graph: Graph{MeanNeighbours: 10}, Coefficient: 2}},
		"pairs":        {400, 3, Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.7), CutoffWeight: 0.01, Operator: "pairs"}}},
	} {
		x, y := classes(t, c.n, c.d)
		c.s.Form, c.s.Steps = kernel.Attract, 3
		e := engine(t)
		embed := func(features, into blas32.General, overwrite bool) []float32 {
			s := c.s
			s.Into, s.Overwrite = into, overwrite
			if _, err := e.Embed(t.Context(), features, y, &s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return into.Data
		}
		before := slices.Clone(x.Data)
		want := embed(x, sameSize(x, make([]float32, len(x.Data))), false)
		if got := embed(x, sameSize(x, make([]float32, len(x.Data))), true); !slices.Equal(got, want) {
			t.Errorf("%s: other bits in a buffer", name)
		}
		if !slices.Equal(x.Data, before) {
			t.Errorf("%s: the features have changed", name)
		}
		if got := embed(x, x, true); !slices.Equal(got, want) {
			t.Errorf("%s: other bits in the place of the features", name)
		}
	}
}

func TestOverwriteRefuses(t *testing.T) {
	x, _ := classes(t, 300, 20)
	before := slices.Clone(x.Data)
	e := engine(t)
	for name, c := range map[string]struct {
		s    Settings
		want error
	}{
		"graph of every pair": {Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Into: x}, sparse.ErrAlias},
		"dense":               {Settings{Graph: Graph{MeanNeighbours: 10, Operator: "dense"}, Into: x}, sparse.ErrAlias},
		"one row off":         {Settings{Graph: Graph{MeanNeighbours: 10}, Into: blas32.General{Rows: 299, Cols: 20, Stride: 20, Data: x.Data[20:]}}, kernel.ErrShape},
		"a start":             {Settings{Graph: Graph{MeanNeighbours: 10}, Into: x, Start: x}, sparse.ErrAlias},
		"stops by itself":     {Settings{Graph: Graph{MeanNeighbours: 10}, Into: x, StopTolerance: 1e-3}, ErrSettings},
		"normalised":          {Settings{Graph: Graph{MeanNeighbours: 10}, Into: x, Normalize: iterate.Centred}, ErrSettings},
	} {
		c.s.Form, c.s.Overwrite = kernel.Attract, true
		if _, err := e.Embed(t.Context(), x, nil, &c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !slices.Equal(x.Data, before) {
		t.Error("the features have changed")
	}
}

// Overwrite saves memory, and the memory limit does not count it.
func TestOverwriteTakesLessMemory(t *testing.T) {
	const n, k = 4000, 64
	x, _ := classes(t, n, k)
	s := Settings{Graph: Graph{MeanNeighbours: 5}, Form: kernel.Attract, Into: sameSize(x, make([]float32, n*k))}
	e := engine(t, WithWorkers(1))
	allocated := func(overwrite bool) float64 {
		s.Overwrite = overwrite
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Embed(t.Context(), x, nil, &s); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	allocated(false) // memory that only the first call takes
	more, less := allocated(false), allocated(true)
	if saved := (more - less) / (n * k); saved < 6 || saved > 8 { // two iterates of 56 of 64 columns
		t.Errorf("%.1f bytes an entry are saved, want 7", saved)
	}
	full := s
	full.Overwrite, full.Dim = false, k
	some := full
	some.Overwrite = true
	if saved := (full.pointBytes(x) - some.pointBytes(x)) / (n * k); saved != 7 {
		t.Errorf("the memory limit counts %g bytes an entry less, want 7", saved)
	}
	if some.Into = x; some.pointBytes(x) != 8*8*n {
		t.Errorf("%g bytes in the place of the features, want two copies of 8 columns", some.pointBytes(x))
	}
}
