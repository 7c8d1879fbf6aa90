package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

// The line of the acceptance: n = 1001, the paper's defaults.
func TestSensitivityOfTheDefaults(t *testing.T) {
	args := strings.Fields("sensitivity -n 1001 -dim 2 -sigma 6 -alpha 0.6 -classes 98 -sigma-q 1e-8 -relation replace-one -epsilon 0.1 -delta 1e-5")
	stdout, _ := succeed(t, append(args, "-json")...)
	v := object(t, stdout)
	wantKeys(t, v, "n dim sigma alpha table classes sigma_q seed operator relation tight relations corrected paper epsilon delta e_to_epsilon odds sensitivity_total sigma_analytic sigma_classical mu rho signal_rms noise_to_signal cautions")
	number := func(path ...string) float64 {
		t.Helper()
		var at any = v
		for _, key := range path {
			at = at.(map[string]any)[key]
		}
		return at.(float64)
	}
	near := func(name string, got, want, part float64) {
		t.Helper()
		if !(math.Abs(got-want) <= part*want) {
			t.Errorf("%s = %g, want %g within %g", name, got, want, part)
		}
	}
	near("tight delta", number("tight", "delta"), 1.27e-8, 0.2)
	near("paper delta", number("paper", "delta"), 5.67e-6, 0.05)
	near("M_ii", number("paper", "M_ii"), 0.804670711391, 1e-9)
	near("M_ij", number("paper", "M_ij"), 3.93240463541e-6, 1e-9)
	near("M", number("paper", "M"), 0.808603116027, 1e-9)
	near("corrected M", number("corrected", "M"), 0.808511248741, 1e-9)
	near("sigma_analytic", number("sigma_analytic"), 30.7495661320*number("sensitivity_total"), 1e-9)
	near("sigma_classical", number("sigma_classical"), 48.4480526261*number("sensitivity_total"), 1e-9)
	near("rho", number("rho"), 0.000528800697815, 1e-9)
	near("signal", number("signal_rms"), 5.4e-9, 0.05)
	near("ratio", number("noise_to_signal"), number("sigma_analytic")/number("signal_rms"), 1e-12)
	if paper := v["paper"].(map[string]any); paper["valid"] != false || paper["proved"] != false {
		t.Errorf("the paper's constant is called valid: %v", paper)
	}
	if total := number("sensitivity_total"); total < number("tight", "delta") || total > number("tight", "delta")*(1+1e-6) {
		t.Errorf("total %g", total)
	}

	stdout, _ = succeed(t, args...)
	for _, words := range []string{"replace-one", "features-null", "not valid for calibration", "analytic rule", "noise to signal", "P[S] <= 1.106 P'[S] + 1e-05", "with probability 0.0012 at most", "x 1.15 except with probability 1e-05",
		"- The guarantee covers", "- The guarantee is P[S]", "- Not protected:", "- The noise of an entry is", "- Proof on paper"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("nothing about %q:\n%s", words, stdout)
		}
	}
}

