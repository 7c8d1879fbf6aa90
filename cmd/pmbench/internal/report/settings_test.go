package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// recordedMachine is a machine of made-up recordings.
func recordedMachine(level, asked string) *record.Machine {
	return &record.Machine{CPU: "Xeon", Processor: &record.Processor{Vendor: "GenuineIntel", Family: 6, Model: 85, Stepping: 7}, Cores: 2, Level: level, Asked: asked}
}

// recordSuite keeps a measurement of each case as run does, and a ratio as peers does.
func recordSuite(t *testing.T, folder string, m *record.Machine, time string, early bool, seconds float64, cases ...string) {
	t.Helper()
	folder, err := record.Folder(folder, m)
	if err != nil {
		t.Fatal(err)
	}
	var records []*record.Record
	var ratios []*record.Ratio
	for _, name := range cases {
		records = append(records, &record.Record{Suite: "spmm", Case: name, Seconds: seconds, Time: time, EndedEarly: early, Level: m.Level, Machine: m, Command: "run " + m.Asked})
		r := &record.Ratio{Suite: "spmm", Case: name, Peer: "scipy", Seconds: seconds, PeerSeconds: 1, Ratio: figures.Finite(1 / seconds), Difference: figures.Finite(0), Rounds: 5, Time: time, Machine: m, Command: "peers " + m.Asked}
		if early {
			r.Rounds, r.WantedRounds = 2, 5
		}
		ratios = append(ratios, r)
	}
	if _, err := record.Write(t.Context(), folder, "spmm", early, records); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Write(t.Context(), folder, "peers-spmm", early, ratios); err != nil {
		t.Fatal(err)
	}
}

// table returns the lines of the report that begin with a heading and end at the next.
func table(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("no %q in\n%s", heading, text)
	}
	part, _, _ := strings.Cut(rest, "\n#")
	return part
}

