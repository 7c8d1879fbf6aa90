package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func TestPartName(t *testing.T) {
	seen := map[string][]string{}
	for _, flags := range [][]string{
		{"k=8/"}, {"k=8$"}, {"k=[8]"}, {".*"}, {"../../x"}, {"\x00"}, {strings.Repeat("k=8|", 500)}, {strings.Repeat("k=8|", 501)},
		{"a", "", ""}, {"", "a", ""}, {"", "", "n=2000"}, {"k=8/", "scipy", "n=2000"},
	} {
		name := partName(flags...)
		if !regexp.MustCompile(`^-part-[a-z0-9+-]{1,40}-[0-9a-f]{8}$`).MatchString(name) {
			t.Errorf("%.50q: %q", flags, name)
		}
		if seen[name] != nil {
			t.Errorf("%.50q and %.50q: %q", flags, seen[name], name)
		}
		seen[name] = flags
	}
	for _, flags := range [][]string{{""}, {"", "", ""}} {
		if name := partName(flags...); name != "" {
			t.Errorf("%q: %q", flags, name)
		}
	}
}

// The flags that choose a part are those that leave out cases or peers, or change sizes.
func TestFlagsOfAPart(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&runFlags{count: 14, full: true}).part(1), false},
		{(&runFlags{pattern: "k=8"}).part(1), true},
		{(&runFlags{}).part(2), true},
		{(&ranksFlags{rows: rankRows, count: 9}).part(), false},
		{(&ranksFlags{rows: rankRows, local: true}).part(), true},
		{(&ranksFlags{rows: 20_000}).part(), true},
		{(&peersFlags{n: defaultRows, count: 9}).part(), false},
		{(&peersFlags{n: defaultRows, pattern: "k=8"}).part(), true},
		{(&peersFlags{n: defaultRows, peer: "scipy"}).part(), true},
		{(&peersFlags{n: 20_000}).part(), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}

// A run and a contest of a part leave the recordings of whole suites as they are.
func TestPartLeavesTheWhole(t *testing.T) {
	folder := t.TempDir()
	below, err := recordingFolder(folder, describeMachine())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"levels.jsonl", "peers-spmm.jsonl"} {
		if err := os.WriteFile(filepath.Join(below, name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"run -suite levels -case Finite -count 1 -no-limits -quiet -record " + folder,
		"peers -suite spmm -n 2000 -peer james -case k=1/layout=plain/workers=1 -count 5 -slice 1ns -no-limits -quiet -record " + folder,
	} {
		// Suite levels fails where the machine is busy; its recording is kept.
		if code, _, stderr := call(strings.Fields(args)...); code != cli.OK && !strings.Contains(stderr, "suite levels: ") {
			t.Fatalf("%s: exit code %d: %s", args, code, stderr)
		}
	}
	for _, name := range []string{"levels", "peers-spmm"} {
		if text, err := os.ReadFile(filepath.Join(below, name+".jsonl")); err != nil || string(text) != "{}" {
			t.Errorf("%s became %q, %v", name, text, err)
		}
		if parts, err := filepath.Glob(filepath.Join(below, name+"-part-*.jsonl")); err != nil || len(parts) != 1 {
			t.Errorf("parts of %s: %q, %v", name, parts, err)
		}
	}
}

// A report takes the cases of a part that is newer, and the others from the whole.
func TestReportOfAPart(t *testing.T) {
	folder := t.TempDir()
	m := recordedMachine("avx2", "")
	recordSuite(t, folder, m, "2026-01-01T00:00:00Z", false, 0.5, "k=1", "k=2")
	below, err := recordingFolder(folder, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pattern, name, time string }{{"k=2", "k=2", "2026-01-02T00:00:00Z"}, {"k=1", "k=1", "2025-01-01T00:00:00Z"}} {
		part := []*Record{{Suite: "spmm", Case: c.name, Seconds: 0.25, Time: c.time, Level: m.Level, Machine: m}}
		if _, err := writeRecording(t.Context(), below, "spmm"+partName(c.pattern), false, part); err != nil {
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
	if len(records) != 2 || got["k=1"] != 0.5 || got["k=2"] != 0.25 || !slices.ContainsFunc(r.records, func(x *Record) bool { return x.Time[:4] == "2025" }) {
		t.Errorf("%v", got)
	}
}
