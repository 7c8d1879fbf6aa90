package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/formats"
)

func TestRecordHasThePromisedFields(t *testing.T) {
	line, err := json.Marshal(&Record{})
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("suite case n d k nnz workers level seconds bytes roof_fraction eta rss_bytes commit") {
		if _, ok := v[key]; !ok {
			t.Errorf("no field %s", key)
		}
	}
}

// What run -out writes, compare reads.
func TestBenchmarkFormat(t *testing.T) {
	r := &Record{Suite: "spmm", Case: "k=8/workers=1", Seconds: 0.25, Iterations: 3, Bytes: 1e9, GnnzPerS: finite(2), RoofFraction: finite(0.5), PeakBytes: 77, CPUSeconds: finite(0.5), CPUYardsPerOp: finite(250), CPUYardSeconds: finite(0.002), YardsPerOp: finite(200), YardSeconds: finite(0.00125), LeastYardSeconds: finite(0.001)}
	m := &Machine{CPU: "Some CPU", Level: "generic", Commit: "abc", Cores: 2, Limits: Limits{Read: [2]float64{1e10, 2e10}}}
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := formats.WriteFile(t.Context(), path, func(w io.Writer) error { return writeBenchmarks(w, m, []*Record{r, r}) }); err != nil {
		t.Fatal(err)
	}
	rec, err := readBenchmarks(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.order) != 1 || !strings.HasPrefix(rec.order[0], "Spmm/k=8/workers=1-") {
		t.Fatalf("%q", rec.order)
	}
	for unit, want := range map[string]float64{"sec/op": 0.25, "B/s": 4e9, "Gnnz/s": 2, "%roof": 50, "peak-B": 77, "cpu-sec/op": 0.5, cpuYardsUnit: 250, cpuYardUnit: 0.002, yardsUnit: 200, yardUnit: 0.00125, leastYardUnit: 0.001} {
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

func TestSummarise(t *testing.T) {
	var records []*Record
	for _, s := range []float64{4, 1, 2} {
		records = append(records, &Record{Suite: "a", Case: "x", Seconds: s, NNZ: 8, GnnzPerS: finite(8 / s), NsPerNNZ: finite(s / 8), NsPerPoint: s, RoofFraction: finite(1 / s), PeakBytes: int64(s)})
	}
	records = append(records, &Record{Suite: "a", Case: "y", Seconds: 7})
	all := summarise(records)
	if len(all) != 2 || all[1].Case != "y" || all[1].Rounds != 1 {
		t.Fatalf("%+v", all)
	}
	s := all[0]
	if s.Seconds != 2 || *s.GnnzPerS != 4 || *s.NsPerNNZ != 0.25 || s.NsPerPoint != 2 || *s.RoofFraction != 0.5 || s.PeakBytes != 2 || s.Low != 1.5 || s.High != 3 || s.Rounds != 3 {
		t.Errorf("%+v", s.Record)
	}
	if records[0].Seconds != 4 {
		t.Error("the records changed")
	}
}

// A ratio says of its result what there is to say.
func TestResultOfARatio(t *testing.T) {
	for _, c := range []struct {
		r    Ratio
		want string
	}{
		{Ratio{Missing: "no compiler"}, "missing"},
		{Ratio{Difference: finite(0.5)}, "differs: 0.5"},
		{Ratio{Ratio: finite(2), Difference: finite(4e-7)}, "same (4e-07)"},
		{Ratio{Ratio: finite(2), Difference: finite(90), Recall: finite(0.93)}, "recall 0.9300"},
		{Ratio{Ratio: finite(2), Difference: finite(0), Residual: finite(9e-6), PeerResidual: finite(2e-5)}, "same (0), residuals 9.0e-06 and 2.0e-05"},
		{Ratio{Ratio: finite(2), Difference: finite(0), N: 100, PeerN: 20}, "same (0), * from n = 20 times (n/20)^2"},
		{Ratio{Ratio: finite(2), Difference: finite(0), N: 20, PeerN: 20}, "same (0)"},
		{Ratio{Ratio: finite(2), Difference: finite(0), Rounds: 2, WantedRounds: 5}, "same (0), ended after 2 of 5 rounds"},
	} {
		if got := c.r.result(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Without a folder there is no recording.
func TestNoRecordingFolder(t *testing.T) {
	if folder, err := recordingFolder("", &Machine{Level: "amx"}); folder != "" || err != nil {
		t.Errorf("%q, %v", folder, err)
	}
}

// What ended early goes beside a file, and into what is none.
func TestNameOfWhatEndedEarly(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(folder, "a.b", "c"): filepath.Join(folder, "a.b", "c-ended-early"), "x.y.txt": "x.y-ended-early.txt", os.DevNull: os.DevNull, "/dev/stdout": "/dev/stdout",
	} {
		if got := earlyName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A recording carries level and choices in both of its forms. One without choices still
// reads.
func TestRecordingsCarryChoices(t *testing.T) {
	m := &Machine{CPU: "Made-up CPU", Level: "avx512", Choices: "gather=off", ChoicesFrom: "measured"}
	records := []*Record{{Suite: "levels", Case: "loop=Dots/d=2", Seconds: 1e-6, Level: "avx512", Machine: m}}
	var out bytes.Buffer
	if err := writeBenchmarks(&out, m, records); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"level: avx512\n", "choices: gather=off\n", "choices-from: measured\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line %q in\n%s", line, out.String())
		}
	}
	path := filepath.Join(t.TempDir(), "old.jsonl")
	if err := os.WriteFile(path, []byte(`{"suite":"spmm","level":"avx512","machine":{"cpu":"x","level":"avx512"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	old, _, err := readLines(path)
	if err != nil || settingOf(old[0].Level, old[0].Machine) != "avx512" {
		t.Errorf("%+v, %v", old, err)
	}
}
