package pipeline

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// turned is an operator that keeps row 2 first, then 0 and 1.
type turned struct {
	kernel.Operator
	certificate kernel.Certificate
}

func (turned) Name() string                      { return "turned" }
func (turned) N() int                            { return 3 }
func (turned) Degrees() []float64                { return []float64{1, 2, 6} }
func (turned) Order() []uint32                   { return []uint32{2, 0, 1} }
func (turned) Cost() kernel.Cost                 { return kernel.Cost{NNZ: 7} }
func (o turned) Certificate() kernel.Certificate { return o.certificate }

// cut is one that ends at a radius.
type cut struct{ turned }

func (cut) Radius() float64            { return 0.5 }
func (cut) MeanNeighbours() float64    { return 1.5 }
func (cut) Search() kernel.SearchStats { return kernel.SearchStats{} }

func TestDescribe(t *testing.T) {
	own := []float32{.1, .2, .3}
	op := turned{certificate: kernel.Certificate{Row: own}}
	b := kernel.Sigma(2)
	g := Describe(op, b)
	if g.Operator != "turned" || g.Bandwidth != b || g.MeanDegree != 3 || g.Cost.NNZ != 7 || !math.IsInf(g.Radius, 1) || g.Neighbours != 2 {
		t.Errorf("%+v", g)
	}
	if want := []float32{.2, .3, .1}; !slices.Equal(g.Certificate.Row, want) {
		t.Errorf("rows %v, want %v", g.Certificate.Row, want)
	}
	if !slices.Equal(own, []float32{.1, .2, .3}) {
		t.Error("the operator's own rows were turned")
	}
	if g := Describe(cut{op}, b); g.Radius != 0.5 || g.Neighbours != 1.5 {
		t.Errorf("radius %g, %g neighbours", g.Radius, g.Neighbours)
	}
	op.certificate.Row = nil
	if g := Describe(op, b); g.Certificate.Row != nil {
		t.Errorf("rows %v of none", g.Certificate.Row)
	}
}

func TestReachCheck(t *testing.T) {
	for name, r := range map[string]Reach{
		"both":              {Bandwidth: kernel.Sigma(1), MeanDegree: 3},
		"negative degree":   {MeanDegree: -1},
		"degree NaN":        {MeanDegree: math.NaN()},
		"cutoff of 1":       {MeanDegree: 3, CutoffWeight: 1},
		"negative cutoff":   {Bandwidth: kernel.Sigma(1), CutoffWeight: -0.1},
		"cutoff not number": {Bandwidth: kernel.Sigma(1), CutoffWeight: math.NaN()},
	} {
		if err := r.Check(); !errors.Is(err, iterate.ErrSettings) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range []Reach{{}, {Bandwidth: kernel.Sigma(1), CutoffWeight: 0.5}, {MeanDegree: 3}} {
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
	settle := func(r Reach, force string) (kernel.Bandwidth, float64) {
		t.Helper()
		o := &kernel.Options{Operator: force}
		b, err := r.Settle(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		return b, o.CutoffRadius
	}
	one := kernel.Sigma(1)
	if b, radius := settle(Reach{Bandwidth: one}, ""); b != one || radius != 0 {
		t.Errorf("%v, radius %g", b, radius)
	}
	if b, radius := settle(Reach{Bandwidth: one, CutoffWeight: 0.01}, ""); b != one || radius != one.Radius(0.01) {
		t.Errorf("%v, radius %g", b, radius)
	}
	// The mean degree says the same about the bandwidth whether or not it is cut.
	b, radius := settle(Reach{MeanDegree: 10}, "csr")
	if !(radius > 0) {
		t.Errorf("csr is not cut: radius %g", radius)
	}
	if whole, none := settle(Reach{MeanDegree: 10}, "dense"); whole != b || none != 0 {
		t.Errorf("dense: %v, radius %g, csr has %v", whole, none, b)
	}
	var bad Reach
	bad.CutoffWeight = 0.01
	if _, err := bad.Settle(t.Context(), p, new(kernel.Options)); err == nil {
		t.Error("a bandwidth of 0 has no radius")
	}
}
