package main

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A bound from above is never printed below itself.
func TestAtMost(t *testing.T) {
	for x, want := range map[float64]string{
		math.E: "2.719", 2: "2", 0.00100001: "0.001001", 9.9999: "10", 99999.9: "1e+05", 2.01001e-5: "2.011e-05", 0: "0", math.Inf(1): "+Inf",
	} {
		if got := atMost(x, 4); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
	for x := 1e-12; x < 1e12; x *= 1.2345 {
		for digits := 1; digits < 7; digits++ {
			shown, err := strconv.ParseFloat(atMost(x, digits), 64)
			if err != nil || shown < x || shown > x*(1+math.Pow(10, float64(1-digits)))*(1+1e-12) {
				t.Fatalf("%g with %d digits: %g, %v", x, digits, shown, err)
			}
		}
	}
}

// An epsilon that is printed is not below what is promised, but for the rounding of its computation.
func TestEpsilonIsRoundedUp(t *testing.T) {
	for x, want := range map[float64]string{1: "1", 1.0000004: "1.00001", 0.1 + 0.2: "0.3", 2.0000001: "2.00001", 1.5: "1.5"} {
		if got := closelyTo(x, 6); got != want {
			t.Errorf("%.17g: %s, want %s", x, got, want)
		}
	}
}

// The table of odds in docs/privacy.md is rounded up, each number by less than one of its last digit.
func TestOddsOfThePageAreRoundedUp(t *testing.T) {
	page, err := os.ReadFile("../../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		t.Helper()
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rows := regexp.MustCompile(`(?m)^\| ([\d.]+) \| (1e-\d) \| ([\d.]+) \| ([\d.]+e-\d) \| ([\d.]+) \| ([\d.]+) \|$`).FindAllStringSubmatch(string(page), -1)
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		epsilon, delta := number(row[1]), number(row[2])
		mu, above := 0., 10.
		for range 100 { // epsilon at delta rises with mu
			middle := (mu + above) / 2
			if e, err := mechanism.EpsilonAt(middle, delta); err == nil && e <= epsilon {
				mu = middle
			} else {
				above = middle
			}
		}
		tail, err := mechanism.LossTail(mu, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := mechanism.LossAt(mu, delta)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{mu, tail, tail / delta, math.Exp(loss)} {
			text := row[3+i]
			digits, exponent, _ := strings.Cut(text, "e")
			_, decimals, _ := strings.Cut(digits, ".")
			last := math.Pow(10, -float64(len(decimals)))
			if exponent != "" {
				last *= math.Pow(10, number(exponent))
			}
			if shown := number(text); !(shown >= want*(1-1e-9) && shown < want+last) {
				t.Errorf("epsilon %g, delta %g: %s for %.6g", epsilon, delta, text, want)
			}
		}
	}
}

// What one record can change at most is printed rounded up: 1.2043294e-8 is not at most 1.2043e-8.
func TestSensitivityIsRoundedUp(t *testing.T) {
	stdout, _ := succeed(t, "sensitivity", "-n", "1001", "-sigma", "6", "-alpha", "0.6", "-classes", "98")
	for _, line := range []string{
		"tight         1.2184e-08 ", "              1.2044e-08    relation null", "              9.2466e-10 ", "corrected     6.4039e-06 ", "error         7.5e-18 ",
	} {
		if !strings.Contains(stdout, line) {
			t.Errorf("no %q in\n%s", line, stdout)
		}
	}
}

// What P and P' are follows from the relation and the number of rows that change.
func TestNeighboursInWords(t *testing.T) {
	for relation, words := range map[sensitivity.Relation]string{
		sensitivity.ReplaceOne: "a row and its label", sensitivity.Null: "label 0", sensitivity.FeaturesReplace: "label as it is", sensitivity.FeaturesNull: "zeros",
	} {
		if text := (guarantee{relation: relation}).neighbours(); !strings.Contains(text, words) {
			t.Errorf("%v: %s", relation, text)
		}
	}
	for _, relation := range []sensitivity.Relation{sensitivity.ReplaceOne, sensitivity.FeaturesReplace} {
		if text := (guarantee{relation: relation, records: 3}).neighbours(); !strings.Contains(text, "3 rows") {
			t.Errorf("%v: %s", relation, text)
		}
	}
}

// The numbers of a release with randomised labels of three rows, by the formulas of
// docs/privacy.md.
func TestGuaranteeOfSeveralRows(t *testing.T) {
	g := guarantee{epsilon: 1, delta: 1e-6, mu: 0.2367, labels: 0.3, relation: sensitivity.ReplaceOne, records: 3, realMu: 0.2367}
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	if g.total() != 1.3 || math.Abs(g.exceeded()/phi(-1/0.2367+0.2367/2)-1) > 1e-9 {
		t.Errorf("epsilon %g, exceeded with probability %g", g.total(), g.exceeded())
	}
	if log := math.Log(g.odds()) - 0.3; math.Abs(phi(-(log-0.2367*0.2367/2)/0.2367)/1e-6-1) > 1e-6 {
		t.Errorf("odds %g", g.odds())
	}
	if epsilon, another := g.real(); another || epsilon != 1.3 {
		t.Error(epsilon, another)
	}
	g.relation, g.realMu, g.labels = sensitivity.Null, 2*g.mu, 0
	epsilon, another := g.real()
	if d := phi(-epsilon/g.realMu+g.realMu/2) - math.Exp(epsilon)*phi(-epsilon/g.realMu-g.realMu/2); !another || math.Abs(d/1e-6-1) > 1e-6 {
		t.Errorf("between two real rows epsilon %g has delta %g", epsilon, d)
	}
}

// A release of a client with three rows, labels randomised: its own numbers.
func TestGuaranteeOfARelease(t *testing.T) {
	temp := t.TempDir()
	out := temp + "/r"
	succeed(t, private(toy(t), "none", out, "-label-mode", "randomised", "-label-epsilon", "0.7", "-unit-kind", "client", "-records", "3", "-rule", "classical", "-epsilon", "0.5")...)
	r, err := readRelease(out)
	if err != nil {
		t.Fatal(err)
	}
	g := promised(t.Context(), r)
	if g.records != 3 || g.epsilon != 0.5 || g.labels < 2.1 || g.labels > 2.1*(1+1e-15) || g.mu != r.Privacy.Mu || g.realMu != r.Privacy.Mu {
		t.Errorf("%+v", g)
	}
	// The classical rule adds more noise than (0.5, 1e-6) needs.
	if want := 0.5 / math.Sqrt(2*math.Log(1.25/1e-6)); math.Abs(g.mu/want-1) > 1e-6 || g.exceeded() > 1e-6 {
		t.Errorf("mu %g, want %g; exceeded with probability %g", g.mu, want, g.exceeded())
	}
}
