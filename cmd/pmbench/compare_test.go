package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.03}, []float64{0.03}},
		// Smallest first: 4 x 0.005, 3 x 0.01, 2 x 0.03, 1 x 0.04 raised to the one before.
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.9, 0.4}, []float64{1, 1, 1}},
		{[]float64{0.02, 0.02}, []float64{0.04, 0.04}},
	} {
		got := holm(c.p)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-15 {
				t.Errorf("holm(%v) = %v, want %v", c.p, got, c.want)
				break
			}
		}
	}
}

// noisy makes up a recording with the noise of a machine in use: a few percent
// in every measurement, now and then one that was disturbed, and a shift of the
// whole recording.
func noisy(rng *rand.Rand, cases int, slower float64) *recording {
	rec := &recording{path: "made up", cases: map[string]map[string][]float64{}}
	shift := math.Exp(0.005 * rng.NormFloat64())
	for c := range cases {
		name := fmt.Sprintf("Spmm/k=%d", c)
		values := make([]float64, minRuns)
		for i := range values {
			values[i] = 0.01 * float64(c+1) * slower * shift * math.Exp(0.025*rng.NormFloat64())
			if rng.Float64() < 0.1 {
				values[i] *= 1 + 0.5*rng.Float64()
			}
		}
		rec.order = append(rec.order, name)
		rec.cases[name] = map[string][]float64{"sec/op": values}
	}
	return rec
}

// Two recordings of one commit pass in at least 19 of 20 tries, and a build that
// is slower by a tenth is found in at least 19 of 20.
func TestCompareIsRightNineteenTimesOfTwenty(t *testing.T) {
	const tries = 400
	rng := rand.New(rand.NewPCG(7, 8))
	for _, cases := range []int{1, 10} {
		alarms, found := 0, 0
		for range tries {
			old := noisy(rng, cases, 1)
			for slower, counter := range map[float64]*int{1: &alarms, 1.1: &found} {
				all, err := compareRecordings(old, noisy(rng, cases, slower), []string{"sec/op"}, 0.05)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(all, func(c *comparison) bool { return c.Worse }) {
					*counter++
				}
			}
		}
		t.Logf("%d cases: %d alarms about nothing, %d of %d found", cases, alarms, found, tries)
		if alarms*20 > tries {
			t.Errorf("%d cases: %d alarms about nothing in %d tries", cases, alarms, tries)
		}
		if found*20 < tries*19 {
			t.Errorf("%d cases: found %d of %d", cases, found, tries)
		}
	}
}

func fixed(values map[string][]float64) *recording {
	return &recording{path: "made up", order: []string{"X"}, cases: map[string]map[string][]float64{"X": values}}
}

// ramp is minRuns values a little apart.
func ramp(from float64) (v []float64) {
	for i := range minRuns {
		v = append(v, from*(1+0.001*float64(i)))
	}
	return v
}

func TestCompareVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, unit    string
		old, new      float64
		threshold     float64
		worse, better bool
	}{
		{"slower", "sec/op", 1, 1.1, 0.05, true, false},
		{"slower within the threshold", "sec/op", 1, 1.04, 0.05, false, false},
		{"faster", "sec/op", 1, 0.9, 0.05, false, true},
		{"a rate that rose", "Gnnz/s", 1, 1.2, 0.05, false, true},
		{"a rate that fell", "Gnnz/s", 1, 0.9, 0.05, true, false},
		{"more memory", "peak-B", 1, 1.2, 0.05, true, false},
		{"equal", "sec/op", 1, 1, 0, false, false},
	} {
		all, err := compareRecordings(fixed(map[string][]float64{c.unit: ramp(c.old)}), fixed(map[string][]float64{c.unit: ramp(c.new)}), []string{c.unit}, c.threshold)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].Worse != c.worse || all[0].Better != c.better {
			t.Errorf("%s: %+v", c.name, all[0])
		}
	}
	// From nothing to something.
	zero := make([]float64, minRuns)
	all, err := compareRecordings(fixed(map[string][]float64{"peak-B": zero}), fixed(map[string][]float64{"peak-B": ramp(1)}), []string{"peak-B"}, 0.05)
	if err != nil || !all[0].Worse {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestCompareRefuses(t *testing.T) {
	few := fixed(map[string][]float64{"sec/op": ramp(1)[:minRuns-1]})
	enough := fixed(map[string][]float64{"sec/op": ramp(1)})
	if _, err := compareRecordings(few, enough, []string{"sec/op"}, 0.05); err == nil || !strings.Contains(err.Error(), "at least 10") {
		t.Error(err)
	}
	if _, err := compareRecordings(enough, enough, []string{"peak-B"}, 0.05); err == nil || !strings.Contains(err.Error(), "in common") {
		t.Error(err)
	}
}

// benchmarkFile writes a file of minRuns lines a case.
func benchmarkFile(t *testing.T, name string, cases map[string]float64) string {
	t.Helper()
	var b strings.Builder
	for _, c := range slices.Sorted(func(yield func(string) bool) {
		for k := range cases {
			if !yield(k) {
				return
			}
		}
	}) {
		for _, v := range ramp(cases[c]) {
			fmt.Fprintf(&b, "Benchmark%s-2 1 %g ns/op\n", c, v)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareCommand(t *testing.T) {
	old := benchmarkFile(t, "old.txt", map[string]float64{"A/k=1": 100, "B/k=1": 100, "Gone": 5})
	same := benchmarkFile(t, "same.txt", map[string]float64{"A/k=1": 100, "B/k=1": 101})
	slow := benchmarkFile(t, "slow.txt", map[string]float64{"A/k=1": 115, "B/k=1": 100})
	code, stdout, stderr := call("compare", old, same)
	if code != exitOK || !strings.Contains(stdout, "0 of 2 metrics worse") || !strings.Contains(stderr, "Gone-2 is only in the first") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	code, stdout, _ = call("compare", old, slow)
	if code != exitFailed || !strings.Contains(stdout, "WORSE") || !strings.Contains(stdout, "1 of 2 metrics worse") {
		t.Errorf("%d %s", code, stdout)
	}
	if _, _, stderr = call("compare", old, same, "-threshold", "0.1"); !strings.Contains(stderr, "2 of 2 metrics vary by more than 0.1%") {
		t.Errorf("no word about the noise: %s", stderr)
	}
	if code, _, _ = call("compare", old, slow, "-threshold", "20"); code != exitOK {
		t.Errorf("within the threshold: exit code %d", code)
	}
	code, stdout, _ = call("compare", "-json", old, slow)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != exitFailed || len(lines) != 2 {
		t.Fatalf("%d %s", code, stdout)
	}
	v := object(t, lines[0])
	if v["case"] != "A/k=1-2" || v["metric"] != "sec/op" || v["worse"] != true || math.Abs(v["change"].(float64)-0.15) > 1e-9 {
		t.Errorf("%v", v)
	}
}
