package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/search"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// nearestOf returns the k rows nearest to row q of x by a plain sort.
func nearestOf(x *formats.Matrix, q, k int, self bool) []int32 {
	var rows []int32
	for i := range x.Rows {
		if i != q || !self {
			rows = append(rows, int32(i))
		}
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		return cmp.Compare(distanceOf(x, q, int(a)), distanceOf(x, q, int(b)))
	})
	return rows[:k]
}

// Every row finds the others that a plain sort finds, in all kinds of file.
func TestSearchWithin(t *testing.T) {
	folder := toy(t)
	x, err := formats.ReadMatrix(filepath.Join(folder, files.FeaturesName))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	ids, csv, distances := filepath.Join(folder, "i.npy"), filepath.Join(folder, "i.csv"), filepath.Join(folder, "d.fvecs")
	stdout, _ := succeed(t, "search", folder, "-k", "5", "-out", ids, "-distances-out", distances, "-json")
	facts := object(t, stdout)
	wantKeys(t, facts, "gallery queries d k recall_at_1 recall_at_k labelled_queries seconds out distances_out")
	succeed(t, "search", folder, "-self", "-k", "5", "-out", csv, "-workers", "3")
	got, err := formats.ReadMatrix(ids)
	if err != nil {
		t.Fatal(err)
	}
	d, err := formats.ReadMatrix(distances)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(readFile(t, csv), "\n")
	if lines[0] != "nearest_1,nearest_2,nearest_3,nearest_4,nearest_5" || len(lines) != 302 || got.Rows != 300 || got.Cols != 5 || d.Rows != 300 {
		t.Fatalf("%q and %d lines, %d x %d rows, %d x %d distances", lines[0], len(lines), got.Rows, got.Cols, d.Rows, d.Cols)
	}
	y, err := formats.ReadLabels(filepath.Join(folder, files.LabelsName))
	if err != nil {
		t.Fatal(err)
	}
	first, any := 0, 0
	for q := range 300 {
		want := nearestOf(x, q, 5, true)
		for j, id := range want {
			if got.Data[q*5+j] != float32(id) || math.Abs(float64(d.Data[q*5+j])-distanceOf(x, q, int(id))) > 1e-5 {
				t.Fatalf("query %d: neighbour %d is row %g at %g, want %d at %g", q, j, got.Data[q*5+j], d.Data[q*5+j], id, distanceOf(x, q, int(id)))
			}
		}
		if text := strings.Trim(strings.ReplaceAll(fmt.Sprint(want), " ", ","), "[]"); lines[q+1] != text {
			t.Errorf("line %d is %q, want %q", q+1, lines[q+1], text)
		}
		if y[want[0]] == y[q] {
			first++
		}
		if slices.ContainsFunc(want, func(i int32) bool { return y[i] == y[q] }) {
			any++
		}
	}
	if facts["recall_at_1"] != float64(first)/300 || facts["recall_at_k"] != float64(any)/300 {
		t.Errorf("recall %v and %v, want %g and %g", facts["recall_at_1"], facts["recall_at_k"], float64(first)/300, float64(any)/300)
	}
}

// Queries of another file find themselves in the gallery at distance 0; unlabelled ones do
// not count.
func TestSearchQueries(t *testing.T) {
	folder := toy(t)
	queries := filepath.Join(folder, "q.npy")
	x, err := formats.ReadMatrix(filepath.Join(folder, files.FeaturesName))
	if err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, queries, 3, 16, x.Data[16*7:16*10])
	x.Close()
	labels := filepath.Join(folder, "q.csv")
	writeLabels(t, labels, []int32{0, -1, 99})
	stdout, stderr := succeed(t, "search", folder, queries, "-k", "2", "-json")
	var answers []search.AnswerReport
	for line := range strings.Lines(stdout) {
		var a search.AnswerReport
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != 4 || !strings.Contains(stderr, "-queries-labels") {
		t.Fatalf("%d lines, messages %q", len(answers), stderr)
	}
	for q, a := range answers[:3] {
		if a.Query != q || len(a.IDs) != 2 || a.IDs[0] != int32(7+q) || a.Distances[0] != 0 {
			t.Errorf("query %d: %+v", q, a)
		}
	}
	stdout, _ = succeed(t, "search", folder, queries, "-queries-labels", labels, "-k", "1", "-normalize-rows")
	if !strings.Contains(stdout, "R@1 0.") || !strings.Contains(stdout, "1 queries without a label do not count") || !strings.Contains(stdout, "query 2") {
		t.Errorf("output %q", stdout)
	}
}

