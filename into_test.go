package privatemail

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// An intoCase is a call that makes points, with the number of their columns.
type intoCase struct {
	name string
	cols int
	call func(ctx context.Context, e *Engine, into blas32.General) (*mat.Dense, error)
}

// intoCases are the calls that take a buffer, all on the same rows.
func intoCases(t *testing.T, x blas32.General, y []int32) (all []intoCase) {
	embed := func(name string, cols int, s Settings) {
		all = append(all, intoCase{name, cols, func(ctx context.Context, e *Engine, into blas32.General) (*mat.Dense, error) {
			own := s
			own.Into = into
			out, err := e.Embed(ctx, x, y, &own)
			if err != nil {
				return nil, err
			}
			return out.Points, nil
		}})
	}
	embed("paper", 3, Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.7)}, Coefficient: 0.1, Dim: 3, SigmaQ: 1, Seed: 7})
	embed("attract", x.Cols, Settings{Graph: Graph{MeanNeighbours: 10}, Form: kernel.Attract, Coefficient: 2})
	embed("attract, unit rows", x.Cols, Settings{Graph: Graph{MeanNeighbours: 10, NormalizeRows: true}, Form: kernel.Attract})
	embed("start", 2, Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.7)}, Start: blas32.General{Rows: x.Rows, Cols: 2, Stride: x.Stride, Data: slices.Clone(x.Data)}})
	s, _ := paid(t)
	s.LabelMode = release.ModeDropped
	r, err := engine(t).Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	return append(all,
		intoCase{"converge", 4, func(ctx context.Context, e *Engine, into blas32.General) (*mat.Dense, error) {
			out, err := e.Converge(ctx, x, nil, &ConvergeSettings{Graph: Graph{Neighbours: 10}, Dim: 4, Into: into})
			if err != nil {
				return nil, err
			}
			return out.Points, nil
		}},
		intoCase{"map", 2, func(ctx context.Context, e *Engine, into blas32.General) (*mat.Dense, error) {
			out, err := e.Map(ctx, x, &MapSettings{Graph: Graph{Neighbours: 10}, Into: into})
			if err != nil {
				return nil, err
			}
			return out.Points, nil
		}},
		intoCase{"continue", r.Columns, func(ctx context.Context, e *Engine, into blas32.General) (*mat.Dense, error) {
			out, err := e.Continue(ctx, r, nil, &post.Settings{MeanNeighbours: 10, Into: into})
			if err != nil {
				return nil, err
			}
			return out.Points, nil
		}})
}