func TestSensitivityInOtherCases(t *testing.T) {
	stdout, _ := succeed(t, strings.Fields("sensitivity -n 50 -sigma 6 -json")...)
	v := object(t, stdout)
	if v["epsilon"] != nil || v["sigma_analytic"] != nil || v["noise_to_signal"] != nil {
		t.Errorf("noise without a price: %v", v)
	}
	stdout, _ = succeed(t, strings.Fields("sensitivity -n 50 -sigma 6 -alpha 0.5 -epsilon 20 -delta 1e-5 -json")...)
	if v = object(t, stdout); v["sigma_classical"] != nil {
		t.Errorf("the classical rule at epsilon 20: %v", v["sigma_classical"])
	}
	if !strings.Contains(stdout, "no meaningful formal protection") {
		t.Errorf("epsilon 20 is not called what it is: %s", stdout)
	}
	stdout, _ = succeed(t, strings.Fields("sensitivity -n 5 -sigma 1 -alpha 0.6 -classes 10")...)
	if !strings.Contains(stdout, "undefined") {
		t.Errorf("the paper's constant is undefined here:\n%s", stdout)
	}
	stdout, _ = succeed(t, strings.Fields("sensitivity -n 500 -sigma 1 -alpha -0.6 -table equal -operator background -radius 0.9 -json")...)
	if v = object(t, stdout); v["corrected"] != nil || !strings.Contains(fmt.Sprint(v["operator"]), "background") {
		t.Errorf("%v", v)
	}
	// Operators go by the names of plan, also where they share a bound.
	for _, name := range []string{"dense", "poly"} {
		args := strings.Fields("sensitivity -n 500 -sigma 6 -operator " + name)
		if stdout, _ = succeed(t, args...); !strings.Contains(stdout, "operator "+name+")") || strings.Contains(stdout, "full") {
			t.Errorf("%s is called\n%s", name, stdout)
		}
		if stdout, _ = succeed(t, append(args, "-json")...); object(t, stdout)["operator"] != name {
			t.Errorf("%s is called %s", name, stdout)
		}
	}
	// The bounds of other relations are those one gets by asking for them.
	for _, name := range settings.RelationNames() {
		stdout, _ = succeed(t, strings.Fields("sensitivity -n 500 -sigma 6 -alpha 0.5 -operator poly -json -relation "+name)...)
		v = object(t, stdout)
		same := map[string]any{"relation": name, "delta": v["tight"].(map[string]any)["delta"]}
		if all := v["relations"].([]any); len(all) != len(settings.RelationNames()) || !slices.ContainsFunc(all, func(o any) bool { return reflect.DeepEqual(o, same) }) {
			t.Errorf("%v is not among %v", same, all)
		}
	}
	for _, c := range []struct {
		args, words string
		code        int
	}{
		{"-sigma 6", "-n", cli.Usage},
		{"-n 1 -sigma 6", "-n", cli.Usage},
		{"-n 10", "bandwidth is missing", cli.Usage},
		{"-n 10 -sigma 6 -epsilon 1", "go together", cli.Usage},
		{"-n 10 -sigma 6 x.npy", "names are not wanted", cli.Usage},
		{"-n 10 -sigma 6 -relation replce-one", "did you mean replace-one?", cli.Usage},
		{"-n 10 -sigma 6 -operator csr", "no bound is proved", cli.Failed},
		{"-n 10 -sigma 6 -table centred", "no bound is proved", cli.Failed},
		{"-n 10 -sigma 6 -rule classical -epsilon 1 -delta 1e-5", "analytic", cli.Failed},
		{"-n 10 -sigma 0.01", "representable", cli.Failed},
		{"-n 10 -sigma 6 -epsilon 1e-9 -delta 1e-5", "Epsilon", cli.Failed},
		{"-n 2000000000 -dim 100000 -sigma 6", "memory limit exceeded", cli.Failed},
	} {
		t.Run(c.args, func(t *testing.T) {
			refuse(t, c.code, append([]string{"sensitivity"}, strings.Fields(c.args)...), c.words)
		})
	}
}

// private returns the arguments of a privatize call that passes.
func private(features, ledger, out string, more ...string) []string {
	return append([]string{
		"privatize", features, "-sigma", "1", "-alpha", "0.5", "-classes", "8", "-label-mode", "dropped",
		"-epsilon", "1", "-delta", "1e-6", "-ledger", ledger, "-unit", "secret-name", "-new-unit", "-out", out, "-anyway", "-quiet",
	}, more...)
}

func newLedger(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "a.ledger")
	succeed(t, "budget", "create", path, "-epsilon", "5", "-delta", "1e-6")
	return path
}

// pot reads a number from an object within an object of -json.
func pot(v map[string]any, name, kind string) float64 {
	return v[name].(map[string]any)[kind].(float64)
}

// The head of a ledger that privatize prints is one that later calls can ask for; an
// old copy is refused by every verb.
func TestLedgerAtItsHead(t *testing.T) {
	temp := t.TempDir()
	folder, ledger := toy(t), newLedger(t, temp)
	var heads []string
	for i := range 2 {
		args := private(folder, ledger, filepath.Join(temp, fmt.Sprint("r", i)), "-json")
		if i > 0 {
			args = append(args, "-at", heads[0])
		}
		stdout, _ := succeed(t, args...)
		heads = append(heads, object(t, stdout)["head"].(string))
	}
	stdout, _ := succeed(t, "budget", "show", ledger, "-at", heads[1])
	if !strings.Contains(stdout, heads[1]) {
		t.Errorf("%s lacks %s", stdout, heads[1])
	}
	data, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ledger, data[:len(data)/5*3], 0o600); err != nil { // header, reserve, commit
		t.Fatal(err)
	}
	succeed(t, "budget", "show", ledger, "-at", heads[0])
	refuse(t, cli.Failed, []string{"budget", "show", ledger, "-at", heads[1]}, "old copy")
	refuse(t, cli.Failed, []string{"budget", "verify", ledger, filepath.Join(temp, "r0"), "-at", heads[1]}, "old copy")
	refuse(t, cli.Failed, private(folder, ledger, filepath.Join(temp, "r2"), "-at", heads[1]), "old copy")
	refuse(t, cli.Usage, private(folder, "none", filepath.Join(temp, "r2"), "-at", heads[1]), "-ledger FILE")
}

