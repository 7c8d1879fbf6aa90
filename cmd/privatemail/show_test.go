package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/evaluation"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/show"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// cancelMeter interrupts at the first report.
type cancelMeter struct {
	cancel  func()
	reports int
}

func (m *cancelMeter) Report(privatemail.Progress) { m.reports++; m.cancel() }
func (m *cancelMeter) Close()                      {}

// save writes a file and returns its path.
func save(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// frame is the binary form of a message.
func frame(t *testing.T, m interface{ MarshalBinary() ([]byte, error) }) string {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return save(t, "frame", data)
}

// Every file of ours is recognised by its contents.
func TestShow(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	rows, _, err := synth.Classes(400, 16, 8, 3)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := server.NewCells(t.Context(), rows, rows, server.CellsSettings{Epsilon: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := cells.Save(t.Context(), at("g.gallery")); err != nil {
		t.Fatal(err)
	}
	ledger := newLedger(t, temp)
	succeed(t, private(folder, ledger, at("r.release"), "-private-rows", "3", "-rest-public")...)
	succeed(t, private(folder, "none", at("r.json"))...)
	succeed(t, "evaluate", folder, "-modes", "raw", "-seeds", "1", "-out", at("report"))
	other := at("other")
	if err := sections.Write(t.Context(), other, "something", 7, func(w *sections.Writer) error { return w.Bytes("a-part", nil) }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, kind, words string }{
		{modelOf(t, folder, "classic"), "model", "300 x 16|recipe|made from     features.npy|300 rows in 8 classes|neighbours|all are right"},
		{at("g.gallery"), "gallery", "400 of 16 columns|all, the whole gallery once|cells|base|all are right"},
		{other, "unknown", "something of version 7: a-part"},
		{ledger, "ledger", "epsilon 5|1 of 1 units|head          2:"},
		{at("r.release"), "release", "300 x 2|epsilon 1, delta 1e-06|protects      replace-one, row 3, rest public|dropped|paid for in its line 1"},
		{at("r.json"), "release", "nothing was counted"},
		{frame(t, cells.Codebook()), "message", "cache list"},
		{save(t, "map", []byte(`{"dim":3,"unit_rows":true}`)), "message", "cache list"},
		{save(t, "releases-0.log", []byte("PMMEMORY\x01\x00\x00\x00\x00\x00\x00\x00")), "memory", "keep it as private"},
		{filepath.Join(at("report"), evaluation.Journal), "records", "records       1|raw"},
		{save(t, "run.txt", []byte("goos: linux\npkg: x/cmd/pmbench\ncpu: some\nBenchmarkA 1 2 ns/op\n")), "recording", "cpu           some|measurements  1"},
		{save(t, "run.jsonl", []byte("{\"suite\":\"step\"}\n{\"suite\":\"spmm\"}\n")), "recording", "measurements  2|spmm, step"},
		{filepath.Join(folder, files.FeaturesName), "matrix", "300 x 16"},
	} {
		stdout, _ := succeed(t, "show", c.path)
		for word := range strings.SplitSeq("kind          "+c.kind+": |"+c.words, "|") {
			if !strings.Contains(stdout, word) {
				t.Errorf("%s: no %q in\n%s", c.kind, word, stdout)
			}
		}
		stdout, _ = succeed(t, "show", c.path, "-json")
		var object struct {
			Kind string
			File string
		}
		if err := json.Unmarshal([]byte(stdout), &object); err != nil || object.Kind != c.kind || object.File != c.path {
			t.Errorf("%s: %s, %v", c.kind, stdout, err)
		}
	}
}

// What a file says does not reach the terminal as a command, also where a model says it.
func TestShowIsHarmless(t *testing.T) {
	folder := toy(t)
	m, err := supervised.Open(t.Context(), modelOf(t, folder, "classic"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	model := filepath.Join(t.TempDir(), "m")
	if err := m.Model.Save(t.Context(), model, supervised.About{Features: "x\x1b[2J\nkind other"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		model,
		save(t, "run.txt", []byte("goos: linux\npkg: x/cmd/pmbench\ncpu: \x1b[31mred\x9b\tx\n")),
		save(t, "run.jsonl", []byte(`{"suite":"\u001b[2J"}`)),
		save(t, "records.jsonl", []byte(`{"key":"a","data":"\u001b[2J","mode":"\u0007"}`)),
	} {
		stdout, _ := succeed(t, "show", path)
		if strings.ContainsFunc(stdout, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || strings.Contains(stdout, "\nkind other") {
			t.Errorf("%q", stdout)
		}
	}
}

func TestShowRefuses(t *testing.T) {
	folder := toy(t)
	model := readFile(t, modelOf(t, folder, "classic"))
	flipped := []byte(model)
	flipped[len(flipped)/2] ^= 1
	refuse(t, cli.Usage, []string{"show"}, "FILE is missing")
	refuse(t, cli.Failed, []string{"show", folder}, "is a folder")
	refuse(t, cli.Failed, []string{"show", filepath.Join(folder, "absent")}, "no such file")
	for name, c := range map[string]struct {
		data  string
		words []string
	}{
		"empty":     {"", []string{"not a file of this program", "neither like a model"}},
		"words":     {"something else", []string{"not a file of this program"}},
		"truncated": {model[:len(model)-5], []string{"damaged"}},
		"flipped":   {string(flipped), []string{"damaged", "checksum"}},
		"release":   {"\x89PMREL\r\n and no more", []string{"release"}},
		"ledger":    {"PMLEDGER and no more", []string{"ledger"}},
		"journal":   {"{\"key\":\"a\"}\n{}\n", []string{"line 2 is not a record"}},
		"measured":  {"{\"suite\":\"a\"}\n{}\n", []string{"line 2 is not a measurement"}},
		"x.npy":     {"\x93NUMPY", []string{"x.npy"}},
	} {
		refuse(t, cli.Failed, []string{"show", save(t, name, []byte(c.data))}, c.words...)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := show.ExplainModel(ended, save(t, "m", []byte(model))); err == nil {
		t.Error("shown after the end")
	}
}
