package main

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

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
		odds := accounts.Guarantee{Epsilon: epsilon, Delta: delta, Mu: mu}.Report()
		for i, want := range []float64{mu, odds.OddsExceed, odds.OddsExceed / delta, float64(odds.OddsAtDelta)} {
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

// A release of a client with three rows, labels randomised: its own numbers.
func TestGuaranteeOfARelease(t *testing.T) {
	temp := t.TempDir()
	out := temp + "/r"
	succeed(t, private(toy(t), "none", out, "-label-mode", "randomised", "-label-epsilon", "0.7", "-unit-kind", "client", "-records", "3", "-rule", "classical", "-epsilon", "0.5")...)
	r, err := files.ReadRelease(out)
	if err != nil {
		t.Fatal(err)
	}
	g := accounts.Promised(t.Context(), r)
	if g.Records != 3 || g.Epsilon != 0.5 || g.Labels < 2.1 || g.Labels > 2.1*(1+1e-15) || g.Mu != r.Privacy.Mu || g.RealMu != r.Privacy.Mu {
		t.Errorf("%+v", g)
	}
	// The classical rule adds more noise than (0.5, 1e-6) needs.
	if want := 0.5 / math.Sqrt(2*math.Log(1.25/1e-6)); math.Abs(g.Mu/want-1) > 1e-6 || g.Exceeded() > 1e-6 {
		t.Errorf("mu %g, want %g; exceeded with probability %g", g.Mu, want, g.Exceeded())
	}
}
