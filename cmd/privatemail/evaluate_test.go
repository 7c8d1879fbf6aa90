package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/evaluation"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// squares writes a folder with 300 rows of 12 classes without negative entries.
func squares(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "squares")
	x, y, err := synth.Classes(300, 16, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x.Data {
		x.Data[i] = v * v
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, filepath.Join(folder, files.FeaturesName), 300, 16, x.Data)
	writeLabels(t, filepath.Join(folder, files.LabelsName), y)
	return folder
}

func TestEvaluate(t *testing.T) {
	folder, out := squares(t), filepath.Join(t.TempDir(), "new", "report")
	args := []string{"evaluate", "-modes", "raw,prepared,supervised,cells,gaussian,pca,smlq", folder, "-epsilon", "4,1,4", "-seeds", "1..2", "-out", out}
	stdout, stderr := succeed(t, args...)
	for _, words := range []string{"squares: 180 gallery rows of 12 classes, 2 seeds", "ceiling", "epsilon 1", "epsilon 4", "raw rows", "prepared rows", "R@1   R@8", "overlap@8", "no query", "report.html"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	wantNotes(t, stdout)
	if strings.Contains(oneLine(stdout), report.AssumptionNote) {
		t.Error("a note on encryption, which no mode has")
	}
	if !strings.Contains(stderr, "measurements 100%") {
		t.Errorf("no progress in %q", stderr)
	}
	wantFiles(t, out, "report.html", "report.json", "records.csv", "records.jsonl")
	if page := readFile(t, filepath.Join(out, evaluation.ReportPage)); !strings.Contains(page, "Algorithm 1 before and after noise") || strings.Contains(page, folder) {
		t.Error("the page lacks its pictures, or tells where the data lie")
	}

	// Again: nothing is measured, and the page is the same but for its pictures
	// of noise.
	before := readFile(t, filepath.Join(out, evaluation.Journal))
	stdout, _ = succeed(t, append(args, "-json", "-quiet")...)
	if after := readFile(t, filepath.Join(out, evaluation.Journal)); after != before {
		t.Error("a repeated run measured again")
	}
	for line := range strings.Lines(stdout) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		wantKeys(t, v, "data mode protects seeds queries classes gallery figures")
	}
	succeed(t, append(args, "-quiet", "-resume=false", "-effects=false")...)
	if after := readFile(t, filepath.Join(out, evaluation.Journal)); len(after) >= len(before) {
		t.Error("-resume=false kept the records")
	}
}

// Flags take the place of what a mode has as default, in the figures and in the
// command that the page shows. More workers than an engine takes are as many as there are
// processors.
func TestEvaluateParameters(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report")
	stdout, _ := succeed(t, "evaluate", squares(t), "-modes", "smlq,raw", "-dim", "3", "-sigma", "5", "-alpha", "0.5", "-steps", "2", "-seeds", "1", "-split", "60, 200", "-workers", "5000", "-effects=false", "-out", out)
	if !strings.Contains(stdout, "paper's iteration") || !strings.Contains(stdout, "200 gallery rows") {
		t.Errorf("not shown:\n%s", stdout)
	}
	if r := readFile(t, filepath.Join(out, evaluation.Journal)); !strings.Contains(r, `"k":3,"alpha":0.5,"sigma":5,"steps":2`) {
		t.Errorf("measured was\n%s", r)
	}
	if page := readFile(t, filepath.Join(out, evaluation.ReportPage)); !strings.Contains(page, "-seeds 1 -dim 3 -sigma 5 -alpha 0.5 -steps 2 -split 60,200") {
		t.Error("the page does not say how it was made")
	}
}

func TestEvaluateRefuses(t *testing.T) {
	folder := squares(t)
	out := filepath.Join(t.TempDir(), "report")
	refuse(t, cli.Usage, []string{"evaluate", "-modes", "rwa"}, "did you mean raw?")
	refuse(t, cli.Usage, []string{"evaluate", "-epsilon", "1,-2"}, "above 0")
	refuse(t, cli.Usage, []string{"evaluate", "-seeds", "5..1"}, "1..5")
	refuse(t, cli.Usage, []string{"evaluate", "-modes", "raw,pca", "-sigma", "5"}, "none of the modes")
	refuse(t, cli.Usage, []string{"evaluate", "-split", "1"}, "two or three")
	refuse(t, cli.Usage, []string{"evaluate", folder, "-data", folder, "-out", out}, "two folders")
	refuse(t, cli.Usage, []string{"evaluate", "cars-size", "cars-size", "-out", ""}, "two folders")
	refuse(t, cli.Usage, []string{"evaluate", filepath.Join(folder, "cars-size"), "cars-size", "-out", ""}, "two folders")
	refuse(t, cli.Usage, []string{"evaluate", "cars-size", "-split", "10,20", "-out", ""}, "-split", "leave out")
	refuse(t, cli.Usage, []string{"evaluate", filepath.Join(folder, "none"), "-split", "10,x"}, "two or three")
	refuse(t, cli.Failed, []string{"evaluate", filepath.Join(folder, "none")}, "no such file")
	refuse(t, cli.Failed, []string{"evaluate", filepath.Join(folder, files.FeaturesName)}, files.LabelsName)
	refuse(t, cli.Failed, []string{"evaluate", folder, "-split", "100,300", "-out", out}, "gallery rows")
	refuse(t, cli.Failed, []string{"evaluate", folder, "-out", filepath.Join(folder, files.FeaturesName)}, files.FeaturesName)
	refuse(t, cli.Usage, []string{"evaluate", "-epsilon", "101"}, "1e-6 to 100")
	refuse(t, cli.Usage, []string{"evaluate", "-seeds", "1..99999"}, "10000")
	refuse(t, cli.Usage, []string{"evaluate", folder, "-out", ""}, "-out")
}

