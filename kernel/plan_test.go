package kernel

import (
	"errors"
	"math"
	"testing"
)

func TestPlanPicks(t *testing.T) {
	small := makePoints("uniform", 500, 2, 1)
	large := makePoints("uniform", 6000, 2, 1)
	for _, c := range []struct {
		name     string
		opt      *Options
		large    bool
		sigma    float64
		want     string
		feasible int
	}{
		{"small: dense", nil, false, 0.05, "dense", 2},
		{"large and narrow: csr", nil, true, 0.004, "csr", 2},
		{"a cutoff is a graph of its own", &Options{CutoffRadius: 0.01}, false, 0.05, "csr", 1},
		{"forced", &Options{Force: "csr"}, false, 0.05, "csr", 1},
		{"wide, little memory: dense", &Options{BudgetBytes: 64 << 20}, true, 10, "dense", 1},
	} {
		p := small
		if c.large {
			p = large
		}
		plan, err := Plan(t.Context(), p, Sigma(c.sigma), c.opt)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		feasible := 0
		for _, cand := range plan {
			if cand.Feasible {
				feasible++
			}
			if cand.Reason == "" || !(cand.Seconds > 0) || cand.Cost.PeakBytes <= 0 {
				t.Errorf("%s: %+v", c.name, cand)
			}
		}
		if plan[0].Name != c.want || feasible != c.feasible {
			t.Errorf("%s: %d feasible, first %+v", c.name, feasible, plan[0])
		}
		op, err := Build(t.Context(), p, Sigma(c.sigma), c.opt)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if op.Name() != c.want {
			t.Errorf("%s: built %s", c.name, op.Name())
		}
	}
}

// The estimate of the stored weights is what is stored, within sampling error.
func TestPlanEstimatesTheGraph(t *testing.T) {
	for _, d := range []int{2, 3, 10} {
		p := makePoints("uniform", 5000, d, 3)
		b := Sigma(typicalDistance(p, rngOf(1)) / 20)
		plan, err := Plan(t.Context(), p, b, &Options{Force: "csr"})
		if err != nil {
			t.Fatal(err)
		}
		op, err := NewCSR(t.Context(), p, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := plan[0].Neighbours, op.Neighbours(); math.Abs(got-want) > 0.1*want+0.05 {
			t.Errorf("d=%d: planned %g neighbours, got %g", d, got, want)
		}
	}
}

func TestBandwidthForDegree(t *testing.T) {
	for _, c := range []struct {
		kind   string
		d      int
		degree float64
	}{{"uniform", 2, 32}, {"uniform", 3, 10}, {"uniform", 12, 20}, {"clustered", 2, 40}} {
		p := makePoints(c.kind, 5000, c.d, 2)
		b, radius, err := BandwidthForDegree(t.Context(), p, c.degree, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if w := b.Weight(radius * radius); math.Abs(w-DegreeCutoff) > 1e-9 {
			t.Errorf("weight %g at the radius, want %g", w, DegreeCutoff)
		}
		op, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius})
		if err != nil {
			t.Fatal(err)
		}
		if got := op.Neighbours(); math.Abs(got-c.degree) > 0.15*c.degree {
			t.Errorf("%s d=%d: asked for %g neighbours, got %g", c.kind, c.d, c.degree, got)
		}
	}
	p := makePoints("uniform", 50, 2, 1)
	for _, degree := range []float64{0, -1, 50, math.NaN(), math.Inf(1)} {
		if _, _, err := BandwidthForDegree(t.Context(), p, degree, 0, nil); !errors.Is(err, ErrOption) {
			t.Errorf("degree %g: err = %v", degree, err)
		}
	}
	if _, _, err := BandwidthForDegree(t.Context(), p, 3, 2, nil); !errors.Is(err, ErrOption) {
		t.Errorf("cutoff 2: err = %v", err)
	}
	far := makePoints("uniform", 2000, 2, 1)
	far.Data[0] = 1e20
	if b, radius, err := BandwidthForDegree(t.Context(), far, 10, 0, nil); err != nil || radius > 0.1 {
		t.Errorf("with an outlier: %v, radius %g, %v", b, radius, err)
	}
	if _, _, err := BandwidthForDegree(t.Context(), makePoints("uniform", 1, 2, 1), 1, 0, nil); !errors.Is(err, ErrOption) {
		t.Errorf("one point: err = %v", err)
	}
	lattice := makePoints("lattice", 500, 1, 1) // five places for 500 points
	if _, _, err := BandwidthForDegree(t.Context(), lattice, 5, 0, nil); !errors.Is(err, ErrBandwidth) {
		t.Errorf("equal points: err = %v", err)
	}
	same := makePoints("identical", 50, 2, 1)
	if _, _, err := BandwidthForDegree(t.Context(), same, 3, 0, nil); !errors.Is(err, ErrBandwidth) {
		t.Errorf("equal points: err = %v", err)
	}
}

func TestBandwidthConventions(t *testing.T) {
	// The three conventions at nominal 6, as appendix sigma.
	for _, c := range []struct {
		b    Bandwidth
		want float64
	}{{Sigma(6), 6}, {SigmaProgram(6), 6 / math.Sqrt2}, {SigmaMainText(6), math.Sqrt(3)}, {Gamma(1.0 / 72), 6}} {
		if got := c.b.Sigma(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("sigma %g, want %g", got, c.want)
		}
		if got, want := c.b.Weight(4), math.Exp(-2/(c.want*c.want)); math.Abs(got-want) > 1e-15 {
			t.Errorf("weight %g, want %g", got, want)
		}
		if got := c.b.Weight(math.Pow(c.b.Radius(0.25), 2)); math.Abs(got-0.25) > 1e-14 {
			t.Errorf("weight %g at Radius(0.25)", got)
		}
	}
	for _, b := range []Bandwidth{{}, Sigma(0), Sigma(-1), SigmaProgram(-1), SigmaMainText(math.NaN()), Gamma(math.Inf(1)), Sigma(1e200)} {
		if err := b.Check(); !errors.Is(err, ErrBandwidth) {
			t.Errorf("%v: err = %v", b, err)
		}
	}
}
