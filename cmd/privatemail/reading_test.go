package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// writeText writes a file into the current folder.
func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// birds writes the same rows into files of many kinds: x.npy with y.csv, and others. Some
// classes have names where names says so.
func birds(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	const n = 60
	var data []float32
	var class []int32
	names := []string{"owl", "tit", "wren"}
	text := "id,a,b,c,species\n"
	numbers := "7,1,2,3\n"
	for i := range n {
		c := i % 3
		row := []float32{float32(c) + float32(i)/64, float32(i%7) / 8, float32(i%5)/4 - float32(c)}
		data, class = append(data, row...), append(class, int32(c))
		text += fmt.Sprintf("%d,%g,%g,%g,%s\n", i, row[0], row[1], row[2], names[c])
		if i == 0 {
			numbers = ""
		}
		numbers += fmt.Sprintf("%d.0\t%g\t%g\t%g\r\n", c, row[0], row[1], row[2])
	}
	writeMatrix(t, "x.npy", n, 3, data)
	writeLabels(t, "y.npy", class)
	writeText(t, "named.csv", text)
	writeText(t, "numbered.tsv", numbers)
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for file, name := range map[string]string{"x.npy": "X.npy", "y.npy": "y.npy"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(readFile(t, file))); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeText(t, "both.npz", archive.String())
}

// TestFitReadsAllFormats makes the same embedding of the same rows in files of many kinds.
func TestFitReadsAllFormats(t *testing.T) {
	birds(t)
	succeed(t, strings.Fields("fit x.npy -labels y.npy -out want.npy")...)
	cases := []struct{ args, says string }{
		{"named.csv", `header in line 1: 3 feature columns, label column "species", column 1 left out`},
		{"named.csv -columns a..c -label-column species", "3 feature columns"},
		{"named.csv -labels y.npy", "3 feature columns, column 5 left out"},
		{"x.npy -labels named.csv", ""},
		{"named.csv -labels named.csv -label-column species", "3 feature columns, label column"},
		{"numbered.tsv -label-column 1", `no header: 3 feature columns, label column "1"`},
		{"numbered.tsv -columns 2..4 -labels y.npy", "no header: 3 feature columns"},
		{"both.npz", "labels from the array y"},
		{"both.npz:X -labels both.npz:y", ""},
	}
	for i, c := range cases {
		if i%4 > 0 && !longtest.Wanted() {
			continue
		}
		code, stdout, stderr := call(append(strings.Fields("fit -out got.npy"), strings.Fields(c.args)...)...)
		if code != cli.OK || !strings.Contains(stderr, c.says) {
			t.Fatalf("%s: code %d: %s", c.args, code, stderr)
		}
		if readFile(t, "got.npy") != readFile(t, "want.npy") {
			t.Errorf("%s: another embedding", c.args)
		}
		names := strings.Contains(c.args, "named") && !strings.Contains(c.args, "y.npy")
		if files.Exists("got.labels.csv") != names || strings.Contains(stdout, "got.labels.csv") != names {
			t.Errorf("%s: names written: %v, %s", c.args, !names, stdout)
		}
		if names && readFile(t, "got.labels.csv") != "number,name\n0,owl\n1,tit\n2,wren\n" {
			t.Errorf("%s: %s", c.args, readFile(t, "got.labels.csv"))
		}
		os.Remove("got.labels.csv")
	}
	succeed(t, strings.Fields("embed named.csv -mean-neighbours 10 -beta 3 -out z.npy")...)
	if !files.Exists("z.labels.csv") {
		t.Error("embed writes no names")
	}
	succeed(t, strings.Fields("embed named.csv -mean-neighbours 10 -out w.npy")...)
	if files.Exists("w.labels.csv") {
		t.Error("embed writes names of labels that it does not read")
	}
	succeed(t, strings.Fields("embed -plan named.csv -mean-neighbours 10 -columns a,c")...)
	succeed(t, strings.Fields("fit named.csv -out g.npy -queries named.csv -queries-out q.npy")...)
}

