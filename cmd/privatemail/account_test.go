package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// linesOf returns what a summary says after a name, with the lines that go on from there.
func linesOf(text, name string) string {
	var out []string
	found := false
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(line, " ")
		if word != "" || strings.TrimSpace(line) == "" {
			found = strings.HasPrefix(line, name+"  ")
		}
		if found {
			out = append(out, strings.TrimSpace(strings.TrimPrefix(line, name)))
		}
	}
	return strings.Join(out, "\n")
}

// Three releases of epsilon 1 fit a budget of 2, and the words say why, with numbers that
// agree with the curve of the noise.
func TestThreeReleasesOfEpsilon1(t *testing.T) {
	temp, folder := t.TempDir(), toy(t)
	ledger := filepath.Join(temp, "a.ledger")
	succeed(t, "budget", "create", ledger, "-kind", "gdp", "-epsilon", "2", "-delta", "1e-6")
	multiplier, err := mechanism.Analytic.Multiplier(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	together := func(n int) string {
		epsilon, err := mechanism.EpsilonAt(math.Sqrt(float64(n))/multiplier, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatFloat(epsilon, 'f', 3, 64)
	}
	if together(2) != "1.455" || together(3) != "1.814" || together(4) != "2.123" {
		t.Errorf("the numbers below are %s, %s and %s", together(2), together(3), together(4))
	}
	const estimate = "an estimate if a spend was chosen by looking at an earlier release; proved in any case, for these pairs, is the budget, epsilon 2"
	const whose = "\nfor the pairs of data sets that all of these spends protect (replace-one), and for no others\n"
	for i, want := range []struct{ soFar, next string }{
		{"epsilon 1 of 2 at delta 1e-06, by the one spend of this unit\nfor the pairs of data sets that it protects (replace-one), and for no others",
			"another spend like the last fits, and would make it epsilon 1.455"},
		{"epsilon 1.455 of 2 at delta 1e-06, by the 2 spends of this unit" + whose + "less than the sum of their epsilons, 2, because noise adds up by rho, not by epsilon\n" + estimate,
			"another spend like the last fits, and would make it epsilon 1.814"},
		{"epsilon 1.814 of 2 at delta 1e-06, by the 3 spends of this unit" + whose + "less than the sum of their epsilons, 3, because noise adds up by rho, not by epsilon\n" + estimate,
			"another spend like the last does not fit: it would make it epsilon 2.123 of 2"},
	} {
		args := private(folder, ledger, filepath.Join(temp, fmt.Sprint("r", i)))
		stdout, _ := succeed(t, args[:len(args)-1]...) // without -quiet
		if got := linesOf(stdout, "ledger"); got != fmt.Sprintf("spend %d of %s, in its line %d", i+1, ledger, 2*i+1) {
			t.Errorf("spend %d: ledger %q", i+1, got)
		}
		show, _ := succeed(t, "budget", "show", ledger, "-unit", "secret-name")
		for _, text := range []string{stdout, show} {
			if got := linesOf(text, "so far"); got != want.soFar {
				t.Errorf("spend %d: so far %q, want %q", i+1, got, want.soFar)
			}
			if got := linesOf(text, "next"); got != want.next {
				t.Errorf("spend %d: next %q, want %q", i+1, got, want.next)
			}
		}
		if i < 2 {
			continue
		}
		_, table, _ := strings.Cut(show, "spend  line")
		for number, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
			words := strings.Fields(line)
			got := strings.Join(append(words[:2:2], words[6:]...), " ")
			if want := []string{"1 1 0 replace-one 1 replace-one", "2 3 0 replace-one 1.455 replace-one", "3 5 0 replace-one 1.814 replace-one"}[number]; got != want {
				t.Errorf("spend %d is listed as %q, want %q", number+1, got, want)
			}
		}
	}
	refuse(t, cli.Failed, private(folder, ledger, filepath.Join(temp, "r3")), "exceeded")
	stdout, _ := succeed(t, "budget", "show", ledger)
	if !strings.Contains(stdout, "record  3       1.814 of 2      epsilon 0.7511         replace-one\n") || strings.Contains(stdout, "%") {
		t.Errorf("%s", stdout)
	}
	// What still fits does so as it is printed, and not with one more in the last digit.
	refuse(t, cli.Failed, private(folder, ledger, filepath.Join(temp, "r3"), "-epsilon", "0.7512"), "exceeded")
	succeed(t, private(folder, ledger, filepath.Join(temp, "r3"), "-epsilon", "0.7511")...)
	stdout, _ = succeed(t, "budget", "verify", ledger, filepath.Join(temp, "r1"))
	if !strings.Contains(stdout, "  2      3     ") || !strings.Contains(stdout, "\n4      7     ") {
		t.Errorf("verify numbers spends otherwise:\n%s", stdout)
	}
}
