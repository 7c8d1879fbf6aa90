package paper

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// released returns a release of four rows of nothing but noise.
func released(t testing.TB, mode string) *release.Release {
	t.Helper()
	q := blas64.General{Rows: 4, Cols: 1, Stride: 1, Data: []float64{1, 2, 3, 5}}
	query := sensitivity.Query{Operator: sensitivity.Full{}, Sigma: 2, Alpha: 0.5, Table: sensitivity.Equal{Classes: 3}}
	bound, err := query.Tight(sensitivity.FeaturesReplace, q, sensitivity.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	eta, err := query.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 3})
	if err != nil {
		t.Fatal(err)
	}
	if bound, err = bound.Inflate(eta); err != nil {
		t.Fatal(err)
	}
	c, err := mechanism.Calibrate(mechanism.CalibrationSettings{Epsilon: 4, Delta: 1e-4, Sensitivity: bound, Reach: 10})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Privatize(t.Context(), mechanism.NoLedger, mechanism.FirstStep{
		Displacement: blas64.General{Rows: 4, Cols: 1, Stride: 1, Data: make([]float64, 4)},
		Query:        release.Query{Sigma: 2, Alpha: 0.5, Table: "equal", Classes: 3, SigmaQ: 1, Seed: 5},
		Unit:         mechanism.Unit{Kind: release.UnitRecord, Name: "x"},
		Labels:       mechanism.LabelSettings{Mode: mode},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func question(t testing.TB) *Question {
	return &Question{Public: [32]byte{1, 2, 3}, Release: released(t, release.ModePublic), Labels: []int32{0, 2, 1, 1}}
}

func matches() *Matches {
	return &Matches{Question: [16]byte{9}, Hidden: 2, Each: 3, IDs: []int64{5, 0, math.MaxInt64, 1, 5, 2}, Distances: []float64{0, 0, 1.5, 0.25, 0.5, 1e300}}
}

func TestMatchesOfARow(t *testing.T) {
	m := matches()
	ids, distances := m.Row(1)
	if !slices.Equal(ids, m.IDs[3:]) || !slices.Equal(distances, m.Distances[3:]) {
		t.Errorf("row 1 is %v at %v", ids, distances)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	if err := question(t).Check(); err != nil {
		t.Error(err)
	}
}

func TestQuestionRefuses(t *testing.T) {
	dropped := released(t, release.ModeDropped)
	damaged := *dropped
	damaged.Grid = damaged.Grid[1:]
	for name, c := range map[string]struct {
		question Question
		want     error
	}{
		"no release":                  {Question{}, ErrQuestion},
		"damaged release":             {Question{Release: &damaged}, release.ErrRelease},
		"labels of a dropped release": {Question{Release: dropped, Labels: make([]int32, 4)}, ErrQuestion},
		"no labels of a public one":   {Question{Release: question(t).Release}, ErrQuestion},
		"too few labels":              {Question{Release: question(t).Release, Labels: make([]int32, 3)}, ErrQuestion},
		"a label too large":           {Question{Release: question(t).Release, Labels: []int32{0, 0, 0, 3}}, ErrQuestion},
		"a negative label":            {Question{Release: question(t).Release, Labels: []int32{0, 0, 0, -1}}, ErrQuestion},
	} {
		if err := c.question.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMatchesRefuse(t *testing.T) {
	for name, change := range map[string]func(*Matches){
		"no rows":              func(m *Matches) { m.Hidden = 0 },
		"an id twice":          func(m *Matches) { m.IDs[5] = 1 },
		"no matches":           func(m *Matches) { m.Each = 0 },
		"a product too large":  func(m *Matches) { m.Hidden, m.Each = math.MaxInt32, math.MaxInt32 },
		"too few ids":          func(m *Matches) { m.IDs = m.IDs[1:] },
		"too many distances":   func(m *Matches) { m.Distances = append(m.Distances, 1) },
		"a negative id":        func(m *Matches) { m.IDs[2] = -1 },
		"a negative distance":  func(m *Matches) { m.Distances[0] = -1 },
		"no number":            func(m *Matches) { m.Distances[2] = math.NaN() },
		"an infinite distance": func(m *Matches) { m.Distances[5] = math.Inf(1) },
		"the farthest first":   func(m *Matches) { m.Distances[0] = 7 },
	} {
		m := matches()
		change(m)
		if err := m.Check(); !errors.Is(err, ErrMatches) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
