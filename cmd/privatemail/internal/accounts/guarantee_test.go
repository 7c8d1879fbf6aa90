package accounts

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A bound from above is never printed below itself.
func TestAtMost(t *testing.T) {
	for x, want := range map[float64]string{
		math.E: "2.719", 2: "2", 0.00100001: "0.001001", 9.9999: "10", 99999.9: "1e+05", 2.01001e-5: "2.011e-05", 0: "0", math.Inf(1): "+Inf",
	} {
		if got := AtMost(x, 4); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
	for x := 1e-12; x < 1e12; x *= 1.2345 {
		for digits := 1; digits < 7; digits++ {
			shown, err := strconv.ParseFloat(AtMost(x, digits), 64)
			if err != nil || shown < x || shown > x*(1+math.Pow(10, float64(1-digits)))*(1+1e-12) {
				t.Fatalf("%g with %d digits: %g, %v", x, digits, shown, err)
			}
		}
	}
}

// An epsilon that is printed is not below what is promised, but for the rounding of its computation.
func TestEpsilonIsRoundedUp(t *testing.T) {
	for x, want := range map[float64]string{1: "1", 1.0000004: "1.00001", 0.1 + 0.2: "0.3", 2.0000001: "2.00001", 1.5: "1.5"} {
		if got := CloselyTo(x, 6); got != want {
			t.Errorf("%.17g: %s, want %s", x, got, want)
		}
	}
}

// What P and P' are follows from the relation and the number of rows that change.
func TestNeighboursInWords(t *testing.T) {
	for relation, words := range map[sensitivity.Relation]string{
		sensitivity.ReplaceOne: "a row and its label", sensitivity.Null: "label 0", sensitivity.FeaturesReplace: "label as it is", sensitivity.FeaturesNull: "zeros",
	} {
		if text := (Guarantee{Relation: relation}).neighbours(); !strings.Contains(text, words) {
			t.Errorf("%v: %s", relation, text)
		}
	}
	for _, relation := range []sensitivity.Relation{sensitivity.ReplaceOne, sensitivity.FeaturesReplace} {
		if text := (Guarantee{Relation: relation, Records: 3}).neighbours(); !strings.Contains(text, "3 rows") {
			t.Errorf("%v: %s", relation, text)
		}
	}
}

// The numbers of a release with randomised labels of three rows, by the formulas of
// docs/privacy.md.
func TestGuaranteeOfSeveralRows(t *testing.T) {
	g := Guarantee{Epsilon: 1, Delta: 1e-6, Mu: 0.2367, Labels: 0.3, Relation: sensitivity.ReplaceOne, Records: 3, RealMu: 0.2367}
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	if g.Total() != 1.3 || math.Abs(g.Exceeded()/phi(-1/0.2367+0.2367/2)-1) > 1e-9 {
		t.Errorf("epsilon %g, exceeded with probability %g", g.Total(), g.Exceeded())
	}
	if log := math.Log(g.odds()) - 0.3; math.Abs(phi(-(log-0.2367*0.2367/2)/0.2367)/1e-6-1) > 1e-6 {
		t.Errorf("odds %g", g.odds())
	}
	if epsilon, another := g.real(); another || epsilon != 1.3 {
		t.Error(epsilon, another)
	}
	g.Relation, g.RealMu, g.Labels = sensitivity.Null, 2*g.Mu, 0
	epsilon, another := g.real()
	if d := phi(-epsilon/g.RealMu+g.RealMu/2) - math.Exp(epsilon)*phi(-epsilon/g.RealMu-g.RealMu/2); !another || math.Abs(d/1e-6-1) > 1e-6 {
		t.Errorf("between two real rows epsilon %g has delta %g", epsilon, d)
	}
}