// Each file numbers the names of its classes for itself: what counts is the name. A class
// that the gallery does not have is never found.
func TestSearchComparesNames(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"gallery.csv": "u,v,label\n0,0,owl\n1,0,elk\n2,0,cat\n3,0,owl\n",
		// Numbered alone, ant is 0 as cat is in the gallery, elk 1 as there, owl 2.
		"queries.csv": "u,v,label\n0,0,owl\n1,0,elk\n2,0,ant\n2,1,elk\n1,1,elk\n",
		"numbers.csv": "u,v,label\n0,0,0\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdout, _ := succeed(t, "search", at("gallery.csv"), at("queries.csv"), "-k", "2", "-json")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var facts struct {
		First float64 `json:"recall_at_1"`
		Any   float64 `json:"recall_at_k"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &facts); err != nil {
		t.Fatal(err)
	}
	// The fourth query has cat nearest, then elk or owl, which are equally far: elk is the
	// row of the lower number.
	if facts.First != 0.6 || facts.Any != 0.8 {
		t.Errorf("recall %+v in %s", facts, stdout)
	}
	for _, found := range [][2]string{{"gallery.csv", "numbers.csv"}, {"numbers.csv", "gallery.csv"}} {
		refuse(t, cli.Failed, []string{"search", at(found[0]), at(found[1]), "-k", "1"}, found[1], "names in one file and numbers in the other")
	}
}

func TestSearchRefusals(t *testing.T) {
	folder := toy(t)
	at := func(name string) string { return filepath.Join(folder, name) }
	writeMatrix(t, at("narrow.npy"), 2, 3, make([]float32, 6))
	writeMatrix(t, at("zero.npy"), 2, 16, make([]float32, 32))
	bad := make([]float32, 5000*16)
	bad[4999*16+3] = float32(math.NaN())
	writeMatrix(t, at("nan.npy"), 5000, 16, bad)
	writeMatrix(t, at("none.npy"), 0, 16, nil)
	for _, c := range []struct {
		args  string
		code  int
		words []string
	}{
		{"", cli.Usage, []string{"GALLERY is missing"}},
		{"FOLDER FOLDER FOLDER", cli.Usage, []string{"got 3"}},
		{"FOLDER FOLDER -self", cli.Usage, []string{"-self"}},
		{"FOLDER -queries-labels x.csv", cli.Usage, []string{"-queries-labels needs QUERIES"}},
		{"FOLDER -k 0", cli.Usage, []string{"-k"}},
		{"FOLDER -k 300", cli.Failed, []string{"299 others"}},
		{"FOLDER FOLDER/zero.npy -k 301", cli.Failed, []string{"300 rows"}},
		{"FOLDER FOLDER/narrow.npy", cli.Failed, []string{"narrow.npy: rows of 3 values"}},
		{"FOLDER FOLDER/none.npy", cli.Failed, []string{"there are no rows in it"}},
		{"FOLDER/none.npy FOLDER/zero.npy", cli.Failed, []string{"no rows in it"}},
		{"FOLDER FOLDER/nan.npy", cli.Failed, []string{"nan.npy: row 5000, column 4"}},
		{"FOLDER/nan.npy FOLDER", cli.Failed, []string{"nan.npy: row 5000, column 4"}},
		{"FOLDER FOLDER/zero.npy -normalize-rows", cli.Failed, []string{"zero.npy: row 1", "is zero"}},
		{"FOLDER -out FOLDER/x.fvecs", cli.Usage, []string{".ivecs", ".csv"}},
		{"FOLDER -distances-out FOLDER/x.ivecs", cli.Usage, []string{".fvecs"}},
		{"FOLDER -out FOLDER/x.npy -distances-out FOLDER/x.npy", cli.Usage, []string{"two results"}},
		{"FOLDER -out FOLDER/features.npy", cli.Usage, []string{"would replace the input"}},
		{"FOLDER FOLDER/zero.npy -distances-out FOLDER/zero.npy", cli.Usage, []string{"would replace the input"}},
		{"FOLDER -max-memory 1K", cli.Failed, []string{"memory", "-max-memory"}},
		{"FOLDER/missing", cli.Failed, []string{"no such file"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			refuse(t, c.code, append([]string{"search"}, strings.Fields(strings.ReplaceAll(c.args, "FOLDER", folder))...), c.words...)
		})
	}
	wantFiles(t, folder, files.FeaturesName, files.LabelsName, "narrow.npy", "zero.npy", "nan.npy", "none.npy")
}

// A search that is interrupted leaves the previous file.
func TestSearchInterrupted(t *testing.T) {
	folder := toy(t)
	out := filepath.Join(folder, "i.npy")
	if err := os.WriteFile(out, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	if code := program().Run(ended, []string{"search", folder, "-out", out}, &stdout, &stderr); code != cli.Interrupted {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if readFile(t, out) != "before" {
		t.Error("the previous file is gone")
	}
}
