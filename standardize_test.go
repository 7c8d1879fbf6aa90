package privatemail

import (
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Standardize equals standardizing before the call, also with NormalizeRows, and the memory limit
// counts the copy.
func TestStandardize(t *testing.T) {
	x, y, err := synth.Classes(200, 6, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Rows {
		x.Data[i*x.Stride] *= 1000
	}
	z := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float32, x.Rows*x.Cols)}
	if err := points.StandardizeColumns(z, x); err != nil {
		t.Fatal(err)
	}
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := slices.Clone(x.Data)
	for _, unit := range []bool{false, true} {
		with := Settings{Graph: Graph{Neighbours: 8, Standardize: true, NormalizeRows: unit}, Form: kernel.Attract, Coefficient: 1}
		without := with
		without.Standardize = false
		got, err := e.Embed(t.Context(), x, y, &with)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.Embed(t.Context(), z, y, &without)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Points.RawMatrix().Data, want.Points.RawMatrix().Data) {
			t.Errorf("unit rows %v: another embedding", unit)
		}
		g, err := e.NeighbourGraph(t.Context(), x, &Graph{Neighbours: 8, Standardize: true, NormalizeRows: unit})
		if err != nil {
			t.Fatal(err)
		}
		h, err := e.NeighbourGraph(t.Context(), z, &Graph{Neighbours: 8, NormalizeRows: unit})
		if err != nil {
			t.Fatal(err)
		}
		a, b := make([]float32, g.Weights.NNZ()), make([]float32, h.Weights.NNZ())
		if err := errors.Join(e.Distances(t.Context(), g, x, a), e.Distances(t.Context(), h, z, b)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a, b) {
			t.Errorf("unit rows %v: other distances", unit)
		}
	}
	if !slices.Equal(before, x.Data) {
		t.Error("the features have changed")
	}
	if _, err := e.GraphBetween(t.Context(), x, x, &Graph{CutoffRadius: 1, Standardize: true}); !errors.Is(err, ErrSettings) {
		t.Error(err)
	}
	plan := func(standardize bool) int64 {
		p, err := e.Plan(t.Context(), x, &Settings{Graph: Graph{Neighbours: 8, Standardize: standardize}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Candidates[0].Cost.PeakBytes
	}
	if got, want := plan(true)-plan(false), int64(4*x.Rows*x.Cols); got != want {
		t.Errorf("a plan counts %d bytes more, want %d", got, want)
	}
}
