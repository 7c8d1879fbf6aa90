package pipeline

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func TestGraphSettingsCheck(t *testing.T) {
	for name, r := range map[string]GraphSettings{
		"both":              {Bandwidth: kernel.Sigma(1), MeanNeighbours: 3},
		"negative degree":   {MeanNeighbours: -1},
		"degree NaN":        {MeanNeighbours: math.NaN()},
		"cutoff of 1":       {MeanNeighbours: 3, CutoffWeight: 1},
		"negative cutoff":   {Bandwidth: kernel.Sigma(1), CutoffWeight: -0.1},
		"cutoff not number": {Bandwidth: kernel.Sigma(1), CutoffWeight: math.NaN()},
		"negative radius":   {CutoffRadius: -1},
		"infinite radius":   {CutoffRadius: math.Inf(1)},
		"radius and weight": {Bandwidth: kernel.Sigma(1), CutoffWeight: 0.5, CutoffRadius: 1},
		"radius and mean":   {MeanNeighbours: 3, CutoffRadius: 1},
		"radius, nearest":   {Neighbours: 3, CutoffRadius: 1},
	} {
		if err := r.Check(); !errors.Is(err, kernel.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range []GraphSettings{{}, {Bandwidth: kernel.Sigma(1), CutoffWeight: 0.5}, {MeanNeighbours: 3}, {CutoffRadius: 2}, {Bandwidth: kernel.Sigma(1), CutoffRadius: 2}} {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestSettle(t *testing.T) {
	x, err := synth.Uniform(200, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernel.Open(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	settle := func(r GraphSettings, force string) (kernel.Bandwidth, float64) {
		t.Helper()
		o := &kernel.Options{Operator: force}
		b, err := r.Settle(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		return b, o.CutoffRadius
	}
	one := kernel.Sigma(1)
	if b, radius := settle(GraphSettings{Bandwidth: one}, ""); b != one || radius != 0 {
		t.Errorf("%v, radius %g", b, radius)
	}
	if b, radius := settle(GraphSettings{Bandwidth: one, CutoffWeight: 0.01}, ""); b != one || radius != one.Radius(0.01) {
		t.Errorf("%v, radius %g", b, radius)
	}
	if b, radius := settle(GraphSettings{Bandwidth: one, CutoffRadius: 2}, ""); b != one || radius != 2 {
		t.Errorf("%v, radius %g", b, radius)
	}
	if b, radius := settle(GraphSettings{CutoffRadius: 2}, ""); math.Abs(b.Weight(4)-kernel.DegreeCutoff) > 1e-12 || radius != 2 {
		t.Errorf("%v, radius %g", b, radius)
	}
	// The mean number of neighbours gives the same bandwidth with and without a
	// cutoff.
	b, radius := settle(GraphSettings{MeanNeighbours: 10}, "csr")
	if !(radius > 0) {
		t.Errorf("csr is not cut: radius %g", radius)
	}
	if whole, none := settle(GraphSettings{MeanNeighbours: 10}, "dense"); whole != b || none != 0 {
		t.Errorf("dense: %v, radius %g, csr has %v", whole, none, b)
	}
	var bad GraphSettings
	bad.CutoffWeight = 0.01
	if _, err := bad.Settle(t.Context(), p, new(kernel.Options)); err == nil {
		t.Error("a bandwidth of 0 has no radius")
	}
}
