package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/peers"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// The head of the page says at which level a machine was measured, and all that its
// recordings do not agree on.
func TestHeadOfAPage(t *testing.T) {
	m := &record.Machine{Cores: 2, GOOS: "linux", GOARCH: "amd64", Go: "go1.26.1"}
	r := &report{
		records: []*record.Record{{Level: "avx2", Time: "2026-02-03T04:05:06Z", Commit: "0123456789abcdef", Machine: m}, {Level: "avx2", Time: "2026-01-03T04:05:06Z"}},
		ratios:  []*record.Ratio{{Level: "amx", Time: "2026-02-03T07:00:00Z", Machine: m}},
	}
	if got, want := r.headRow("A"), []string{"A", "2", "avx2, amx", "linux/amd64", "go1.26.1", "2026-01-03, 2026-02-03", "0123456789ab"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Notes become elements of the page.
func TestNotesOfAPage(t *testing.T) {
	got := notesHTML("## A `b` <c>\n\nOne\ntwo `x <y>` and ` alone.\n\n    go build\n    ls\n- first\n  goes on\n- second\n\n| a | b |\n| --- | --- |\n| 1 | |")
	want := "<h2>A <code>b</code> &lt;c&gt;</h2>\n<p>One two <code>x &lt;y&gt;</code> and ` alone.</p>\n<pre>go build\nls</pre>\n" +
		"<ul>\n<li>first goes on</li>\n<li>second</li>\n</ul>\n<div class=\"wide\"><table class=\"words\">\n<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td></td></tr>\n</table></div>\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Processors that call themselves alike and do not say what they are are distinguished by the
// folders of their recordings.
func TestReportOfTwoMachines(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"old", "new"} {
		if err := os.CopyFS(filepath.Join(folder, name), os.DirFS(filepath.Join("..", "..", "testdata", "report"))); err != nil {
			t.Fatal(err)
		}
	}
	r, err := readReport(folder)
	if err != nil {
		t.Fatal(err)
	}
	parts, names := r.families()
	if want := []string{"new: Made-up CPU", "old: Made-up CPU"}; !slices.Equal(names, want) {
		t.Fatalf("machines %q, want %q", names, want)
	}
	for i, part := range parts {
		if len(part.records) != 11 || len(part.ratios) != 10 {
			t.Errorf("%s: %d measurements and %d ratios", names[i], len(part.records), len(part.ratios))
		}
	}
}

// The page in the repository is what the recordings in the repository come to.
func TestBenchmarksPage(t *testing.T) {
	r, err := readReport(filepath.Join("..", "..", "testdata", "recordings"))
	if err != nil {
		t.Fatal(err)
	}
	want := r.markdown()
	got, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "BENCHMARKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("write it again: go run ./cmd/pmbench report cmd/pmbench/testdata/recordings -out BENCHMARKS.md")
	}
}

// A table names the commands that made it.
func TestCommandsOfAReport(t *testing.T) {
	s := peers.Suite{Name: "cells", Rows: 1000}
	for rows, want := range map[int]string{1000: "pmbench peers -suite cells -json", 500: "pmbench peers -suite cells -n 500 -json", 5000: "pmbench peers -suite cells -n 5000 -json"} {
		if got := peerCommands(s, []*record.Ratio{{N: rows}, {N: rows / 5}}); !slices.Equal(got, []string{want}) {
			t.Errorf("%d rows: %q, want %q", rows, got, want)
		}
	}
	if got, want := peerCommands(s, []*record.Ratio{{N: 5, Command: "one"}, {N: 5, Command: "two"}, {N: 5, Command: "one"}}), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r := &report{records: []*record.Record{{Suite: "spmm"}, {Suite: "spmm", Command: "PM_SIMD=avx2 pmbench run -suite spmm"}, {Suite: "step", Command: "other"}}}
	if got, want := commandWords(r.commandsOf("spmm")), "Commands: `pmbench run -suite spmm -json`, `PM_SIMD=avx2 pmbench run -suite spmm`."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Figures are split by what their machine is called, in their order; those of no machine
// have a name too.
func TestSplit(t *testing.T) {
	lake, zen := &record.Machine{CPU: "lake"}, &record.Machine{CPU: "zen"}
	r := &report{
		records: []*record.Record{{Case: "a", Machine: zen}, {Case: "b"}, {Case: "c", Machine: zen}},
		ratios:  []*record.Ratio{{Case: "d", Machine: lake}, {Case: "e", Machine: zen}, {Case: "f"}},
	}
	parts, names := r.split(func(m *record.Machine) string {
		if m == nil {
			return "none"
		}
		return m.CPU
	})
	var got []string
	for i, p := range parts {
		text := names[i] + ":"
		for _, x := range p.records {
			text += x.Case
		}
		for _, x := range p.ratios {
			text += x.Case
		}
		got = append(got, text)
	}
	if want := []string{"zen:ace", "none:bf", "lake:d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A report takes the cases of a part that is newer, and the others from the whole.
func TestReportOfAPart(t *testing.T) {
	folder := t.TempDir()
	m := recordedMachine("avx2", "")
	recordSuite(t, folder, m, "2026-01-01T00:00:00Z", false, 0.5, "k=1", "k=2")
	below, err := record.Folder(folder, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pattern, name, time string }{{"k=2", "k=2", "2026-01-02T00:00:00Z"}, {"k=1", "k=1", "2025-01-01T00:00:00Z"}} {
		part := []*record.Record{{Suite: "spmm", Case: c.name, Seconds: 0.25, Time: c.time, Level: m.Level, Machine: m}}
		if _, err := record.Write(t.Context(), below, "spmm"+record.PartName(c.pattern), false, part); err != nil {
			t.Fatal(err)
		}
	}
	r, err := readReport(folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	records := r.newest().records
	for _, x := range records {
		got[x.Case] = x.Seconds
	}
	if len(records) != 2 || got["k=1"] != 0.5 || got["k=2"] != 0.25 || !slices.ContainsFunc(r.records, func(x *record.Record) bool { return x.Time[:4] == "2025" }) {
		t.Errorf("%v", got)
	}
}

// A report has the table of suite levels and the choices of its machine; what was recorded
// at another choice stays separate.
func TestReportOfLevels(t *testing.T) {
	m := &record.Machine{CPU: "Made-up CPU", Level: "avx512", Choices: "gather=off", ChoicesFrom: "measured"}
	r := new(report)
	for _, loop := range []string{"Finite/n=1", "Dots/d=2", "Dots/d=2"} {
		choice := &record.Choice{Pick: "avx512,gather=off", Best: "avx2", Ratio: 1.15, Seconds: map[string]float64{"avx512,gather=off": 3e-6, "avx2": 2e-6}}
		r.records = append(r.records, &record.Record{Suite: "levels", Case: "loop=" + loop, NNZ: 100, Seconds: 1e-6, Level: "avx512", Machine: m, Settings: choice})
	}
	other := *r.records[0]
	asked := *other.Machine
	asked.Choices, asked.ChoicesFrom = "gather=on", "PM_SIMD"
	other.Machine = &asked
	r.records = append(r.records, &other)
	sections := r.sections()
	limits := sections[0].rows[1][1]
	if !strings.Contains(limits, "avx512,gather=off (measured), avx512,gather=on (PM_SIMD)") {
		t.Errorf("%q", limits)
	}
	levels := sections[1]
	if levels.title != "Suite levels" || len(levels.rows) != 3 || levels.head[0] != "loop" {
		t.Errorf("%+v", levels)
	}
	if row := r.headRow("x"); row[2] != "avx512,gather=off (measured), avx512,gather=on (PM_SIMD)" {
		t.Errorf("%q", row)
	}
}
