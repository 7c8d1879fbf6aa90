package compare

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// What run records says where it was made.
func TestRecordingHasItsOrigin(t *testing.T) {
	var b strings.Builder
	m := &record.Machine{CPU: "A", Cores: 2, Go: "go1.26.1", Level: "amx", Choices: "gather=on"}
	if err := record.WriteBenchmarks(&b, m, []*record.Record{{Suite: "spmm", Case: "k=1", Iterations: 1, Seconds: 1}}); err != nil {
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
	f := Options{interleaved: true}
	old, now := fixed(map[string][]float64{"sec/op": ramp(1)}), fixed(map[string][]float64{"sec/op": ramp(1)})
	old.origin, now.origin = origin{"level": {"avx512"}}, origin{"level": {"amx"}}
	var messages strings.Builder
	got, err := f.checkOrigins(&cli.Env{Stderr: &messages}, old, now)
	if err != nil || len(got) != 1 || !strings.Contains(messages.String(), "level avx512 and amx") {
		t.Errorf("%q, %v, %s", got, err, messages.String())
	}
}

// A recording without choices is compared with one that has them.
func TestOriginsWithChoices(t *testing.T) {
	off, on, none := origin{"choices": {"gather=off"}}, origin{"choices": {"gather=on"}}, origin{}
	if got := off.differences(on); len(got) != 1 || !strings.Contains(got[0], "gather=off and gather=on") {
		t.Errorf("%q", got)
	}
	if got := append(off.differences(none), none.differences(off)...); got != nil {
		t.Errorf("%q", got)
	}
}

// What run -out writes, compare reads.
func TestBenchmarkFormat(t *testing.T) {
	r := &record.Record{Suite: "spmm", Case: "k=8/workers=1", Seconds: 0.25, Iterations: 3, Bytes: 1e9, GnnzPerS: figures.Finite(2), RoofFraction: figures.Finite(0.5), PeakBytes: 77, CPUSeconds: figures.Finite(0.5), CPUYardsPerOp: figures.Finite(250), CPUYardSeconds: figures.Finite(0.002), YardsPerOp: figures.Finite(200), YardSeconds: figures.Finite(0.00125), LeastYardSeconds: figures.Finite(0.001)}
	m := &record.Machine{CPU: "Some CPU", Level: "generic", Commit: "abc", Cores: 2, Limits: record.Limits{Read: [2]float64{1e10, 2e10}}}
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := formats.WriteFile(t.Context(), path, func(w io.Writer) error { return record.WriteBenchmarks(w, m, []*record.Record{r, r}) }); err != nil {
		t.Fatal(err)
	}
	rec, err := readBenchmarks(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.order) != 1 || !strings.HasPrefix(rec.order[0], "Spmm/k=8/workers=1-") {
		t.Fatalf("%q", rec.order)
	}
	for unit, want := range map[string]float64{"sec/op": 0.25, "B/s": 4e9, "Gnnz/s": 2, "%roof": 50, "peak-B": 77, "cpu-sec/op": 0.5, record.CPUYardsUnit: 250, record.CPUYardUnit: 0.002, record.YardsUnit: 200, record.YardUnit: 0.00125, record.LeastYardUnit: 0.001} {
		if got := rec.cases[rec.order[0]][unit]; len(got) != 2 || math.Abs(got[0]-want) > 1e-6*want {
			t.Errorf("%s: %v, want %g twice", unit, got, want)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cpu: Some CPU", "level: generic", "commit: abc", "read-bandwidth-2: 20 GB/s"} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}
