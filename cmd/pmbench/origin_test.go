package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// recordedAt writes a recording of one case with lines of where it was made.
func recordedAt(t *testing.T, cores int, nanoseconds float64, lines ...string) string {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintln(&b, line)
	}
	for _, v := range ramp(nanoseconds) {
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
		{"level: avx2", "level amx and avx2", 2, yardsUnit},
		{"cpu: B", "processor A and B", 2, "sec/op"},
		{"family: G", "family of processors F and G", 2, "sec/op"},
		{"cores: 4", "cores 2 and 4", 4, yardsUnit},
		{"goos: darwin", "system linux and darwin", 2, yardsUnit},
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
// a file that does not tell is compared.
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

// What run records says where it was made.
func TestRecordingHasItsOrigin(t *testing.T) {
	var b strings.Builder
	m := &Machine{CPU: "A", Cores: 2, Go: "go1.26.1", Level: "amx", Choices: "gather=on"}
	if err := writeBenchmarks(&b, m, []*Record{{Suite: "spmm", Case: "k=1", Iterations: 1, Seconds: 1}}); err != nil {
		t.Fatal(err)
	}
	rec := &recording{cases: map[string]map[string][]float64{}}
	if err := rec.read(strings.NewReader(b.String())); err != nil {
		t.Fatal(err)
	}
	for _, k := range originKeys {
		if len(rec.origin[k.key]) != 1 {
			t.Errorf("%s: %q in\n%s", k.key, rec.origin[k.key], b.String())
		}
	}
}

// The two sides of ab are of one machine: a revision may know fewer levels of it.
func TestABOfDifferentLevels(t *testing.T) {
	f := compareFlags{interleaved: true}
	old, now := fixed(map[string][]float64{"sec/op": ramp(1)}), fixed(map[string][]float64{"sec/op": ramp(1)})
	old.origin, now.origin = origin{"level": {"avx512"}}, origin{"level": {"amx"}}
	var messages strings.Builder
	got, err := f.checkOrigins(&cli.Env{Stderr: &messages}, old, now)
	if err != nil || len(got) != 1 || !strings.Contains(messages.String(), "level avx512 and amx") {
		t.Errorf("%q, %v, %s", got, err, messages.String())
	}
}
