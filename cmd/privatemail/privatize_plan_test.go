package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// drowning are the arguments of a release whose noise exceeds its signal, fine those of
// one whose signal exceeds its noise.
func drowning(features string, more ...string) []string {
	return append([]string{"privatize", features, "-normalize-rows", "-sigma", "1", "-alpha", "0.5", "-classes", "10", "-label-mode", "dropped",
		"-epsilon", "1", "-delta", "1e-6"}, more...)
}

func fine(features string, more ...string) []string {
	return append([]string{"privatize", features, "-normalize-rows", "-sigma", "6", "-alpha", "0.5", "-classes", "10", "-label-mode", "public",
		"-relation", "features-replace", "-epsilon", "1", "-delta", "1e-6"}, more...)
}

// A release whose noise exceeds its signal is refused before it spends, with -json too, and
// -anyway makes it.
func TestNoiseAboveSignal(t *testing.T) {
	temp := t.TempDir()
	digits, ledger, out := filepath.Join(temp, "digits")+"/", newLedger(t, temp), filepath.Join(temp, "r.release")
	succeed(t, "generate", "-kind", "digits", "-out", digits)
	empty := readFile(t, ledger)
	pays := []string{"-ledger", ledger, "-unit", "u", "-new-unit", "-out", out}
	refuse(t, cli.Failed, drowning(digits, pays...), "66 times", "-anyway", "-dry-run", "nothing is spent")
	if code, stdout, _ := call(drowning(digits, append(pays, "-json")...)...); code != cli.Failed || stdout != "" {
		t.Errorf("exit code %d, %q", code, stdout)
	}
	wantFiles(t, temp, "a.ledger", "digits")
	if readFile(t, ledger) != empty {
		t.Error("the refusal has changed the ledger")
	}
	stdout, _ := succeed(t, drowning(digits, append(pays, "-anyway", "-json")...)...)
	if v := object(t, stdout); v["noise_to_signal"].(float64) < 65 || v["signal_rms"].(float64) <= 0 {
		t.Errorf("%s", stdout)
	}
	succeed(t, fine(digits, "-ledger", "none", "-out", filepath.Join(temp, "fine.release"))...)
}

// A dry run shows what the run spends, and leaves every file as it is.
func TestDryRunOfPrivatize(t *testing.T) {
	temp := t.TempDir()
	digits, ledger := filepath.Join(t.TempDir(), "digits")+"/", newLedger(t, temp)
	succeed(t, "generate", "-kind", "digits", "-out", digits)
	pays := []string{"-ledger", ledger, "-unit", "u", "-new-unit"}
	for i := range 2 {
		before, contents := readFile(t, ledger), filesOf(t, temp)
		stdout, _ := succeed(t, drowning(digits, append(pays, "-dry-run")...)...)
		for _, words := range []string{"1797 x 2", "ratio", "66", "refused without -anyway", "would spend", "epsilon 1 of noise from " + ledger, "left", "nothing is spent or written"} {
			if !strings.Contains(stdout, words) {
				t.Errorf("nothing about %q:\n%s", words, stdout)
			}
		}
		stdout, _ = succeed(t, drowning(digits, append(pays, "-dry-run", "-json", "-anyway")...)...)
		plan := object(t, stdout)
		wantKeys(t, plan, "dry_run n d dim relation operator derivation epsilon epsilon_total delta odds_exceed odds_at_delta epsilon_records rule sensitivity sigma mu rho records label_mode label_epsilon signal_rms noise_to_signal refused ledger cautions")
		if readFile(t, ledger) != before || !maps.EqualFunc(filesOf(t, temp), contents, bytes.Equal) {
			t.Fatal("the dry run has changed something")
		}
		said := plan["ledger"].(map[string]any)
		if said["new_unit"] != (i == 0) || said["fits"] != true || len(plan["refused"].([]any)) != 0 {
			t.Errorf("%s", stdout)
		}
		stdout, _ = succeed(t, drowning(digits, append(pays, "-anyway", "-json", "-out", filepath.Join(temp, string(rune('a'+i))))...)...)
		made := object(t, stdout)
		for _, key := range strings.Fields("n d dim relation operator derivation epsilon epsilon_total delta odds_exceed odds_at_delta epsilon_records rule sensitivity sigma mu rho records label_mode signal_rms noise_to_signal") {
			if plan[key] != made[key] {
				t.Errorf("%s: planned %v, made %v", key, plan[key], made[key])
			}
		}
		stdout, _ = succeed(t, "budget", "show", ledger, "-json")
		unit := object(t, stdout)["units"].([]any)[0].(map[string]any)
		left := pot(unit, "remaining", "rho")
		if planned := pot(said, "left_after", "rho"); planned < left-1e-12 || planned > left+1e-12 || said["epsilon_after"] != unit["epsilon_spent"] || said["unit_protects"] != unit["protects"] {
			t.Errorf("planned %v, the unit has %v", said, unit)
		}
	}
	// What does not fit is said, and is no failure of the dry run.
	small := filepath.Join(temp, "small.ledger")
	succeed(t, "budget", "create", small, "-epsilon", "1", "-delta", "1e-6")
	stdout, _ := succeed(t, drowning(digits, "-ledger", small, "-unit", "u", "-new-unit", "-dry-run", "-json")...)
	if refused := object(t, stdout)["refused"].([]any); len(refused) != 2 || refused[0] != "noise" || refused[1] != "budget" {
		t.Errorf("refused for %v", refused)
	}
	stdout, _ = succeed(t, drowning(digits, "-ledger", small, "-unit", "u", "-new-unit", "-dry-run")...)
	if !strings.Contains(stdout, "it does not fit and is refused") {
		t.Errorf("%s", stdout)
	}
	// Whose budget it is has to be known as in a run.
	refuse(t, cli.Failed, drowning(digits, "-ledger", small, "-unit", "u", "-dry-run"), "unknown unit")
	refuse(t, cli.Failed, fine(digits, append(pays, "-dry-run")...), "-other-relation")
	// The null record lies between two real ones.
	null := []string{"-relation", "features-null", "-ledger", "none"}
	stdout, _ = succeed(t, fine(digits, append(null, "-dry-run", "-json")...)...)
	made, _ := succeed(t, fine(digits, append(null, "-json", "-out", filepath.Join(temp, "null"))...)...)
	if planned, made := object(t, stdout)["epsilon_records"].(float64), object(t, made)["epsilon_records"].(float64); planned < made*(1-1e-9) || planned > made*(1+1e-9) {
		t.Errorf("epsilon between records: planned %v, made %v", planned, made)
	}
}

