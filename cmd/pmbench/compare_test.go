package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/compare"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// tenFrom are as few values as are compared, a little apart.
func tenFrom(first float64) (v []float64) {
	for i := range compare.MinRuns {
		v = append(v, first*(1+0.001*float64(i)))
	}
	return v
}

// benchmarkFile writes a file of MinRuns lines a case.
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
		for _, v := range tenFrom(cases[c]) {
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
	if code != cli.OK || !strings.Contains(stdout, "0 of 2 metrics worse") || !strings.Contains(stderr, "Gone-2 is only in the first") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	code, stdout, _ = call("compare", old, slow)
	if code != cli.Failed || !strings.Contains(stdout, "WORSE") || !strings.Contains(stdout, "1 of 2 metrics worse") {
		t.Errorf("%d %s", code, stdout)
	}
	code, stdout, _ = call("compare", same, same, "-threshold", "0.1")
	if code != compare.UnclearCode || !strings.Contains(stdout, "unclear: A/k=1-2 sec/op: too noisy") || !strings.Contains(stdout, "would not be seen") || !strings.Contains(stdout, "2 unclear") {
		t.Errorf("no word about the noise: %d %s", code, stdout)
	}
	code, _, stderr = call("compare", same, same, "-threshold", "0.1", "-fail-unclear")
	if code != cli.Failed || stderr != "" {
		t.Errorf("-fail-unclear: exit code %d, %s", code, stderr)
	}
	if code, _, _ = call("compare", old, same, "-fail-unclear"); code != cli.OK {
		t.Errorf("-fail-unclear where nothing is: exit code %d", code)
	}
	if code, _, _ = call("compare", same, slow, "-threshold", "0.1"); code != cli.Failed {
		t.Errorf("one is worse, one unclear: exit code %d", code)
	}
	if code, _, _ = call("compare", old, slow, "-threshold", "20"); code != cli.OK {
		t.Errorf("within the threshold: exit code %d", code)
	}
	code, stdout, _ = call("compare", "-json", old, slow)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != cli.Failed || len(lines) != 2 {
		t.Fatalf("%d %s", code, stdout)
	}
	v := object(t, lines[0])
	if v["case"] != "A/k=1-2" || v["metric"] != "sec/op" || v["worse"] != true || math.Abs(v["change"].(float64)-0.15) > 1e-9 {
		t.Errorf("%v", v)
	}
}

