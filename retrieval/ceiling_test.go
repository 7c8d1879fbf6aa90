package retrieval

import (
	"errors"
	"math"
	"testing"
)

func recallAt(t *testing.T, c Ceiling, epsilon float64) float64 {
	t.Helper()
	r, err := c.Recall(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Values that were computed by hand from the formula, to the digits shown.
func TestCeilingValues(t *testing.T) {
	c := Ceiling{Answers: 8, Classes: 98}
	for epsilon, want := range map[float64]float64{0.01: .082, 1: .195, 2: .396, 4: .829, 5: .930, 8: .996} {
		if got := recallAt(t, c, epsilon); math.Abs(got-want) > 0.0006 {
			t.Errorf("epsilon %g: %g, want %g", epsilon, got, want)
		}
	}
	if got := recallAt(t, c, 10); math.Abs(got-.9995) > 0.00006 {
		t.Errorf("epsilon 10: %g", got)
	}
	// What a server can guess of the class: C = 100 and C = 10.
	for epsilon, want := range map[float64][2]float64{.5: {.016, .16}, 1: {.027, .23}, 2: {.069, .45}, 4: {.355, .86}, 8: {.968, .997}} {
		for i, classes := range []int{100, 10} {
			if got := recallAt(t, Ceiling{Answers: 1, Classes: classes}, epsilon); math.Abs(got-want[i]) > 0.006 {
				t.Errorf("epsilon %g, %d classes: %g, want %g", epsilon, classes, got, want[i])
			}
		}
	}
	if got, err := (Ceiling{Answers: 8, Classes: 98, Delta: 1e-5}).Epsilon(0.815); err != nil || math.Abs(got-3.90) > 0.005 {
		t.Errorf("a recall of 0.815 needs epsilon %g, %v", got, err)
	}
}

func TestCeilingProperties(t *testing.T) {
	for _, c := range []Ceiling{
		{Answers: 8, Classes: 98}, {Answers: 8, Classes: 98, Delta: 1e-5}, {Answers: 1, Classes: 2, Delta: 0.1},
		{Answers: 3, Classes: 3}, {Answers: 2, Classes: 50, Mass: 0.3},
	} {
		before := 0.0
		for _, epsilon := range []float64{0, 1e-3, 0.1, 1, 3, 7, 20, 700, 1e4, math.Inf(1)} {
			r := recallAt(t, c, epsilon)
			if !(r >= before && r <= 1) {
				t.Errorf("%+v: %g at epsilon %g, %g before", c, r, epsilon, before)
			}
			before = r
			back, err := c.Epsilon(r)
			if err != nil {
				t.Fatal(err)
			}
			if r < 1-1e-9 && c.mass() < 1 && math.Abs(back-epsilon) > 1e-6*(1+epsilon) {
				t.Errorf("%+v: epsilon %g gives %g gives %g", c, epsilon, r, back)
			}
		}
		if before != 1 {
			t.Errorf("%+v: %g at the end", c, before)
		}
	}
	// The plain formula, where nothing overflows.
	c := Ceiling{Answers: 8, Classes: 98, Delta: 0.01}
	k, n := 8*math.Exp(2), 98.0
	if got, want := recallAt(t, c, 2), (k+(n-1)*c.Delta)/(k+n-8); math.Abs(got-want) > 1e-15 {
		t.Errorf("%g, want %g", got, want)
	}
	// Equal classes have the mass K/C.
	if a, b := recallAt(t, Ceiling{Answers: 5, Classes: 20}, 1.5), recallAt(t, Ceiling{Answers: 5, Classes: 20, Mass: 0.25}, 1.5); a != b {
		t.Errorf("%g and %g", a, b)
	}
	if got, err := (Ceiling{Answers: 1, Classes: 2}).Epsilon(1); err != nil || !math.IsInf(got, 1) {
		t.Errorf("certainty costs %g, %v", got, err)
	}
}

func TestCeilingRefuses(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]Ceiling{
		"no answers": {Classes: 3}, "few classes": {Answers: 4, Classes: 3}, "mass": {Answers: 1, Classes: 2, Mass: 1.5},
		"nan mass": {Answers: 1, Classes: 2, Mass: nan}, "delta": {Answers: 1, Classes: 2, Delta: 1}, "both": {Answers: 1, Classes: 2, Mass: .5, Delta: .1},
	} {
		if _, err := c.Recall(1); !errors.Is(err, ErrCeiling) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := c.Epsilon(0.5); !errors.Is(err, ErrCeiling) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	good := Ceiling{Answers: 1, Classes: 2}
	for _, v := range []float64{-1, nan} {
		if _, err := good.Recall(v); !errors.Is(err, ErrCeiling) {
			t.Errorf("epsilon %g: error %v", v, err)
		}
		if _, err := good.Epsilon(v); !errors.Is(err, ErrCeiling) {
			t.Errorf("recall %g: error %v", v, err)
		}
	}
}

func TestCommonestMass(t *testing.T) {
	labels := []int32{5, 5, 5, 1, 1, 2, -1, 9}
	for k, want := range map[int]float64{-1: 0, 0: 0, 1: 3. / 8, 2: 5. / 8, 3: 6. / 8, 99: 1} {
		if got := CommonestMass(labels, k); got != want {
			t.Errorf("k = %d: %g, want %g", k, got, want)
		}
	}
	if CommonestMass(nil, 1) != 0 {
		t.Error("no labels have a mass")
	}
}