// What a dry run prints is the same for other private rows and labels: for any that are as
// many, and with -rest-public for any in the place of the private one.
func TestDryRunTellsNothingPrivate(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	ledger := newLedger(t, temp)
	rows := make([]float32, 40*4)
	for i := range rows {
		rows[i] = float32(i%7) - 2.5
	}
	labels := func(first string) string { return first + "\n" + strings.Repeat("1\n2\n0\n", 13) }
	write := func(first string) {
		writeMatrix(t, at("x.npy"), 40, 4, rows)
		if err := os.WriteFile(at("y.csv"), []byte(labels(first)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plans := func(more ...string) string {
		stdout, stderr := succeed(t, append(drowning(at("x.npy"), "-labels", at("y.csv"), "-ledger", ledger, "-unit", "u", "-new-unit", "-dry-run", "-v"), more...)...)
		again, _ := succeed(t, append(drowning(at("x.npy"), "-labels", at("y.csv"), "-ledger", ledger, "-unit", "u", "-new-unit", "-dry-run", "-json"), more...)...)
		return stdout + stderr + again
	}
	one := []string{"-private-rows", "0", "-rest-public"}
	write("2")
	any, rest := plans(), plans(one...)
	if any == rest {
		t.Error("-rest-public makes no difference")
	}
	rows[0], rows[1] = -9, 4
	write("1")
	if plans() != any || plans(one...) != rest {
		t.Error("the plan depends on the private row")
	}
	for i := range rows {
		rows[i] = float32(i%5) - 1.5
	}
	write("1")
	if plans() != any {
		t.Error("the plan depends on the rows")
	}
	if plans(one...) == rest {
		t.Error("the plan does not depend on the public rows")
	}
}

// The budget of the example in docs/privacy.md pays for its release twice, and not for a third.
func TestBudgetOfTheExample(t *testing.T) {
	message, err := os.ReadFile("../../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(message), "\n## An example\n")
	example, _, _ = strings.Cut(example, "\n## ")
	var create, release []string
	for line := range strings.Lines(strings.ReplaceAll(example, "\\\n", " ")) {
		line, _, _ = strings.Cut(line, "#")
		switch words := strings.Fields(line); {
		case len(words) < 3 || words[0] != "privatemail":
		case words[1] == "budget" && words[2] == "create" && create == nil:
			create = words[1:]
		case words[1] == "privatize" && slices.Contains(words, "-out"):
			release = words[1:]
		}
	}
	if create == nil || release == nil {
		t.Fatal("docs/privacy.md has no such example")
	}
	t.Chdir(t.TempDir())
	succeed(t, "generate", "-kind", "digits", "-out", "digits/")
	succeed(t, create...)
	again := func(out string) []string {
		args := slices.Clone(release)
		args[slices.Index(args, "-out")+1] = out
		return args
	}
	succeed(t, release...)
	succeed(t, again("second.release")...)
	refuse(t, cli.Failed, again("third.release"), "exceeded")
}