// overlapping writes a file of cases with values so far apart that a shift by 7% has a p of
// its own between .01 and .05; cases are shifted by some percent.
func overlapping(t *testing.T, shifts ...float64) string {
	t.Helper()
	var b strings.Builder
	for c, shift := range shifts {
		for i := range compare.MinRuns {
			fmt.Fprintf(&b, "BenchmarkX/case=%d-2 1 %g ns/op\n", c, 100+2*float64(i)+shift)
		}
	}
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A metric whose own p is below .05 is worse where it is the only one, and likely worse next to
// another that could have been so by chance. It has an exit code of its own, before that of
// unclear metrics.
func TestCompareLikelyWorse(t *testing.T) {
	code, stdout, _ := call("compare", overlapping(t, 0), overlapping(t, 7.5))
	if code != cli.Failed || !strings.Contains(stdout, "WORSE") || strings.Contains(stdout, "is not sure") {
		t.Errorf("alone: %d %s", code, stdout)
	}
	old, now := overlapping(t, 0, 0), overlapping(t, 7.5, 0)
	code, stdout, _ = call("compare", old, now)
	for _, words := range []string{"likely worse\n", "likely worse: X/case=0-2 sec/op: by 6.9%, p 0.0", "by itself and 0.0", "likely is not sure", "up to 0.05 metrics", "0 of 2 metrics worse", "1 likely worse, 1 unclear"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	if code != compare.LikelyCode {
		t.Errorf("exit code %d", code)
	}
	if code, _, stderr := call("compare", old, now, "-fail-unclear"); code != cli.Failed || stderr != "" {
		t.Errorf("-fail-unclear: exit code %d, %s", code, stderr)
	}
	if code, _, _ := call("compare", old, now, "-threshold", "10"); code == compare.LikelyCode || code == cli.Failed {
		t.Errorf("within the threshold: exit code %d", code)
	}
	code, stdout, _ = call("compare", "-json", old, now)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != compare.LikelyCode || len(lines) != 2 {
		t.Fatalf("%d %s", code, stdout)
	}
	for i, line := range lines {
		if v := object(t, line); v["likely_worse"] != (i == 0) || v["worse"] != false {
			t.Errorf("%v", v)
		}
	}
	// What is worse for sure goes before.
	if code, _, _ := call("compare", overlapping(t, 0, 0), overlapping(t, 7.5, 30)); code != cli.Failed {
		t.Errorf("one is likely worse, one worse: exit code %d", code)
	}
}

// recordedAt writes a recording of one case with lines of where it was made.
func recordedAt(t *testing.T, cores int, nanoseconds float64, lines ...string) string {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintln(&b, line)
	}
	for _, v := range tenFrom(nanoseconds) {
		fmt.Fprintf(&b, "BenchmarkSpmm/k=1-%d 1 %g ns/op %g yards/op 0.001 yard-sec 0.001 least-yard-sec\n", cores, v, v/100)
	}
	path := filepath.Join(t.TempDir(), "recording.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Recordings that were not made alike are refused, and compared and named with -across.
func TestCompareOfDifferentOrigins(t *testing.T) {
	home := []string{"goos: linux", "goarch: amd64", "cpu: A", "family: F", "cores: 2", "go: go1.26.1", "level: amx"}
	with := func(line string) []string {
		key, _, _ := strings.Cut(line, ":")
		var out []string
		for _, l := range home {
			if strings.HasPrefix(l, key+":") {
				l = line
			}
			out = append(out, l)
		}
		return out
	}
	old := recordedAt(t, 2, 100, home...)
	for _, c := range []struct {
		line   string
		words  string
		cores  int
		metric string
	}{
		{"level: avx2", "level amx and avx2", 2, record.YardsUnit},
		{"cpu: B", "processor A and B", 2, "sec/op"},
		{"family: G", "family of processors F and G", 2, "sec/op"},
		{"cores: 4", "cores 2 and 4", 4, record.YardsUnit},
		{"goos: darwin", "system linux and darwin", 2, record.YardsUnit},
	} {
		now := recordedAt(t, c.cores, 100, with(c.line)...)
		refuse(t, cli.Failed, []string{"compare", old, now}, "not recorded alike", c.words, "-across")
		code, stdout, stderr := call("compare", old, now, "-across", "-json")
		if code != cli.OK || !strings.Contains(stderr, c.words) {
			t.Errorf("%s: exit code %d, %s%s", c.line, code, stdout, stderr)
			continue
		}
		v := object(t, stdout)
		if v["metric"] != c.metric || fmt.Sprint(v["differences"]) != "["+c.words+"]" {
			t.Errorf("%s: %s", c.line, stdout)
		}
	}
}

// Another version of Go is said and no reason to refuse; the same is not mentioned, and
// a file that does not name it is compared.
func TestCompareOfSimilarOrigins(t *testing.T) {
	old := recordedAt(t, 2, 100, "cpu: A", "go: go1.26.1", "level: amx")
	code, _, stderr := call("compare", old, recordedAt(t, 2, 100, "cpu: A", "go: go1.27", "level: amx"))
	if code != cli.OK || !strings.Contains(stderr, "Go version go1.26.1 and go1.27") || !strings.Contains(stderr, "sec/op") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, lines := range [][]string{{"cpu: A", "go: go1.26.1", "level: amx"}, nil, {"cpu: A"}} {
		code, stdout, stderr := call("compare", old, recordedAt(t, 2, 100, lines...))
		if code != cli.OK || stderr != "" {
			t.Errorf("%q: exit code %d, %s%s", lines, code, stdout, stderr)
		}
	}
	// A recording joined of two machines is not that of one.
	joined := recordedAt(t, 2, 100, "cpu: A", "level: amx", "BenchmarkSpmm/k=1-2 1 100 ns/op", "level: avx2")
	refuse(t, cli.Failed, []string{"compare", old, joined}, "level amx and amx, avx2")
	// What a file says is not printed at any length, nor with its control characters.
	hostile := recordedAt(t, 2, 100, "cpu: \x1b[31m"+strings.Repeat("x", 5000))
	_, _, stderr = call("compare", old, hostile)
	if strings.Contains(stderr, "\x1b") || len(stderr) > 1000 {
		t.Errorf("%q", stderr)
	}
}
