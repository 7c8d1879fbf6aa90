package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
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

func TestSummarise(t *testing.T) {
	var records []*Record
	for _, s := range []float64{4, 1, 2} {
		records = append(records, &Record{Suite: "a", Case: "x", Seconds: s, NNZ: 8, GnnzPerS: figures.Finite(8 / s), NsPerNNZ: figures.Finite(s / 8), NsPerPoint: s, RoofFraction: figures.Finite(1 / s), PeakBytes: int64(s)})
	}
	records = append(records, &Record{Suite: "a", Case: "y", Seconds: 7})
	all := Summarise(records)
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
		{Ratio{Difference: figures.Finite(0.5)}, "differs: 0.5"},
		{Ratio{Ratio: figures.Finite(2), Difference: figures.Finite(4e-7)}, "same (4e-07)"},
		{Ratio{Ratio: figures.Finite(2), Difference: figures.Finite(90), Recall: figures.Finite(0.93)}, "recall 0.9300"},
		{Ratio{Ratio: figures.Finite(2), Difference: figures.Finite(0), Residual: figures.Finite(9e-6), PeerResidual: figures.Finite(2e-5)}, "same (0), residuals 9.0e-06 and 2.0e-05"},
		{Ratio{Ratio: figures.Finite(2), Difference: figures.Finite(0), N: 100, PeerN: 20}, "same (0), * from n = 20 times (n/20)^2"},
		{Ratio{Ratio: figures.Finite(2), Difference: figures.Finite(0), N: 20, PeerN: 20}, "same (0)"},
		{Ratio{Ratio: figures.Finite(2), Difference: figures.Finite(0), Rounds: 2, WantedRounds: 5}, "same (0), ended after 2 of 5 rounds"},
	} {
		if got := c.r.Result(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Without a folder there is no recording.
func TestNoRecordingFolder(t *testing.T) {
	if folder, err := Folder("", &Machine{Level: "amx"}); folder != "" || err != nil {
		t.Errorf("%q, %v", folder, err)
	}
}

// What ended early goes next to a file, and into what is not a file.
func TestNameOfWhatEndedEarly(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(folder, "a.b", "c"): filepath.Join(folder, "a.b", "c-ended-early"), "x.y.txt": "x.y-ended-early.txt", os.DevNull: os.DevNull, "/dev/stdout": "/dev/stdout",
	} {
		if got := EarlyName(path); got != want {
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
	if err := WriteBenchmarks(&out, m, records); err != nil {
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
	old, _, err := Read(path)
	if err != nil || SettingOf(old[0].Level, old[0].Machine) != "avx512" {
		t.Errorf("%+v, %v", old, err)
	}
}