// verify distinguishes releases that were paid for from those that were not.
func TestBudgetVerify(t *testing.T) {
	temp := t.TempDir()
	folder, ledger := toy(t), newLedger(t, temp)
	at := func(name string) string { return filepath.Join(temp, name) }
	succeed(t, private(folder, ledger, at("one"))...)
	succeed(t, private(folder, ledger, at("two.json"), "-label-mode", "randomised", "-label-epsilon", "0.5")...)
	succeed(t, private(folder, ledger, at("three"), "-rule", "classical", "-epsilon", "0.3")...)
	succeed(t, private(folder, "none", at("free"))...)
	stdout, _ := succeed(t, "budget", "verify", ledger, at("one"), at("two.json"), at("three"))
	for _, words := range []string{"every spend of the ledger is for one of them", "paid"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("%s lacks %q", stdout, words)
		}
	}
	stdout, _ = succeed(t, "budget", "verify", ledger, at("two.json"), "-json")
	v := object(t, stdout)
	if r := v["releases"].([]any)[0].(map[string]any); r["paid"] != true || r["spend"] != 3. || len(v["spends_without_release"].([]any)) != 2 {
		t.Errorf("%s", stdout)
	}
	// What fails is printed all the same, line by line.
	fails := func(ledger, words, note string, paths ...string) {
		t.Helper()
		code, stdout, stderr := call(append([]string{"budget", "verify", ledger}, paths...)...)
		if code != cli.Failed || !strings.Contains(stderr, words) || !strings.Contains(stdout, note) {
			t.Errorf("exit code %d, %s%s", code, stdout, stderr)
		}
	}
	fails(ledger, "1 of 2 releases", "has not paid for it", at("one"), at("free"))
	// A release that says something else than what was paid for.
	data, err := os.ReadFile(at("two.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := new(release.Release)
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	r.Grid[0]++
	if data, err = r.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("changed"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	fails(ledger, "1 of 1 releases", "another hash", at("changed"))
	fails(newLedger(t, t.TempDir()), "1 of 1 releases", "has not paid for it", at("one"))
}

// A name the ledger does not know is a second budget for the same rows.
func TestUnitsAreKnownOrNew(t *testing.T) {
	temp := t.TempDir()
	folder, ledger := filepath.Join(temp, "d")+"/", newLedger(t, temp)
	succeed(t, "generate", "-kind", "digits", "-out", folder)
	release := func(name string, more ...string) []string {
		return append([]string{"privatize", folder, "-normalize-rows", "-sigma", "1", "-label-mode", "dropped", "-epsilon", "0.1", "-delta", "1e-6",
			"-ledger", ledger, "-unit", name, "-anyway", "-out", filepath.Join(temp, rand.Text()+".release")}, more...)
	}
	refuse(t, cli.Failed, release("digits"), "-new-unit")
	if _, stderr := succeed(t, release("digits", "-new-unit")...); strings.Contains(stderr, "-new-unit") {
		t.Error(stderr)
	}
	succeed(t, release("digits")...)
	refuse(t, cli.Failed, release("digit"), `did you mean the record "digits"?`)
	refuse(t, cli.Failed, release("Digits"), `did you mean the record "digits"?`)
	if _, stderr := succeed(t, release("digits", "-new-unit")...); !strings.Contains(stderr, "knows this unit already") {
		t.Error(stderr)
	}
	stdout, _ := succeed(t, "budget", "show", ledger, "-json")
	if units := object(t, stdout)["units"].([]any); len(units) != 1 {
		t.Errorf("%d units", len(units))
	}
}

// The digits are released in one folder and continued in another that gets the
// release alone; the engine in this process comes to the same bits.
func TestReleaseTravels(t *testing.T) {
	home, away := t.TempDir(), t.TempDir()
	succeed(t, "generate", "-kind", "digits", "-out", filepath.Join(home, "digits")+"/")
	ledger := newLedger(t, home)
	made := filepath.Join(home, "digits.release")
	stdout, stderr := succeed(t, "privatize", filepath.Join(home, "digits"), "-normalize-rows", "-sigma", "1", "-alpha", "0.5", "-classes", "10",
		"-label-mode", "randomised", "-label-epsilon", "0.3", "-epsilon", "2", "-delta", "1e-6", "-ledger", ledger, "-unit", "secret-name", "-new-unit", "-out", made, "-anyway")
	for _, words := range []string{"guarantee", "epsilon 2", "replace-one", "spend 1 of " + ledger + ", in its line 1\n", made} {
		if !strings.Contains(stdout, words) {
			t.Errorf("nothing about %q:\n%s", words, stdout)
		}
	}
	for _, words := range []string{"Randomised labels cost", "The guarantee is P[S]", "The bound is for one row.", "Not protected:", "The noise of an entry", "Proof on paper"} {
		if !strings.Contains(stderr, "privatemail: privatize: "+words) {
			t.Errorf("nothing about %q:\n%s", words, stderr)
		}
	}
	if code := regexp.MustCompile(`W-[0-9]`); code.MatchString(stdout + stderr) {
		t.Errorf("a code that only documents explain:\n%s%s", stdout, stderr)
	}
	wantFiles(t, home, "a.ledger", "digits", "digits.release")

	there := filepath.Join(away, "there.release")
	if err := os.WriteFile(there, []byte(readFile(t, made)), 0o666); err != nil {
		t.Fatal(err)
	}
	succeed(t, "continue", there, "-mean-neighbours", "20", "-steps", "3", "-out", filepath.Join(away, "z.npy"), "-quiet", "-workers", "1")
	wantFiles(t, away, "there.release", "z.npy")

	r, err := files.ReadRelease(made)
	if err != nil {
		t.Fatal(err)
	}
	want, err := sameEngine(t, privatemail.WithWorkers(2)).Continue(t.Context(), r, nil, &post.Settings{MeanNeighbours: 20, Steps: 3})
	if err != nil {
		t.Fatal(err)
	}
	wantPoints(t, filepath.Join(away, "z.npy"), want.Points)
	for _, path := range []string{made, ledger} {
		if strings.Contains(readFile(t, path), "secret-name") {
			t.Errorf("%s has the name of the unit", path)
		}
	}
}

// Public labels go along, in either form of the release.
func TestContinueWithPublicLabels(t *testing.T) {
	folder := toy(t)
	temp := t.TempDir()
	out := filepath.Join(temp, "r.json")
	args := strings.Fields("privatize " + folder + " -sigma 1 -alpha 0.5 -label-mode public -relation features-replace -epsilon 1 -delta 1e-6 -ledger none -anyway -json -out " + out)
	stdout, _ := succeed(t, args...)
	v := object(t, stdout)
	wantKeys(t, v, "n d dim id relation operator derivation epsilon delta rule sensitivity sigma mu rho label_mode label_epsilon ledger sha256 cautions out")
	if v["ledger"] != 0. || v["relation"] != "features-replace" {
		t.Errorf("%v", v)
	}
	if !strings.HasPrefix(readFile(t, out), "{") {
		t.Error(".json is not readable")
	}
	z := filepath.Join(temp, "z.npy")
	labels := filepath.Join(folder, files.LabelsName)
	stdout, _ = succeed(t, "continue", out, "-labels", labels, "-mean-neighbours", "8", "-out", z, "-json")
	v = object(t, stdout)
	wantKeys(t, v, "n dim labels operator sigma status trace out")
	if v["labels"] != "public" || len(v["trace"].([]any)) != 4 {
		t.Errorf("%v", v)
	}
	with := readFile(t, z)
	stdout, _ = succeed(t, "continue", out, "-mean-neighbours", "8", "-out", z, "-v")
	if !strings.Contains(stdout, "no labels") || readFile(t, z) == with {
		t.Errorf("the labels had no effect: %s", stdout)
	}
	if !strings.Contains(stdout, "epsilon 1, delta 1e-06") || !strings.Contains(stdout, "dense or poly)") {
		t.Errorf("nothing about the guarantee and its operator: %s", stdout)
	}
	refuse(t, cli.Usage, []string{"continue", out, "-out", z, "-alpha", "1"}, "-labels FILE")
	short := filepath.Join(temp, "short.csv")
	if err := os.WriteFile(short, []byte("0\n1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, []string{"continue", out, "-out", z, "-labels", short}, "2 labels, but the release has 300 rows")
	// The bandwidth of the first step does not suit a start of 1e-8.
	if _, stderr := succeed(t, "continue", out, "-out", z); !strings.Contains(stderr, "-mean-neighbours 20") {
		t.Errorf("no note on a graph without information: %q", stderr)
	}
	if _, stderr := succeed(t, "continue", out, "-mean-neighbours", "0.01", "-out", z); !strings.Contains(stderr, "neighbours on average, not 0.01") {
		t.Errorf("no note on a graph with other neighbours: %q", stderr)
	}
	refuse(t, cli.Failed, []string{"continue", out, "-labels", labels, "-mean-neighbours", "8", "-alpha", "1e30", "-out", z}, out+": ", "-normalize, -steps and -alpha\n")
	// Labels that only later steps use, as the table is.
	args = strings.Fields("privatize " + folder + " -sigma 1 -table different -label-mode public -relation features-replace -epsilon 1 -delta 1e-6 -ledger none -anyway -labels " + labels + " -out " + filepath.Join(temp, "unlabelled"))
	if _, stderr := succeed(t, args...); !strings.Contains(stderr, "-labels has no effect") {
		t.Errorf("no note on labels nobody reads: %q", stderr)
	}
	// The released points themselves, with flags that no step would follow.
	for name, value := range map[string]string{"-mean-neighbours": "8", "-sigma": "1", "-alpha": "1", "-labels": labels, "-operator": "dense", "-stop": "0.1", "-normalize": "centred"} {
		refuse(t, cli.Usage, []string{"continue", out, "-steps", "0", name, value, "-out", z}, "-steps 0", name)
	}
	succeed(t, "continue", out, "-steps", "0", "-out", z)
	r, err := files.ReadRelease(out)
	if err != nil {
		t.Fatal(err)
	}
	want, err := post.Points(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := formats.ReadMatrix(z)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	for i, v := range got.Data {
		if v != float32(want.At(i/2, i%2)) {
			t.Fatalf("entry %d: %v, want %v", i, v, want.At(i/2, i%2))
		}
	}
}

// A refused request leaves no file and spends nothing.
func TestPrivatizeRefusals(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	ledger, out := newLedger(t, temp), filepath.Join(temp, "r.release")
	bad := filepath.Join(t.TempDir(), "bad.npy")
	data := make([]float32, 300*4)
	for i := range data {
		data[i] = 0.5
	}
	writeMatrix(t, bad, 300, 4, data)
	data[7] = float32(math.NaN())
	nan := filepath.Join(t.TempDir(), "nan.npy")
	writeMatrix(t, nan, 300, 4, data)
	data[7] = 0.87654321
	long := filepath.Join(t.TempDir(), "long.npy")
	writeMatrix(t, long, 300, 4, data)
	data[7] = 0.5
	clear(data[3*4 : 4*4])
	zero := filepath.Join(t.TempDir(), "zero.npy")
	writeMatrix(t, zero, 300, 4, data)
	labels := filepath.Join(folder, files.LabelsName)
	empty := readFile(t, ledger)

	without := func(flag string) []string { // private without a flag and its value
		args := private(folder, ledger, out)
		for i, a := range args {
			if a == flag {
				return append(append([]string{}, args[:i]...), args[i+2:]...)
			}
		}
		t.Fatalf("no flag %s", flag)
		return nil
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		word string
	}{
		{"no epsilon", without("-epsilon"), cli.Usage, "-epsilon"},
		{"no delta", without("-delta"), cli.Usage, "-delta"},
		{"no label mode", without("-label-mode"), cli.Usage, "-label-mode"},
		{"no ledger", without("-ledger"), cli.Usage, "budget create"},
		{"no unit", without("-unit"), cli.Usage, "-unit"},
		{"no out", without("-out"), cli.Usage, "-out"},
		{"no sigma", without("-sigma"), cli.Usage, "-sigma"},
		{"no features", append([]string{"privatize"}, private(folder, ledger, out)[2:]...), cli.Usage, "FEATURES"},
		{"public labels, private label", private(folder, ledger, out, "-label-mode", "public"), cli.Usage, "features-replace"},
		{"unknown relation", private(folder, ledger, out, "-relation", "any"), cli.Usage, "replace-one"},
		{"truncated", private(folder, ledger, out, "-operator", "csr"), cli.Failed, "no bound is proved"},
		{"radius with dense", private(folder, ledger, out, "-operator", "dense", "-radius", "1"), cli.Failed, "radius"},
		{"centred table", private(folder, ledger, out, "-table", "centred"), cli.Failed, "no bound is proved"},
		{"classical at 1", private(folder, ledger, out, "-rule", "classical"), cli.Failed, "analytic"},
		{"epsilon too large", private(folder, ledger, out, "-epsilon", "101"), cli.Failed, "Epsilon"},
		{"budget exceeded", private(folder, ledger, out, "-epsilon", "6"), cli.Failed, "exceeded"},
		{"labels out of range", private(folder, ledger, out, "-classes", "3"), cli.Failed, "0 .. 2"},
		{"randomised without a price", private(folder, ledger, out, "-label-mode", "randomised"), cli.Usage, "-label-epsilon"},
		{"a price for nothing", private(folder, ledger, out, "-label-epsilon", "1"), cli.Usage, "randomised"},
		{"randomised public labels", private(folder, ledger, out, "-label-mode", "randomised", "-label-epsilon", "1", "-relation", "features-replace"), cli.Failed, "label"},
		{"missing ledger", private(folder, filepath.Join(temp, "none.ledger"), out), cli.Failed, "budget create"},
		{"ledger is features", private(folder, filepath.Join(folder, files.FeaturesName), out), cli.Failed, "ledger"},
		{"out is the ledger", private(folder, ledger, ledger), cli.Failed, "ledger"},
		{"out is the features", private(folder, ledger, filepath.Join(folder, files.FeaturesName)), cli.Usage, "replace"},
		{"out in no folder", private(folder, ledger, filepath.Join(temp, "no", "r")), cli.Failed, "no folder"},
		{"NaN", private(nan, ledger, out, "-labels", labels), cli.Failed, "row 2, column 4"},
		{"not of unit norm", private(long, ledger, out, "-labels", labels), cli.Failed, "-normalize-rows"},
		{"zero row", private(zero, ledger, out, "-labels", labels), cli.Failed, "zero.npy: row 4 is zero; only the relations null and features-null allow one such row, and it must be private; remove the row"},
		{"null record that is public", private(zero, ledger, out, "-labels", labels, "-relation", "features-null", "-private-rows", "5", "-normalize-rows"), cli.Failed, "row 4 is zero; only the relations"},
		{"a table for nothing", append(without("-alpha"), "-table", "different"), cli.Usage, "-table is about labels"},
		{"no labels", private(bad, ledger, out), cli.Usage, "-labels"},
		{"no labels to randomise", private(bad, ledger, out, "-alpha", "0", "-label-mode", "randomised", "-label-epsilon", "1"), cli.Usage, "randomise"},
		{"rest public without a row", private(folder, ledger, out, "-rest-public"), cli.Usage, "-private-rows"},
		{"private row outside", private(folder, ledger, out, "-private-rows", "300"), cli.Failed, "300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			refuse(t, c.code, c.args, c.word)
			_, _, stderr := call(c.args...)
			if strings.Contains(stderr, "0.8765") || strings.Contains(stderr, "secret-name") {
				t.Errorf("%q tells too much", stderr)
			}
			wantFiles(t, temp, "a.ledger")
			if readFile(t, ledger) != empty {
				t.Error("the ledger has changed")
			}
		})
	}
}

func TestContinueRefusals(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	r, z := filepath.Join(temp, "r.release"), filepath.Join(temp, "z.npy")
	succeed(t, private(folder, "none", r)...)
	tiny := filepath.Join(temp, "tiny.release")
	succeed(t, private(folder, "none", tiny, "-sigma-q", "1e-35")...)
	whole := readFile(t, r)
	for name, data := range map[string]string{"short": whole[:len(whole)-9], "flipped": whole[:300] + string(whole[300]^1) + whole[301:], "more": whole + "x", "empty": "", "text": "hello", "json": `{"format":"x"}`} {
		path := filepath.Join(temp, name)
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		refuse(t, cli.Failed, []string{"continue", path, "-out", z}, path)
	}
	labels := filepath.Join(folder, files.LabelsName)
	for _, c := range []struct {
		args []string
		code int
		word string
	}{
		{[]string{"continue", "-out", z}, cli.Usage, "RELEASE"},
		{[]string{"continue", r, r, "-out", z}, cli.Usage, "one RELEASE"},
		{[]string{"continue", r}, cli.Usage, "-out"},
		{[]string{"continue", r, "-out", r}, cli.Usage, "replace"},
		{[]string{"continue", r, "-out", z, "-labels", labels}, cli.Usage, "dropped"},
		{[]string{"continue", r, "-out", z, "-alpha", "1"}, cli.Usage, "dropped"},
		{[]string{"continue", filepath.Join(folder, files.FeaturesName), "-out", z}, cli.Failed, "do not begin like a release"},
		{[]string{"continue", r, "-out", z, "-sigma", "1", "-mean-neighbours", "2"}, cli.Usage, "exclude"},
		{[]string{"continue", r, "-out", z, "-steps", "-1"}, cli.Usage, "0 or more"},
		{[]string{"continue", r, "-out", filepath.Join(temp, "z.png")}, cli.Usage, "png"},
		{[]string{"continue", temp, "-out", z}, cli.Failed, "folder"},
		{[]string{"continue", filepath.Join(temp, "absent"), "-out", z}, cli.Failed, "no such file"},
		{[]string{"continue", r, "-out", z, "-max-memory", "1K"}, cli.Failed, "-max-memory"},
		{[]string{"continue", r, "-out", z, "-max-memory", "1K"}, cli.Failed, r + ": embedding of 300 x 2"},
		{[]string{"continue", r, "-out", z, "-convention", "program"}, cli.Usage, "-convention says what -sigma means"},
		{[]string{"continue", r, "-out", z, "-operator", "dense", "-cutoff-weight", "0.1"}, cli.Usage, "-operator dense does not cut"},
		{[]string{"continue", r, "-out", z, "-sigma", "1e-12", "-operator", "csr", "-isolated", "fail"}, cli.Failed, r + ": "},
		{[]string{"continue", r, "-out", z, "-sigma", "1e-12", "-operator", "csr", "-isolated", "fail"}, cli.Failed, "-isolated repair"},
		{[]string{"continue", tiny, "-out", z}, cli.Failed, tiny + ": released numbers are out of range"},
	} {
		refuse(t, c.code, c.args, c.word)
	}
	if _, err := os.Stat(z); err == nil {
		t.Error("a refused request left a file")
	}
}

func TestBudget(t *testing.T) {
	temp := t.TempDir()
	ledger := newLedger(t, temp)
	refuse(t, cli.Failed, []string{"budget", "create", ledger, "-epsilon", "9", "-delta", "1e-6"}, "exists already")
	stdout, _ := succeed(t, "budget", "show", ledger)
	if !strings.Contains(stdout, "nothing has been spent") || !strings.Contains(stdout, "epsilon 5") {
		t.Errorf("%s", stdout)
	}
	stdout, _ = succeed(t, "budget", "create", filepath.Join(temp, "b.ledger"), "-epsilon", "5", "-delta", "1e-6", "-json")
	if v := object(t, stdout); v["records"] != 0. || len(v["head"].(string)) != 66 || v["kind"] != "mixed" || pot(v, "whole", "pure") != 2.5 || !(pot(v, "whole", "rho") > 0) {
		t.Errorf("%v", v)
	}
	folder := toy(t)
	for i := range 2 {
		succeed(t, private(folder, ledger, filepath.Join(temp, fmt.Sprint("r", i)))...)
	}
	stdout, _ = succeed(t, "budget", "show", ledger, "-json")
	v := object(t, stdout)
	wantKeys(t, v, "kind epsilon delta whole records head units spends ledger")
	spends := v["spends"].([]any)
	if len(spends) != 2 || spends[1].(map[string]any)["epsilon"] != 1. || spends[1].(map[string]any)["released"] != true {
		t.Errorf("spends %v", spends)
	}
	units := v["units"].([]any)
	if len(units) != 1 || v["records"] != 4. { // reserve and commit, twice
		t.Fatalf("%v", v)
	}
	one := units[0].(map[string]any)
	c, err := mechanism.Analytic.Multiplier(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if spent := pot(one, "spent", "rho"); math.Abs(spent-2/(2*c*c)) > 1e-9 {
		t.Errorf("spent %g", spent)
	}
	if e := one["epsilon_spent"].(float64); !(e > 1.4 && e < 1.6) { // more than 1, less than 2
		t.Errorf("two releases at epsilon 1 are worth %g", e)
	}
	if strings.Contains(stdout, "secret-name") {
		t.Error("the name is shown")
	}
	stdout, _ = succeed(t, "budget", "show", ledger, "-unit", "secret-name")
	if !strings.Contains(stdout, one["unit"].(string)) || !strings.Contains(stdout, spends[0].(map[string]any)["release"].(string)) {
		t.Errorf("%s", stdout)
	}
	for name, words := range map[string]string{
		"nobody":      `unknown unit: no record "nobody" has spent from it (a ledger has hashes in place of names, so it cannot list them)`,
		"secret-nam":  `unknown unit: no record "secret-nam" has spent from it (did you mean the record "secret-name"?)`,
		"Secret-name": `did you mean the record "secret-name"?`, "secert-name": `did you mean the record "secret-name"?`,
	} {
		refuse(t, cli.Failed, []string{"budget", "show", ledger, "-unit", name, "-json"}, words)
	}
	refuse(t, cli.Usage, []string{"budget", "show", ledger, "-unit", ""}, "needs a name")
	refuse(t, cli.Usage, []string{"budget", "show", ledger, "-at", ""}, "NUMBER:HASH")
	refuse(t, cli.Failed, []string{"budget", "show", ledger, "-unit", "secret-name", "-unit-kind", "client"}, `did you mean the record "secret-name"?`)
	for _, c := range []struct {
		args, words string
		code        int
	}{
		{"", "create", cli.Usage}, {"create", "LEDGER", cli.Usage}, {"shwo x", "show", cli.Usage},
		{"create x -delta 1e-6", "-epsilon", cli.Usage}, {"create x -epsilon 1", "-delta", cli.Usage},
		{"create x -epsilon 1 -delta 1e-6 -unit a", "-unit", cli.Usage},
		{"create x -kind pure -epsilon 1 -delta 1e-6", "delta 0", cli.Usage},
		{"create x -epsilon 1e9 -delta 1e-6", "Epsilon", cli.Failed},
		{"create no/x -epsilon 1 -delta 1e-6", "no folder", cli.Failed},
		{"show x -epsilon 1", "for budget create", cli.Usage}, {"verify x -unit u", "for budget show", cli.Usage}, {"create x -at 0:" + strings.Repeat("0", 64), "for budget", cli.Usage},
		{"create x -kind gdp -epsilon 1 -delta 1e-6 -pure-share 0.5", "two pots", cli.Usage}, {"create x -epsilon 1e-6 -delta 1e-6", "PureEpsilon", cli.Failed},
		{"show " + ledger + " -at 4", "NUMBER:HASH", cli.Usage}, {"show " + ledger + " -at x:" + strings.Repeat("0", 64), "NUMBER:HASH", cli.Usage},
		{"show " + ledger + " -at 4:" + strings.Repeat("0", 63), "NUMBER:HASH", cli.Usage}, {"show " + ledger + " -at 4:" + strings.Repeat("0", 65), "NUMBER:HASH", cli.Usage},
		{"show " + ledger + " -at 4:" + strings.Repeat("0", 64), "record 4 differs", cli.Failed}, {"show " + ledger + " -at 5:" + strings.Repeat("0", 64), "old copy", cli.Failed},
		{"create none -epsilon 1 -delta 1e-6", "no ledger", cli.Usage},
		{"verify " + ledger, "RELEASE", cli.Usage}, {"verify " + ledger + " absent", "absent", cli.Failed}, {"show absent", "budget create", cli.Failed},
		{"show " + filepath.Join(folder, files.FeaturesName), "ledger", cli.Failed},
	} {
		refuse(t, c.code, append([]string{"budget"}, strings.Fields(c.args)...), c.words)
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a refused ledger was made")
	}
	// A ledger in use is not shared.
	held, err := mechanism.OpenLedger(ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	refuse(t, cli.Failed, private(folder, ledger, filepath.Join(temp, "r9")), "another process")
	succeed(t, "budget", "show", ledger)
}

// The kinds of ledgers that count otherwise.
func TestOtherLedgers(t *testing.T) {
	temp, folder := t.TempDir(), toy(t)
	pure, zcdp := filepath.Join(temp, "pure"), filepath.Join(temp, "zcdp")
	succeed(t, "budget", "create", pure, "-kind", "pure", "-epsilon", "3")
	succeed(t, "budget", "create", zcdp, "-kind", "zcdp", "-epsilon", "3", "-delta", "1e-6")
	refuse(t, cli.Failed, private(folder, pure, filepath.Join(temp, "r")), "pure")
	succeed(t, private(folder, zcdp, filepath.Join(temp, "r"))...)
}

// The guarantee that is printed is that of all that is released: randomised
// labels are in it, and a client's is for all its rows.
func TestPrintedGuarantee(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	args := func(name string, more ...string) []string {
		return append(strings.Fields("privatize "+folder+" -sigma 1 -alpha 0.5 -classes 10 -epsilon 0.5 -delta 1e-6 -ledger none -anyway -out "+filepath.Join(temp, name)), more...)
	}
	stdout, stderr := succeed(t, args("a", "-label-mode", "randomised", "-label-epsilon", "8", "-v")...)
	if !strings.Contains(stdout, "epsilon 8.5, ") || !strings.Contains(stdout, "P[S] <= 4915 P'[S] + ") || strings.Contains(stderr, "strong promise") {
		t.Errorf("labels at epsilon 8 are not in the guarantee:\n%s%s", stdout, stderr)
	}
	stdout, _ = succeed(t, args("json", "-label-mode", "randomised", "-label-epsilon", "8", "-json")...)
	if v := object(t, stdout); v["epsilon"] != 0.5 || v["epsilon_total"] != 8.5 || v["records"] != 1. {
		t.Errorf("%v", v)
	}
	refuse(t, cli.Usage, args("b", "-label-mode", "dropped", "-unit-kind", "client"), "-records")
	stdout, _ = succeed(t, args("many", "-label-mode", "dropped", "-unit-kind", "client", "-records", "20")...)
	if !strings.Contains(stdout, "20 rows that change together") {
		t.Error(stdout)
	}
}

// No output replaces a ledger, whether or not it is the one in use, nor a release.
func TestOutputIsPaidFor(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	ledger, made := filepath.Join(temp, "other.npy"), filepath.Join(temp, "r")
	succeed(t, "budget", "create", ledger, "-epsilon", "1", "-delta", "1e-6")
	succeed(t, private(folder, "none", made)...)
	before, release := readFile(t, ledger), readFile(t, made)
	refuse(t, cli.Failed, private(folder, "none", ledger), "ledger")
	refuse(t, cli.Failed, private(folder, ledger, ledger), "ledger")
	refuse(t, cli.Failed, []string{"embed", folder, "-sigma", "1", "-out", ledger}, "ledger")
	refuse(t, cli.Failed, []string{"continue", made, "-mean-neighbours", "5", "-out", ledger}, "ledger")
	refuse(t, cli.Failed, private(folder, "none", made), "paid for")
	// The folder before ".." is a link: what is replaced lies next to its target.
	if err := errors.Join(os.MkdirAll(filepath.Join(temp, "away", "sub"), 0o777),
		os.Symlink(filepath.Join("away", "sub"), filepath.Join(temp, "d")), os.Symlink("d/../me.npy", filepath.Join(temp, "l.npy")),
		os.Rename(ledger, filepath.Join(temp, "away", "me.npy"))); err != nil {
		t.Fatal(err)
	}
	ledger = filepath.Join(temp, "away", "me.npy")
	refuse(t, cli.Failed, []string{"embed", folder, "-sigma", "1", "-out", filepath.Join(temp, "l.npy")}, "ledger")
	if readFile(t, ledger) != before || readFile(t, made) != release {
		t.Error("a file has changed")
	}
}
