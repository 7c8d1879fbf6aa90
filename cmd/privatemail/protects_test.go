package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A release that protects other data sets than the earlier ones of its unit is refused. Where
// it is meant, the total is said to be for what all of them protect, and for nothing else.
func TestOtherRelation(t *testing.T) {
	temp, folder := t.TempDir(), toy(t)
	for name, c := range map[string]struct {
		first, second []string
		both          string
		parts         []string
	}{
		"label": {nil, []string{"-relation", "features-replace", "-epsilon", "1.4"}, "features-replace",
			[]string{"replace-one: epsilon 1 by 1 of 2 spends", "features-replace: epsilon 1.769 by 2 of 2 spends"}},
		"records": {[]string{"-records", "20"}, nil, "replace-one",
			[]string{"replace-one, 20 records: epsilon 1 by 1 of 2 spends", "replace-one: epsilon 1.455 by 2 of 2 spends"}},
		"rest": {nil, []string{"-private-rows", "3", "-rest-public"}, "replace-one, row 3, rest public",
			[]string{"replace-one: epsilon 1 by 1 of 2 spends", "replace-one, row 3, rest public: epsilon 1.455 by 2 of 2 spends"}},
		"null": {nil, []string{"-relation", "null"}, "none",
			[]string{"replace-one: epsilon 1 by 1 of 2 spends", "null: epsilon 1 by 1 of 2 spends"}},
	} {
		ledger := filepath.Join(temp, name+".ledger")
		out := func(number string) string { return filepath.Join(temp, name+number) }
		succeed(t, "budget", "create", ledger, "-kind", "gdp", "-epsilon", "2", "-delta", "1e-6")
		succeed(t, private(folder, ledger, out("1"), c.first...)...)
		before, _ := os.ReadFile(ledger)
		refuse(t, cli.Failed, private(folder, ledger, out("2"), c.second...), "another relation: the earlier spends of this record protect")
		refuse(t, cli.Failed, private(folder, ledger, out("2"), c.second...), "the flag is -other-relation")
		if after, _ := os.ReadFile(ledger); string(after) != string(before) {
			t.Errorf("%s: a refusal was written down", name)
		}
		stdout, _ := succeed(t, private(folder, ledger, out("2"), append(c.second, "-other-relation", "-quiet=false")...)...)
		show, _ := succeed(t, "budget", "show", ledger, "-unit", "secret-name")
		for _, text := range []string{stdout, show} {
			soFar := linesOf(text, "so far")
			if proved := strings.Contains(soFar, "proved in any case, for these pairs, is the budget, epsilon 2"); proved == (c.both == "none") {
				t.Errorf("%s: %s", name, soFar)
			}
			want := "for the pairs of data sets that all of these spends protect (" + c.both + "), and for no others"
			if c.both == "none" {
				want = "no pair of data sets is known to be protected by all of these spends: the total promises nothing"
			}
			if !strings.Contains(soFar, want) {
				t.Errorf("%s: %s", name, soFar)
			}
			parts := strings.Split(linesOf(text, "parts"), "\n")
			if len(parts) != 3 || parts[0] != c.parts[0] || parts[1] != c.parts[1] {
				t.Errorf("%s: parts %q", name, parts)
			}
		}
		stdout, _ = succeed(t, "budget", "show", ledger, "-json")
		unit := object(t, stdout)["units"].([]any)[0].(map[string]any)
		if parts := unit["subtotals"].([]any); unit["protects"] != c.both || len(parts) != 2 || !strings.HasPrefix(c.parts[0], parts[0].(map[string]any)["protects"].(string)+": ") {
			t.Errorf("%s: %v", name, unit)
		}
		stdout, _ = succeed(t, "budget", "show", ledger)
		if !strings.Contains(stdout, "  "+c.both+"\n") {
			t.Errorf("%s:\n%s", name, stdout)
		}
		stdout, _ = succeed(t, "budget", "verify", ledger, out("1"), out("2"))
		if strings.Count(stdout, "  paid\n") != 2 {
			t.Errorf("%s:\n%s", name, stdout)
		}
	}
}