// The buffer gets the values that Points would have, and entries after the rows of the
// buffer are unchanged.
func TestIntoHasTheBitsOfPoints(t *testing.T) {
	x, y := classes(t, 300, 6)
	for _, c := range intoCases(t, x, y) {
		want, err := c.call(t.Context(), engine(t, WithWorkers(1)), blas32.General{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		stride := c.cols + 2
		into := blas32.General{Rows: x.Rows, Cols: c.cols, Stride: stride, Data: slices.Repeat([]float32{-7}, x.Rows*stride)}
		before := slices.Clone(x.Data)
		got, err := c.call(t.Context(), engine(t, WithWorkers(3)), into)
		if err != nil || got != nil {
			t.Fatalf("%s: points %v, %v", c.name, got, err)
		}
		if !slices.Equal(x.Data, before) {
			t.Errorf("%s: the features have changed", c.name)
		}
		for i := range x.Rows {
			for j, v := range into.Data[i*stride:][:stride] {
				if j >= c.cols && v != -7 || j < c.cols && float64(v) != want.At(i, j) {
					t.Fatalf("%s: row %d, column %d: other bits", c.name, i, j)
				}
			}
		}
	}
}

// A buffer that does not fit is refused before any work, and on an error nothing is written.
func TestIntoRefusesAndKeeps(t *testing.T) {
	x, y := classes(t, 300, 6)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e := engine(t)
	for _, c := range intoCases(t, x, y) {
		marked := slices.Repeat([]float32{-7}, 2*x.Rows*c.cols)
		for what, into := range map[string]blas32.General{
			"rows":      {Rows: x.Rows - 1, Cols: c.cols, Stride: c.cols, Data: marked},
			"columns":   {Rows: x.Rows, Cols: c.cols + 1, Stride: c.cols + 1, Data: marked},
			"short":     {Rows: x.Rows, Cols: c.cols, Stride: c.cols, Data: marked[:x.Rows*c.cols-1]},
			"no memory": {Rows: x.Rows, Cols: c.cols, Stride: c.cols},
			"absurd":    {Rows: x.Rows, Cols: c.cols, Stride: math.MaxInt, Data: marked},
		} {
			if _, err := c.call(t.Context(), e, into); !errors.Is(err, kernel.ErrShape) || !strings.Contains(err.Error(), "into: ") {
				t.Errorf("%s, %s: %v", c.name, what, err)
			}
		}
		if _, err := c.call(ended, e, blas32.General{Rows: x.Rows, Cols: c.cols, Stride: c.cols, Data: marked}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, v := range marked {
			if v != -7 {
				t.Fatalf("%s: the buffer was written to on an error", c.name)
			}
		}
	}
}

func TestIntoSharesNoMemoryWithFeatures(t *testing.T) {
	table := make([]float32, 8*300)
	x, _ := classes(t, 300, 6)
	for i := range x.Rows {
		copy(table[8*i:], x.Data[6*i:6*i+6])
	}
	x = blas32.General{Rows: 300, Cols: 6, Stride: 8, Data: table}
	e := engine(t)
	for name, c := range map[string]struct {
		features, into blas32.General
		want           error
	}{
		"the features": {x, x, sparse.ErrAlias},
		"next to them": {x, blas32.General{Rows: 300, Cols: 2, Stride: 8, Data: table[6:]}, sparse.ErrAlias},
		"one entry":    {blas32.General{Rows: 100, Cols: 6, Stride: 8, Data: table}, blas32.General{Rows: 100, Cols: 2, Stride: 2, Data: table[99*8+5:]}, sparse.ErrAlias},
		"behind them":  {blas32.General{Rows: 100, Cols: 6, Stride: 8, Data: table}, blas32.General{Rows: 100, Cols: 2, Stride: 2, Data: table[99*8+6:]}, nil},
	} {
		s := &Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.7)}, Dim: c.into.Cols, Into: c.into}
		_, errPlan := e.Plan(t.Context(), c.features, s)
		_, err := e.Embed(t.Context(), c.features, nil, s)
		_, errMap := e.Map(t.Context(), c.features, &MapSettings{Graph: Graph{Neighbours: 10}, Dim: c.into.Cols, Into: c.into})
		if !errors.Is(err, c.want) || !errors.Is(errPlan, c.want) || !errors.Is(errMap, c.want) {
			t.Errorf("%s: %v, %v, %v", name, errPlan, err, errMap)
		}
	}
}

// With a buffer, neither the start nor the points in float64 are allocated, and the memory limit
// does not count them.
func TestIntoTakesLessMemory(t *testing.T) {
	const n, k = 4000, 64
	x, _ := classes(t, n, k)
	into := blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
	s := Settings{Graph: Graph{Bandwidth: kernel.Sigma(60), Operator: "poly"}, Form: kernel.Attract}
	allocated := func(e *Engine, s Settings) (bytes float64, err error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = e.Embed(t.Context(), x, nil, &s)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc), err
	}
	with := s
	with.Into = into
	e := engine(t, WithWorkers(1))
	more, err := allocated(e, s)
	less, errInto := allocated(e, with)
	if err != nil || errInto != nil {
		t.Fatal(err, errInto)
	}
	// 4 for the start, 8 for float64, and perhaps the scratch memory that a kernel keeps.
	if saved := (more - less) / (n * k); saved < 10.7 || saved > 13.3 {
		t.Errorf("%.1f bytes an entry are saved, want 12", saved)
	}
	tight := engine(t, WithWorkers(1), WithMaxMemory(20*n*k))
	if _, err := allocated(tight, s); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("without a buffer: %v", err)
	}
	if _, err := allocated(tight, with); err != nil {
		t.Errorf("with a buffer: %v", err)
	}
}
