package mechanism

import (
	"errors"
	"math"
	"testing"
)

// A relation has a bound on recall and its inverse.
type relation struct {
	name    string
	recall  func(Ceiling, float64) (float64, error)
	epsilon func(Ceiling, float64) (float64, error)
}

func relations() []relation {
	return []relation{{"replace-one", Ceiling.Recall, Ceiling.Epsilon}, {"null", Ceiling.NullRecall, Ceiling.NullEpsilon}}
}

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
	for epsilon, want := range map[float64]float64{0.01: .082, 0.1: .089, 1: .195, 2: .396, 4: .829, 5: .930, 8: .996} {
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
	// The paper's claim (docs/paper.md).
	for _, delta := range []float64{0, 1e-5} {
		if got, err := (Ceiling{Answers: 8, Classes: 98, Delta: delta}).Epsilon(0.815); err != nil || math.Abs(got-3.90) > 0.005 {
			t.Errorf("a recall of 0.815 needs epsilon %g, %v", got, err)
		}
	}
}

func TestCeilingProperties(t *testing.T) {
	for _, c := range []Ceiling{
		{Answers: 8, Classes: 98}, {Answers: 8, Classes: 98, Delta: 1e-5}, {Answers: 1, Classes: 2, Delta: 0.1},
		{Answers: 3, Classes: 3}, {Answers: 3, Classes: 4}, {Answers: 2, Classes: 50, Mass: 0.3}, {Answers: 2, Classes: 50, Mass: 0.3, Delta: 0.01},
		{Answers: 1, Classes: 2, Mass: 0.75, Delta: 0.75},
	} {
		for _, r := range relations() {
			before := c.mass() - 1e-15 // rounding
			for _, epsilon := range []float64{0, 1e-3, 0.1, 1, 3, 7, 20, 700, 1e4, math.Inf(1)} {
				v, err := r.recall(c, epsilon)
				if err != nil || !(v >= before && v <= 1) {
					t.Errorf("%s, %+v: %g at epsilon %g, %g before, %v", r.name, c, v, epsilon, before, err)
				}
				if epsilon == 0 && v > c.mass()+c.Delta+1e-15 {
					t.Errorf("%s, %+v: %g of a release that says nothing", r.name, c, v)
				}
				before = v
				back, err := r.epsilon(c, v)
				if err != nil || v < 1-1e-9 && math.Abs(back-epsilon) > 1e-6*(1+epsilon) {
					t.Errorf("%s, %+v: epsilon %g gives %g gives %g, %v", r.name, c, epsilon, v, back, err)
				}
			}
			if before != 1 {
				t.Errorf("%s, %+v: %g at the end", r.name, c, before)
			}
			// What chance finds needs no epsilon, nor does less.
			if got, err := r.epsilon(c, c.mass()); err != nil || got > 1e-12 {
				t.Errorf("%s, %+v: chance needs epsilon %g, %v", r.name, c, got, err)
			}
			for _, v := range []float64{0, c.mass() / 2} {
				if got, err := r.epsilon(c, v); err != nil || got != 0 {
					t.Errorf("%s, %+v: %g needs epsilon %g, %v", r.name, c, v, got, err)
				}
			}
		}
	}
	// The plain formula, where nothing overflows.
	c := Ceiling{Answers: 8, Classes: 98, Delta: 0.01}
	k, n := 8*math.Exp(2), 98.0
	if got, want := recallAt(t, c, 2), (k+(n-1)*c.Delta)/(k+n-8); math.Abs(got-want) > 1e-15 {
		t.Errorf("%g, want %g", got, want)
	}
	// Equal classes have the mass K/C.
	if a, b := recallAt(t, Ceiling{Answers: 5, Classes: 20, Delta: 0.1}, 1.5), recallAt(t, Ceiling{Answers: 5, Classes: 20, Mass: 0.25, Delta: 0.1}, 1.5); a != b {
		t.Errorf("%g and %g", a, b)
	}
	for _, r := range relations() {
		if got, err := r.epsilon(Ceiling{Answers: 1, Classes: 2}, 1); err != nil || !math.IsInf(got, 1) {
			t.Errorf("%s: certainty costs %g, %v", r.name, got, err)
		}
		// Where delta alone pays for certainty, just so and with some to spare.
		just := map[string]float64{"replace-one": 0.5, "null": 0.25}[r.name]
		for _, delta := range []float64{just, 0.75} {
			if got, err := r.epsilon(Ceiling{Answers: 1, Classes: 2, Mass: 0.75, Delta: delta}, 1); err != nil || got != 0 {
				t.Errorf("%s, delta %g: certainty costs %g, %v", r.name, delta, got, err)
			}
		}
	}
}

func TestCeilingRefuses(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]Ceiling{
		"no answers": {Classes: 3}, "few classes": {Answers: 4, Classes: 3}, "mass": {Answers: 1, Classes: 2, Mass: 1.5},
		"nan mass": {Answers: 1, Classes: 2, Mass: nan}, "delta": {Answers: 1, Classes: 2, Delta: 1}, "nan delta": {Answers: 1, Classes: 2, Delta: nan},
	} {
		for _, r := range relations() {
			if _, err := r.recall(c, 1); !errors.Is(err, ErrParam) {
				t.Errorf("%s, %s: error %v", r.name, name, err)
			}
			if _, err := r.epsilon(c, 0.5); !errors.Is(err, ErrParam) {
				t.Errorf("%s, %s: error %v", r.name, name, err)
			}
		}
	}
	good := Ceiling{Answers: 1, Classes: 2}
	for _, r := range relations() {
		for _, v := range []float64{-1, nan} {
			if _, err := r.recall(good, v); !errors.Is(err, ErrParam) {
				t.Errorf("%s, epsilon %g: error %v", r.name, v, err)
			}
			if _, err := r.epsilon(good, v); !errors.Is(err, ErrParam) {
				t.Errorf("%s, recall %g: error %v", r.name, v, err)
			}
		}
		if _, err := r.epsilon(good, 1.5); !errors.Is(err, ErrParam) {
			t.Errorf("%s, recall 1.5: error %v", r.name, err)
		}
	}
}

func TestCeilingOfLabels(t *testing.T) {
	labels := []int32{5, 5, 5, 1, 1, 2, -1, 9}
	for k, want := range map[int]float64{-1: 0, 0: 0, 1: 3. / 8, 2: 5. / 8, 3: 6. / 8, 99: 1} {
		if got := (Ceiling{Answers: k}).Of(labels).Mass; got != want {
			t.Errorf("k = %d: %g, want %g", k, got, want)
		}
	}
	if got := (Ceiling{Answers: 1}).Of(nil).Mass; got != 0 {
		t.Errorf("no labels have a mass of %g", got)
	}
}