// Recordings made with PM_SIMD stand next to those made without, in one section of the
// family, and those of another family in another.
func TestSettingsStandBesideEachOther(t *testing.T) {
	folder := t.TempDir()
	recordSuite(t, folder, recordedMachine("avx512vnni", ""), "2026-01-01T00:00:00Z", false, 0.5, "k=1", "k=2")
	recordSuite(t, folder, recordedMachine("avx2", "avx2"), "2026-01-02T00:00:00Z", false, 0.25, "k=2", "k=9")
	recordSuite(t, folder, recordedMachine("avx512", "avx512"), "2026-01-03T00:00:00Z", true, 0.125, "k=1")
	zen := recordedMachine("avx2", "avx2")
	zen.Processor = &record.Processor{Vendor: "AuthenticAMD", Family: 25, Model: 0x11}
	recordSuite(t, folder, zen, "2026-01-01T00:00:00Z", false, 2, "k=1")
	for _, name := range []string{"cascade-lake/spmm.jsonl", "cascade-lake/avx2/peers-spmm.jsonl", "cascade-lake/avx512/spmm-ended-early.jsonl", "zen-4/avx2/spmm.jsonl"} {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	r, err := readReport(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, names := r.families(); !slices.Equal(names, []string{"Cascade Lake", "Zen 4"}) {
		t.Errorf("%q", names)
	}
	text := r.markdown()
	suite, rest, _ := strings.Cut(text, "## Zen 4")
	for _, line := range []string{
		"| case | median | quartiles | rounds | rate | ns/nnz | of limit | eta p99 | peak | B/nnz | avx2 | avx512 |",
		"| k=1 | 500 ms | 500 ms to 500 ms | 1 |  |  |  |  |  |  |  | 125 ms (ended early) |",
		"| k=2 | 500 ms | 500 ms to 500 ms | 1 |  |  |  |  |  |  | 250 ms |  |",
		"| k=9 |  |  |  |  |  |  |  |  |  | 250 ms |  |",
	} {
		if got := table(t, suite, "### Suite spmm"); !strings.Contains(got, line+"\n") {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	for _, line := range []string{
		"| k=1 | scipy | 500 ms | 1 s | 2.00 |  to  | 5 | same (0) |  | 8.00 (125 ms), ended after 2 of 5 rounds |",
		"| k=9 | scipy |  |  |  |  |  |  | 4.00 (250 ms) |  |",
	} {
		if got := table(t, suite, "#### Peers in suite spmm"); !strings.Contains(got, line+"\n") {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	if got := table(t, suite, "### In short"); !strings.Contains(got, "| spmm | scipy | 2 | 2.00 | k=1 | 2.00 | k=2 | 4.00 to 4.00 | 8.00 to 8.00 |\n") {
		t.Errorf("%s", got)
	}
	if got := table(t, suite, "### Machine"); strings.Count(got, "| processor |") != 1 || !strings.Contains(got, "GenuineIntel family 6 model 85 stepping 7, 2 cores") || !strings.Contains(got, "level avx2, avx512, avx512vnni") {
		t.Errorf("%s", got)
	}
	// A family without a native recording has what it has.
	if got := table(t, rest, "### Suite spmm"); !strings.Contains(got, "Recorded with PM_SIMD=avx2.") || !strings.Contains(got, "| k=1 | 2 s |") {
		t.Errorf("%s", got)
	}
	if page := r.page("x"); !strings.Contains(page, "Zen 4") || strings.Contains(page, "NaN") {
		t.Errorf("%s", page)
	}
}

// A value of PM_SIMD that asks for what the program takes by default is not another setting.
func TestAskedForTheNativeSetting(t *testing.T) {
	r := &report{records: []*record.Record{
		{Suite: "spmm", Case: "k=1", Machine: recordedMachine("amx", "amx")}, {Suite: "spmm", Case: "k=2", Machine: recordedMachine("amx", "")}, {Suite: "spmm", Case: "k=3"},
	}}
	if got := r.bySetting(); len(got) != 1 || got[0].name != nativeSetting || len(got[0].records) != 3 {
		t.Errorf("%+v", got)
	}
}

// Of several recordings of a case the newest counts, and one that ended early only where
// there is no other. The rounds of one recording stay together.
func TestNewestRecordings(t *testing.T) {
	r := &report{
		records: []*record.Record{
			{Suite: "spmm", Case: "a", Time: "2026-01-02T00:00:00Z", File: 1}, {Suite: "spmm", Case: "a", Time: "2026-01-02T00:00:09Z", File: 1},
			{Suite: "spmm", Case: "a", Time: "2026-01-01T00:00:00Z", File: 2}, {Suite: "spmm", Case: "a", Time: "2026-01-03T00:00:00Z", File: 3, EndedEarly: true},
			{Suite: "spmm", Case: "b", Time: "2026-01-01T00:00:00Z", File: 2}, {Suite: "spmm", Case: "c", Time: "2026-01-03T00:00:00Z", File: 3, EndedEarly: true},
			{Suite: "step", Case: "a", Time: "2026-01-01T00:00:00Z", File: 4},
		},
		ratios: []*record.Ratio{
			{Suite: "spmm", Case: "a", Peer: "x", Time: "2026-01-01T00:00:00Z", File: 5}, {Suite: "spmm", Case: "a", Peer: "y", Time: "2026-01-01T00:00:00Z", File: 5},
			{Suite: "spmm", Case: "a", Peer: "x", Time: "2026-01-02T00:00:00Z", File: 6}, {Suite: "spmm", Case: "a", Peer: "y", Time: "2026-01-02T00:00:00Z", File: 6, WantedRounds: 5},
		},
	}
	var got []string
	n := r.newest()
	for _, x := range n.records {
		got = append(got, x.Suite+x.Case+string(rune('0'+x.File)))
	}
	for _, x := range n.ratios {
		got = append(got, x.Peer+string(rune('0'+x.File)))
	}
	if want := []string{"spmma1", "spmma1", "spmmb2", "spmmc3", "stepa4", "y5", "x6"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