// TestFilesRefused checks that errors name the file, the place and what to do.
func TestFilesRefused(t *testing.T) {
	birds(t)
	writeText(t, "gap.csv", "a,b,label\n1,2,0\n3,,1\n")
	writeText(t, "counts.csv", "0,1,2\n1,2,0\n")
	writeText(t, "swapped.csv", "b,a,x\n1,2,0\n")
	writeText(t, "header.csv", "kind\n"+strings.Repeat("tit\nwren\n", 30))
	writeText(t, "a.parquet", "PAR1")
	writeText(t, "got.labels.csv", readFile(t, "named.csv"))
	for _, c := range []struct {
		code  int
		args  string
		words []string
	}{
		{cli.Failed, "embed gap.csv -mean-neighbours 2 -out z.npy", []string{"gap.csv: line 3: column 2 has no value", "-columns"}},
		{cli.Failed, "embed counts.csv -mean-neighbours 2 -out z.npy", []string{"counts.csv: line 1", "-header yes or -header no"}},
		{cli.Failed, "embed named.csv -columns a,nothing -mean-neighbours 2 -out z.npy", []string{`"nothing"`, "-columns"}},
		{cli.Failed, "fit named.csv -label-column nothing -out z.npy", []string{`"nothing"`, "-label-column"}},
		{cli.Usage, "fit x.npy -label-column species -out z.npy", []string{"x.npy", ".csv"}},
		{cli.Failed, "fit both.npz:Z -out z.npy", []string{"both.npz:Z", "it has X, y"}},
		{cli.Failed, "fit x.npy -labels both.npz:Z -out z.npy", []string{"both.npz:Z", "it has X, y"}},
		{cli.Failed, "fit x.npy -labels header.csv -out z.npy", []string{"61 labels", "60 rows", "-header yes"}},
		{cli.Failed, "fit a.parquet -out z.npy", []string{"a.parquet", "parquet2npy"}},
		{cli.Failed, "fit named.csv -out z.npy -queries swapped.csv -queries-out q.npy", []string{"swapped.csv", "is missing, which named.csv has", `column "x" is not among those`}},
		{cli.Usage, "embed named.csv -mean-neighbours 2 -alpha 1 -out z.npy -checkpoint z.labels.csv", []string{"the names of classes go to z.labels.csv"}},
		{cli.Usage, "fit got.labels.csv -out got.npy", []string{"got.labels.csv", "would replace the input"}},
		{cli.Usage, "fit both.npz -out both.npz", []string{"would replace the input"}},
		{cli.Failed, "privatize named.csv -normalize-rows -sigma 1 -alpha 1 -classes 3 -label-mode dropped -epsilon 1 -delta 1e-6 -ledger none -out r.release", []string{"names", "public list"}},
	} {
		refuse(t, c.code, strings.Fields(c.args), c.words...)
	}
	if files.Exists("z.npy") || files.Exists("r.release") {
		t.Error("something is written")
	}
}

// TestRowsWithoutLabel are accepted and counted, but for a private step.
func TestRowsWithoutLabel(t *testing.T) {
	birds(t)
	text := strings.Replace(readFile(t, "named.csv"), "owl", "", 1)
	text = strings.Replace(text, "tit", "NA", 1)
	writeText(t, "some.csv", text)
	y, err := formats.ReadLabels("y.npy")
	if err != nil {
		t.Fatal(err)
	}
	y[0], y[1] = -1, -1
	writeLabels(t, "some.npy", y)
	for _, args := range []string{
		"fit some.csv -out z.npy", "fit x.npy -labels some.npy -out z.npy", "embed some.csv -mean-neighbours 10 -beta 3 -out z.npy",
		"embed x.npy -labels some.npy -mean-neighbours 10 -alpha 1 -out z.npy",
	} {
		if code, _, stderr := call(strings.Fields(args)...); code != cli.OK || !strings.Contains(stderr, "2 of 60 rows have no label") {
			t.Errorf("%s: code %d: %s", args, code, stderr)
		}
	}
	refuse(t, cli.Failed, strings.Fields("privatize x.npy -labels some.npy -normalize-rows -sigma 1 -alpha 1 -classes 3 -label-mode dropped -epsilon 1 -delta 1e-6 -ledger none -out r.release"),
		"some.npy", "no label", "private step")
	code, _, stderr := call("evaluate", "some.csv", "-modes", "raw", "-seeds", "1", "-effects=false", "-out", filepath.Join(t.TempDir(), "r"))
	if code != cli.OK || !strings.Contains(stderr, "only the 58 rows with a label are measured") {
		t.Errorf("evaluate: code %d: %s", code, stderr)
	}
}