// Where a mode cannot work at an epsilon, everything else is measured and each
// file says what is missing and why.
func TestEvaluateUnavailable(t *testing.T) {
	longtest.Only(t)
	out := filepath.Join(t.TempDir(), "report")
	args := []string{"evaluate", squares(t), "-out", out, "-modes", "raw,cells,gaussian", "-seeds", "1,2", "-epsilon", "4,16,40", "-effects=false"}
	stdout, _ := succeed(t, args...)
	for _, words := range []string{"not available: cells at epsilon 16: ", "not available: cells at epsilon 40: ", "\noverlap@8"} {
		if !strings.Contains(oneLine(stdout), oneLine(words)) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	const why = "2981 cells, and 180 rows allow at most 180"
	for _, name := range []string{evaluation.ReportPage, evaluation.ReportJSON, evaluation.RecordsCSV, evaluation.Journal} {
		if text := readFile(t, filepath.Join(out, name)); !strings.Contains(text, why) {
			t.Errorf("%s does not say %q", name, why)
		}
	}
	// Nothing but what is missing.
	stdout, _ = succeed(t, "evaluate", squares(t), "-out", filepath.Join(t.TempDir(), "none"), "-modes", "cells", "-seeds", "1", "-epsilon", "16")
	if !strings.Contains(oneLine(stdout), why) {
		t.Errorf("not a word in\n%s", stdout)
	}
}

// What generate writes can be measured, negative entries and all.
func TestEvaluateGenerated(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "toy") + "/"
	succeed(t, "generate", "-kind", "classes", "-n", "400", "-d", "16", "-classes", "12", "-out", folder)
	stdout, _ := succeed(t, "evaluate", folder, "-out", filepath.Join(t.TempDir(), "report"), "-modes", "raw,supervised,cells,gaussian", "-seeds", "1", "-epsilon", "2", "-effects=false")
	if !strings.Contains(stdout, "toy: 240 gallery rows of 12 classes") {
		t.Errorf("no figures in\n%s", stdout)
	}
}

// Whether the report can be written is found out before anything is measured.
func TestEvaluateChecksItsFolder(t *testing.T) {
	out := t.TempDir()
	args := []string{"evaluate", squares(t), "-modes", "raw", "-seeds", "1", "-out", out}
	page := filepath.Join(out, evaluation.ReportPage)
	if err := os.Mkdir(page, 0o777); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, args, page, "is a folder")
	wantFiles(t, out, evaluation.ReportPage)

	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, evaluation.Journal), []byte("mine\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, args, "line 1 is no record", "-out")
	succeed(t, append(args, "-resume=false")...)
}

func TestEvaluateHasTheFolderForItself(t *testing.T) {
	out := t.TempDir()
	j, err := evaluate.OpenJournal(filepath.Join(out, evaluation.Journal))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"evaluate", squares(t), "-modes", "raw", "-seeds", "1", "-out", out}
	refuse(t, cli.Failed, args, "another run", "-out")
	refuse(t, cli.Failed, append(args, "-resume=false"), "another run", "-out")
	wantFiles(t, out, evaluation.Journal)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	succeed(t, args...)
}

// Rows that cannot be embedded with their labels have figures all the same.
func TestEvaluateWithoutPictures(t *testing.T) {
	folder := squares(t)
	labels := make([]int32, 300)
	for i := range labels {
		labels[i] = int32(i)
	}
	writeLabels(t, filepath.Join(folder, files.LabelsName), labels)
	out := filepath.Join(t.TempDir(), "report")
	_, stderr := succeed(t, "evaluate", folder, "-modes", "raw", "-seeds", "1", "-out", out)
	if !strings.Contains(stderr, "lacks pictures") {
		t.Errorf("not a word in %q", stderr)
	}
	wantFiles(t, out, "report.html", "report.json", "records.csv", "records.jsonl")
}

func TestEvaluateInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report")
	args := []string{"evaluate", squares(t), "-modes", "raw,supervised,pca", "-seeds", "1..400", "-workers", "1", "-effects=false", "-out", out}
	ctx, cancel := context.WithCancel(t.Context())
	var stdout bytes.Buffer
	stderr := &trigger{text: "measurements", call: cancel}
	if code := program().Run(ctx, args, &stdout, stderr); code != cli.Interrupted || !strings.Contains(stderr.String(), "are kept in "+filepath.Join(out, evaluation.Journal)) {
		t.Errorf("exit code %d, messages\n%s", code, stderr)
	}
	if records := readFile(t, filepath.Join(out, evaluation.Journal)); !strings.HasSuffix(records, "}\n") {
		t.Errorf("journal of %d bytes", len(records))
	}
}
