package audit

import (
	"math"
	"testing"
)

func TestInterval(t *testing.T) {
	// With no hits 1 - (1-p)^n = 1 - risk, with one 1 - (1-p)^n = risk.
	if low, high := Interval(0, 1000, 1e-6); low != 0 || math.Abs(math.Pow(1-high, 1000)/1e-6-1) > 1e-6 {
		t.Errorf("no hits: %g, %g", low, high)
	}
	if low, _ := Interval(1, 1000, 1e-6); math.Abs(-math.Expm1(1000*math.Log1p(-low))/1e-6-1) > 1e-6 {
		t.Errorf("one hit: %g", low)
	}
	// Far from the ends it is the mean and 4.7534 deviations.
	low, high := Interval(50_000, 1_000_000, 1e-6)
	deviation := math.Sqrt(0.05 * 0.95 / 1e6)
	if math.Abs((0.05-low)/deviation/4.7534-1) > 0.01 || math.Abs((high-0.05)/deviation/4.7534-1) > 0.01 {
		t.Errorf("50000 of 1e6: %g, %g", low, high)
	}
}

func TestEpsilon(t *testing.T) {
	const n = 1_000_000
	deviations := func(p float64) float64 { return 4.7534 * math.Sqrt(p*(1-p)/n) }
	want := math.Log((0.2 - deviations(0.2) - 0.05) / (0.05 + deviations(0.05)))
	if got := Epsilon(200_000, 50_000, n, 0.05, 1e-6); math.Abs(got-want) > 1e-3 {
		t.Errorf("epsilon at least %g, want %g", got, want)
	}
	// A share of hits below delta says nothing, and no alarm in a thousand does not give infinity.
	if got := Epsilon(49_000, 0, n, 0.05, 1e-6); !math.IsInf(got, -1) {
		t.Errorf("epsilon at least %g", got)
	}
	if got, want := Epsilon(1000, 0, 1000, 0, 1e-6), math.Log(math.Pow(1e-6, 1e-3)/(1-math.Pow(1e-6, 1e-3))); math.Abs(got-want) > 1e-9 {
		t.Errorf("epsilon at least %g, want %g", got, want)
	}
}

func TestOneRun(t *testing.T) {
	// All guesses right: q^1000 = risk, and epsilon is the log-odds of q.
	q := math.Pow(0.001, 1e-3)
	if got, want := OneRun(100_000, 1000, 1000, 0, 0.001), math.Log(q/(1-q)); math.Abs(got-want) > 1e-9 {
		t.Errorf("all right: %g, want %g", got, want)
	}
	// Half right says nothing; seven of ten give something below their log-odds.
	if half, more := OneRun(100_000, 1000, 500, 1e-10, 0.001), OneRun(100_000, 1000, 700, 1e-10, 0.001); half != 0 || !(more > 0.5 && more < math.Log(7.0/3)) {
		t.Errorf("half right %g, seven of ten %g", half, more)
	}
}
