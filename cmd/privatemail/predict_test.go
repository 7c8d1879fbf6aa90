package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/apply"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/search"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// kinds are names of classes, two of which need quotes in a .csv.
var kinds = []string{"ant", "bee, solitary", `"fly"`}

// insects writes a table of n rows of four columns in the given order; the rows are the same for the
// same seed, and come first in longer tables.
func insects(t *testing.T, path string, n int, seed uint64, columns ...string) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	random := rand.New(rand.NewPCG(seed, 1))
	w := csv.NewWriter(f)
	w.Write(columns)
	for i := range n {
		class := i % 3
		values := map[string]string{"species": kinds[class], "note": "red", "weight": "1"}
		for j, name := range []string{"length", "width", "height", "depth"} {
			values[name] = strconv.FormatFloat(float64((class+j)%3)+random.NormFloat64()*0.7, 'g', 6, 32)
		}
		var row []string
		for _, name := range columns {
			row = append(row, values[name])
		}
		w.Write(row)
	}
	if w.Flush(); w.Error() != nil {
		t.Fatal(w.Error())
	}
	return path
}

// told reads a file of classes and shares.
func told(t *testing.T, path string) (classes []string, shares []float64) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll()
	if err != nil || len(lines) == 0 || strings.Join(lines[0], "|") != "class|share" {
		t.Fatalf("%v, %v", lines, err)
	}
	for _, line := range lines[1:] {
		share, err := strconv.ParseFloat(line[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		classes, shares = append(classes, line[0]), append(shares, share)
	}
	return classes, shares
}

// A model keeps the names of classes, and apply predicts them for rows of another file, as search does in
// the files that fit writes.
func TestClassesByName(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	gallery := insects(t, at("gallery.csv"), 90, 1, "length", "width", "height", "depth", "species")
	fresh := insects(t, at("new.csv"), 60, 2, "species", "depth", "width", "length", "height")
	succeed(t, "fit", gallery, "-recipe", "standardize,discriminate", "-measure=false", "-out", at("x.npy"), "-model", at("m"), "-queries", fresh, "-queries-out", at("z.npy"))
	shown, _ := succeed(t, "show", at("m"))
	for _, want := range append(kinds, "length, width, height, depth", "90 rows in 3 classes") {
		if !strings.Contains(shown, want) {
			t.Errorf("show does not list %s:\n%s", want, shown)
		}
	}

	stdout, _ := succeed(t, "apply", at("m"), fresh, "-out", at("z2.npy"), "-classes", at("c.csv"))
	if readFile(t, at("z.npy")) != readFile(t, at("z2.npy")) {
		t.Error("-classes changes where rows go, or columns in another order do")
	}
	classes, shares := told(t, at("c.csv"))
	right := 0
	for i, class := range classes {
		if class == kinds[i%3] {
			right++
		}
		if shares[i] <= 0 || shares[i] > 1 {
			t.Errorf("row %d: a share of %v", i, shares[i])
		}
	}
	if len(classes) != 60 || right < 48 || right == 60 {
		t.Fatalf("%d of %d are right", right, len(classes))
	}
	if want := fmt.Sprintf("%.3f of 60 rows with a label", float64(right)/60); !strings.Contains(stdout, want) {
		t.Errorf("no %s in:\n%s", want, stdout)
	}

	// The same by search, in what fit has written; labels of the gallery and of the queries in files of their own.
	stdout, _ = succeed(t, "search", at("x.npy"), at("z.npy"), "-labels", gallery, "-queries-labels", fresh, "-predict", at("s.csv"), "-json", "-out", at("ids.npy"))
	if readFile(t, at("s.csv")) != readFile(t, at("c.csv")) {
		t.Error("search tells other classes than apply")
	}
	var r search.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.Accuracy == nil || *r.Accuracy != float64(right)/60 || r.Predicted != at("s.csv") {
		t.Errorf("%+v, %v", r, err)
	}
	// One voter is R@1.
	stdout, _ = succeed(t, "search", at("x.npy"), at("z.npy"), "-labels", gallery, "-queries-labels", fresh, "-k", "1", "-predict", at("s1.csv"), "-json", "-out", at("ids.npy"))
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || *r.Accuracy != *r.RecallAt1 {
		t.Errorf("%+v, %v", r, err)
	}
	stdout, _ = succeed(t, "apply", at("m"), fresh, "-classes", at("c1.csv"), "-k", "1", "-json")
	var a apply.Report
	if err := json.Unmarshal([]byte(stdout), &a); err != nil || *a.Accuracy != *r.RecallAt1 || a.Labelled != 60 || a.Voters != 1 || a.Out != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if readFile(t, at("c1.csv")) != readFile(t, at("s1.csv")) {
		t.Error("one voter: search tells other classes than apply")
	}
	// Within a gallery a row does not vote for itself.
	stdout, _ = succeed(t, "search", gallery, "-predict", at("self.csv"))
	if !strings.Contains(stdout, "of 90 rows with a label") || strings.Contains(stdout, "accuracy      1.000") {
		t.Error(stdout)
	}

	// A class that the gallery does not have is never predicted, and counts.
	other := strings.ReplaceAll(readFile(t, fresh), "ant", "wasp")
	if err := os.WriteFile(at("other.csv"), []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, _ = succeed(t, "apply", at("m"), at("other.csv"), "-classes", at("o.csv"), "-json")
	if err := json.Unmarshal([]byte(stdout), &a); err != nil || a.Labelled != 60 || *a.Accuracy > 2./3 || readFile(t, at("o.csv")) != readFile(t, at("c.csv")) {
		t.Errorf("%+v, %v", a, err)
	}
}

// Rows of .npy, numbers for classes, rows without labels, and a row that has no direction.
func TestClassesByNumber(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	// Columns are one of two directions; row 0 is the mean.
	writeMatrix(t, at("x.npy"), 5, 2, []float32{0, 0, 1, 0, 2, 0, -1, 0, -2, 0})
	writeLabels(t, at("y.npy"), []int32{-1, 7, 7, 2, 2})
	succeed(t, "fit", at("x.npy"), "-labels", at("y.npy"), "-recipe", "standardize,unit-images", "-measure=false", "-model", at("m"))
	writeMatrix(t, at("q.npy"), 4, 2, []float32{5, 0, 0, 0, -3, 0, 9, 0})
	writeLabels(t, at("l.npy"), []int32{7, 7, 7, -1})
	stdout, stderr := succeed(t, "apply", at("m"), at("q.npy"), "-classes", at("c.csv"), "-labels", at("l.npy"), "-k", "2")
	if got := readFile(t, at("c.csv")); got != "class,share\n7,1\n,0\n2,1\n7,1\n" {
		t.Errorf("%q", got)
	}
	for _, want := range []string{"0.333 of 3 rows with a label; 1 without one do not count", "1 rows, for which no row votes", "of 4 rows"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %s in:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "they have no class") || strings.Contains(stderr, "find nearest") {
		t.Error(stderr)
	}
	// Where only rows without a label are near, search predicts no class.
	writeLabels(t, at("none.npy"), []int32{-1, -1, -1, 2, 2})
	succeed(t, "search", at("x.npy"), at("q.npy"), "-labels", at("none.npy"), "-k", "2", "-predict", at("s.csv"))
	if got := readFile(t, at("s.csv")); got != "class,share\n,0\n,0\n2,1\n,0\n" {
		t.Errorf("%q", got)
	}
}

func TestClassesRefused(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	gallery := insects(t, at("gallery.csv"), 30, 1, "length", "width", "species")
	plain := insects(t, at("plain.csv"), 30, 1, "length", "width")
	succeed(t, "fit", gallery, "-recipe", "scaled", "-measure=false", "-model", at("m"), "-quiet")
	writeLabels(t, at("y.npy"), make([]int32, 30))
	writeLabels(t, at("short.npy"), make([]int32, 29))
	for _, c := range []struct {
		code  int
		args  []string
		words []string
	}{
		{cli.Usage, []string{"apply", at("m"), gallery}, []string{"-out FILE is missing", "-classes"}},
		{cli.Usage, []string{"apply", at("m"), gallery, "-out", at("z.npy"), "-k", "3"}, []string{"go with -classes"}},
		{cli.Usage, []string{"apply", at("m"), gallery, "-out", at("z.npy"), "-labels", at("y.npy")}, []string{"go with -classes"}},
		{cli.Usage, []string{"apply", at("m"), gallery, "-classes", at("c.npy")}, []string{"name a .csv"}},
		{cli.Usage, []string{"apply", at("m"), gallery, "-classes", gallery}, []string{"would replace the input"}},
		{cli.Usage, []string{"apply", at("m"), gallery, "-out", at("z.npy"), "-classes", at("c.csv"), "-k", "0"}, []string{"-k"}},
		{cli.Failed, []string{"apply", at("m"), gallery, "-classes", at("no/c.csv")}, []string{"no"}},
		{cli.Failed, []string{"apply", at("m"), plain, "-labels", at("y.npy"), "-classes", at("c.csv")}, []string{"names in one and numbers in the other"}},
		{cli.Failed, []string{"apply", at("m"), plain, "-labels", at("short.npy"), "-classes", at("c.csv")}, []string{"29 labels"}},
		{cli.Usage, []string{"search", plain, gallery, "-predict", at("c.csv")}, []string{"-predict needs labels of GALLERY"}},
		{cli.Usage, []string{"search", gallery, plain, "-predict", at("c.csv"), "-out", at("c.csv")}, []string{"two results"}},
	} {
		refuse(t, c.code, c.args, c.words...)
		if files.Exists(at("c.csv")) || files.Exists(at("z.npy")) {
			t.Fatalf("%q has left a file", c.args)
		}
	}
	// A model of an earlier version knows no classes, and places rows all the same.
	s, err := supervised.Open(t.Context(), at("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	old := *s.Model
	old.Labels, old.ClassNames = nil, nil
	about := s.About
	about.ColumnNames, old.Map.ColumnNames = old.Map.ColumnNames, nil
	if err := old.Save(t.Context(), at("old"), about); err != nil {
		t.Fatal(err)
	}
	s.Close()
	refuse(t, cli.Failed, []string{"apply", at("old"), gallery, "-classes", at("c.csv")}, "does not know the classes", "make it again")
	succeed(t, "apply", at("old"), insects(t, at("swapped.csv"), 30, 1, "width", "length"), "-out", at("a.npy"))
	succeed(t, "apply", at("m"), plain, "-out", at("b.npy"))
	if readFile(t, at("a.npy")) != readFile(t, at("b.npy")) {
		t.Error("the names of columns of an earlier version are not used")
	}
	if stdout, _ := succeed(t, "show", at("old")); !strings.Contains(stdout, "kept no classes") || !strings.Contains(stdout, "length, width") {
		t.Error(stdout)
	}
}

// A server publishes labels with -labels, and only then. Queries in all modes get classes by them,
// and take their columns by the names of the map.
func TestQueryPredicts(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	gallery := insects(t, at("gallery.csv"), 120, 1, "length", "width", "height", "depth", "species")
	fresh := insects(t, at("new.csv"), 12, 2, "depth", "species", "width", "length", "height")
	succeed(t, "fit", gallery, "-recipe", "standardize,discriminate", "-measure=false", "-model", at("m.model"), "-quiet")
	succeed(t, "apply", at("m.model"), fresh, "-classes", at("want.csv"))

	silent := serveOn(t, at("m.model"), "-epsilon", "4")
	get(t, 404, silent.Listening+"/v1/labels")
	refuse(t, cli.Failed, []string{"query", "all", silent.Listening, fresh, "-unconfirmed-codebook", "-cache", "none", "-predict", at("c.csv")}, "publishes no labels")
	silent.end()

	s := serveOn(t, at("m.model"), "-epsilon", "4", "-sealed", "-labels", at("m.model"))
	command := func(mode string, args ...string) string {
		t.Helper()
		stdout, _ := succeed(t, append([]string{"query", mode, s.Listening, fresh, "-cache", "none", "-predict", at("c.csv")}, args...)...)
		return stdout
	}
	for mode, unconfirmed := range map[string]string{"all": "-unconfirmed-codebook", "sealed": "-unconfirmed-epoch"} {
		stdout := command(mode, unconfirmed)
		classes, _ := told(t, at("c.csv"))
		want, _ := told(t, at("want.csv"))
		if same := countSame(classes, want); same < 11 { // int8 and mode sealed round
			t.Errorf("%v: %d of 12 classes are those of apply", mode, same)
		}
		if !strings.Contains(stdout, "of 12 rows with a label") {
			t.Error(stdout)
		}
	}
	var r query.Report
	lines := strings.Split(strings.TrimSpace(command("cells", "-epsilon", "4", "-ledger", "none", "-sent", "none", "-unconfirmed-codebook", "-json", "-out", at("ids.npy"))), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || r.Accuracy == nil || r.Labelled != 12 || r.Predicted != at("c.csv") {
		t.Errorf("%+v, %v", r, err)
	}
	stdout, _ := succeed(t, "query", "all", s.Listening, fresh, "-unconfirmed-codebook", "-cache", "none", "-predict", at("c.csv"), "-dry-run")
	if !strings.Contains(stdout, "labels: ") {
		t.Errorf("the plan does not count labels:\n%s", stdout)
	}
	// Of columns that do not fit nothing is sent for a row; -labels is about -predict.
	missing := insects(t, at("missing.csv"), 12, 2, "depth", "width", "length")
	refuse(t, cli.Failed, []string{"query", "cells", s.Listening, missing, "-epsilon", "4", "-ledger", "none", "-sent", "none", "-unconfirmed-codebook", "-cache", "none"}, `column "height" is missing`, "the map of the server")
	refuse(t, cli.Usage, []string{"query", "all", s.Listening, fresh, "-unconfirmed-codebook", "-labels", fresh}, "-labels needs -predict")
	writeLabels(t, at("numbers.npy"), make([]int32, 12))
	refuse(t, cli.Failed, []string{"query", "all", s.Listening, fresh, "-unconfirmed-codebook", "-cache", "none", "-predict", at("c.csv"), "-labels", at("numbers.npy")}, "names in one and numbers in the other")
	if _, log := s.end(); strings.Contains(log, "ant") || strings.Contains(log, "height") {
		t.Error("the log has names of classes or columns")
	}

	// Labels of another file; those that do not fit are refused.
	writeLabels(t, at("y.npy"), make([]int32, 120))
	writeLabels(t, at("short.npy"), make([]int32, 119))
	other := serveOn(t, at("m.gallery"), "-labels", at("y.npy"))
	if got := string(get(t, 200, other.Listening+"/v1/labels")); !strings.HasPrefix(got, `{"labels":[0,0,`) || strings.Contains(got, "names") {
		t.Errorf("%.100s", got)
	}
	other.end()
	for labels, want := range map[string]string{"short.npy": "119", "m.gallery": "a gallery has no labels", "none.npy": "no such file"} {
		refuseServe(t, cli.Failed, []string{at("m.gallery"), "-labels", at(labels), "-listen", "127.0.0.1:0", "-admin", "none"}, want)
	}
}

// Rows to classify have no labels: their file has no column of labels, or an empty one.
func TestPredictWithoutLabels(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	gallery := insects(t, at("gallery.csv"), 60, 1, "length", "width", "height", "species")
	empty := insects(t, at("empty.csv"), 6, 2, "length", "width", "height", "sort")
	renamed := at("renamed.csv")
	for path, text := range map[string]string{
		gallery: strings.Replace(readFile(t, gallery), "species", "sort", 1), // a name that is not looked for
		renamed: strings.Replace(readFile(t, empty), "sort", "species", 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fresh := insects(t, at("new.csv"), 6, 2, "length", "width", "height")
	succeed(t, "fit", gallery, "-label-column", "sort", "-recipe", "scaled", "-measure=false", "-model", at("m"), "-queries", fresh, "-queries-out", at("z.npy"), "-quiet")
	s := serveOn(t, at("m"), "-epsilon", "4", "-labels", at("m"))
	for _, run := range [][]string{
		{"search", gallery, fresh, "-label-column", "sort", "-predict", at("c.csv")},
		{"search", gallery, empty, "-label-column", "sort", "-predict", at("c.csv")},
		{"apply", at("m"), fresh, "-classes", at("c.csv")},
		{"apply", at("m"), empty, "-label-column", "sort", "-classes", at("c.csv")},
		{"query", "all", s.Listening, renamed, "-unconfirmed-codebook", "-cache", "none", "-predict", at("c.csv")},
	} {
		stdout, _ := succeed(t, run...)
		if classes, _ := told(t, at("c.csv")); len(classes) != 6 || strings.Contains(stdout, "accuracy") {
			t.Errorf("%v: %q\n%s", run, classes, stdout)
		}
		if err := os.Remove(at("c.csv")); err != nil {
			t.Fatal(err)
		}
	}
	// A column that the gallery does not have either is an error.
	refuse(t, cli.Failed, []string{"search", gallery, fresh, "-label-column", "sorts"}, "gallery.csv", "no column")
}

func countSame(a, b []string) (same int) {
	for i := range a {
		if i < len(b) && a[i] == b[i] {
			same++
		}
	}
	return same
}

// Names of columns come from a header, an array of a .npz, or a file next to the rows, and apply and
// search take columns by them from each. What is wrong with names is said before a value is read.
func TestColumnsByName(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	gallery := insects(t, at("gallery.csv"), 30, 1, "length", "width", "height", "species")
	straight := insects(t, at("new.csv"), 9, 2, "length", "width", "height")
	turned := insects(t, at("turned.csv"), 9, 2, "height", "length", "width")
	succeed(t, "fit", gallery, "-recipe", "scaled", "-measure=false", "-model", at("m"), "-queries", turned, "-queries-out", at("fit.npy"), "-quiet")
	succeed(t, "apply", at("m"), straight, "-out", at("want.npy"))
	if readFile(t, at("fit.npy")) != readFile(t, at("want.npy")) {
		t.Error("fit takes the columns of queries in another order")
	}
	// A folder with the values of the turned table, and the names next to them.
	table, err := formats.ReadTable(t.Context(), turned, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, at("folder/features.npy"), table.Rows, table.Cols, table.Data)
	if err := os.WriteFile(at("folder/columns.csv"), []byte("column\n\"height\"\nlength\nwidth\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []string{turned, at("folder")} {
		succeed(t, "apply", at("m"), rows, "-out", at("z.npy"))
		if readFile(t, at("z.npy")) != readFile(t, at("want.npy")) {
			t.Errorf("%s is placed elsewhere", rows)
		}
		succeed(t, "search", gallery, straight, "-k", "3", "-distances-out", at("d.npy"))
		succeed(t, "search", gallery, rows, "-k", "3", "-distances-out", at("d2.npy"))
		if readFile(t, at("d.npy")) != readFile(t, at("d2.npy")) {
			t.Errorf("%s has other neighbours", rows)
		}
	}
	// What is too much is named before its text is read as a number.
	extra := insects(t, at("extra.csv"), 9, 2, "length", "note", "width", "weight", "height")
	for _, verb := range [][]string{{"apply", at("m"), extra, "-out", at("no.npy")}, {"search", gallery, extra, "-out", at("no.npy")}} {
		refuse(t, cli.Failed, verb, "extra.csv", `columns "note", "weight" are not among those of`, "-columns")
	}
	succeed(t, "apply", at("m"), extra, "-columns", "length,height,width", "-out", at("z.npy"))
	if readFile(t, at("z.npy")) != readFile(t, at("want.npy")) {
		t.Error("chosen columns are placed elsewhere")
	}
	if err := os.WriteFile(at("folder/columns.csv"), []byte("height\nlength\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, []string{"apply", at("m"), at("folder"), "-out", at("no.npy")}, "columns.csv", "2 names of columns", "3")
	refuse(t, cli.Usage, []string{"apply", at("m"), at("folder"), "-out", at("folder/columns.csv")}, "columns.csv")
	if files.Exists(at("no.npy")) {
		t.Error("a refused run has left a file")
	}
}
