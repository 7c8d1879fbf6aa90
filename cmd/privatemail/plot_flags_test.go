package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// embed and fit draw each kind of picture, with the classes of the labels even where they
// have no effect on the embedding.
func TestPlot(t *testing.T) {
	folder := toy(t)
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, c := range []struct{ args, words string }{
		{"embed FOLDER -mean-neighbours 10 -out FOLDER/e.npy -plot FOLDER/p.svg", "<svg|Before: the features|16 columns|column 1|>300 rows.<|>7 ("},
		{"embed FOLDER -mean-neighbours 10 -beta 3 -out FOLDER/e.npy -plot FOLDER/p.html", "<!doctype html>|has used the labels|row "},
		{"fit FOLDER -recipe classic -measure=false -mean-neighbours 10 -out FOLDER/e.npy -plot FOLDER/p.SVG", "<svg|has used the labels|>7 ("},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "FOLDER", folder))
		stdout, _ := succeed(t, args...)
		file := args[len(args)-1]
		if !strings.Contains(stdout, file+", a plot with 300 of 300 rows") {
			t.Errorf("%s prints %q", c.args, stdout)
		}
		text := readFile(t, file)
		for word := range strings.SplitSeq(c.words, "|") {
			if !strings.Contains(text, word) {
				t.Errorf("%s: the plot lacks %q", c.args, word)
			}
		}
	}
	stdout, _ := succeed(t, "fit", folder, "-mean-neighbours", "10", "-out", at("e.npy"), "-plot", at("p.png"), "-json")
	if object(t, stdout)["plot"] != at("p.png") {
		t.Errorf("the object does not name the plot: %s", stdout)
	}
	if _, err := png.Decode(bytes.NewReader([]byte(readFile(t, at("p.png"))))); err != nil {
		t.Error(err)
	}
}

// The same rows give the same picture for any number of workers, and the embedding is the
// one without a picture.
func TestPlotChangesNothing(t *testing.T) {
	folder := toy(t)
	at := func(name string) string { return filepath.Join(folder, name) }
	succeed(t, "embed", folder, "-mean-neighbours", "10", "-beta", "3", "-out", at("a.npy"))
	succeed(t, "embed", folder, "-mean-neighbours", "10", "-beta", "3", "-out", at("b.npy"), "-plot", at("b.svg"), "-workers", "1")
	succeed(t, "embed", folder, "-mean-neighbours", "10", "-beta", "3", "-out", at("c.npy"), "-plot", at("c.svg"), "-workers", "3")
	if readFile(t, at("a.npy")) != readFile(t, at("b.npy")) || readFile(t, at("b.svg")) != readFile(t, at("c.svg")) {
		t.Error("a plot changes the embedding, or workers change the plot")
	}
}

func TestPlotRefusals(t *testing.T) {
	folder := toy(t)
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("short.csv"), []byte("1\n2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	base := []string{"embed", folder, "-mean-neighbours", "10", "-out", at("e.npy"), "-plot"}
	refuse(t, cli.Usage, append(base, at("p.pdf")), "-plot", ".svg, .png, .html")
	refuse(t, cli.Failed, append(base, at("nowhere/p.svg")), "there is no folder")
	refuse(t, cli.Failed, append(base, at("p.svg"), "-labels", at("short.csv")), "short.csv: 2 labels")
	refuse(t, cli.Usage, []string{"embed", folder, "-mean-neighbours", "10", "-out", at("p.svg"), "-plot", at("p.svg")}, "can be written")
	refuse(t, cli.Usage, []string{"fit", folder, "-out", at("e.npy"), "-plot", at("e.npy")}, ".svg, .png, .html")
	wantFiles(t, folder, files.FeaturesName, files.LabelsName, "short.csv")
}