// In the list of spends, what all up to one of them come to stands next to what all of these
// protect, and not next to what that one does.
func TestSoFarIsForWhatAllProtect(t *testing.T) {
	folder, ledger := toy(t), newLedger(t, t.TempDir())
	for i, relation := range []string{"replace-one", "features-replace", "replace-one", "null", "replace-one"} {
		succeed(t, private(folder, ledger, fmt.Sprint(ledger, i), "-epsilon", "0.1", "-relation", relation, "-other-relation")...)
	}
	show, _ := succeed(t, "budget", "show", ledger, "-unit", "secret-name")
	_, table, _ := strings.Cut(show, "spend  line")
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		words := strings.Fields(line)
		got = append(got, words[7]+" for "+words[9])
	}
	want := []string{"replace-one for replace-one", "features-replace for features-replace", "replace-one for features-replace", "null for none", "replace-one for none"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q\n%s", got, want, show)
	}
}

// Spends of a ledger that noted no relation are shown as such, and no total of them is.
func TestRelationUnknown(t *testing.T) {
	data, err := os.ReadFile("../../mechanism/testdata/relation-unknown.ledger")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.ledger")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	const name = "alice@example.org"
	args := []string{"-unit", name, "-new-unit=false", "-epsilon", "0.5"}
	show, _ := succeed(t, "budget", "show", path, "-unit", name)
	if soFar := linesOf(show, "so far"); !strings.Contains(soFar, "relation unknown: the ledger has not noted") || strings.Contains(soFar, "proved") || !strings.Contains(show, "  unknown ") {
		t.Error(show)
	}
	stdout, _ := succeed(t, "budget", "show", path, "-json")
	if unit := object(t, stdout)["units"].([]any)[0].(map[string]any); unit["protects"] != "unknown" {
		t.Error(stdout)
	}
	refuse(t, cli.Failed, private(toy(t), path, path+".release", args...), "the earlier spends of this record together protect no known pair of data sets")
	succeed(t, private(toy(t), path, path+".release", append(args, "-other-relation")...)...)
	show, _ = succeed(t, "budget", "show", path, "-unit", name)
	if parts := linesOf(show, "parts"); !strings.HasPrefix(parts, "relation unknown: 1 of 2 spends; nothing is known that they protect together\nreplace-one: epsilon 0.5 by 1 of 2 spends\n") {
		t.Errorf("%s\n%s", parts, show)
	}
}

// A client that has paid for a release and asks then has to say so, before anything is sent
// about a row.
func TestQueryOtherRelation(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	if err := os.Remove(p.ledger); err != nil {
		t.Fatal(err)
	}
	succeed(t, "budget", "create", p.ledger, "-epsilon", "20", "-delta", "1e-6")
	succeed(t, private(toy(t), p.ledger, p.out+".release", "-unit", "me", "-unit-kind", "client", "-records", "3")...)
	args := func(more ...string) []string {
		return p.cells(g.address, append(more, "-client", "me", "-out", p.out)...)
	}
	before := readFile(t, p.ledger)
	refuse(t, cli.Failed, args(), "another relation", `protect "replace-one, 3 records", and this one protects "any data"`, "-other-relation")
	refuse(t, cli.Failed, args("-dry-run"), "another relation", "-other-relation")
	if _, bodies := g.sent(t); bodies != nil || readFile(t, p.ledger) != before {
		t.Error("something was sent or spent")
	}
	stdout, _ := succeed(t, args("-dry-run", "-other-relation")...)
	if !strings.Contains(stdout, "for the pairs of data sets that all of these spends protect (replace-one, 3 records), and for no others") {
		t.Error(stdout)
	}
	succeed(t, args("-other-relation")...)
	if balance := ledgerAt(t, p.ledger).Balances[0]; balance.Protects.String() != "replace-one, 3 records" || len(balance.Subtotals) != 2 {
		t.Errorf("%+v", balance)
	}
}
