package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// -colour-by takes the numbers of a file or of a column, draws a scale in place of classes, and
// leaves rows without a number grey.
func TestPlotColoursByValues(t *testing.T) {
	folder := toy(t)
	at := func(name string) string { return filepath.Join(folder, name) }
	features, numbers := "a,target,b\n", "y\n"
	values := make([]float32, 300)
	for i := range 300 {
		number := fmt.Sprint(i)
		if i%100 == 3 {
			number = "NA"
		}
		features += fmt.Sprintf("%d,%s,%d\n", i%17, number, i%5)
		numbers += number + "\n"
		values[i] = float32(i)
	}
	write := func(name, text string) string {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	csv := write("x.csv", features)
	writeMatrix(t, at("v.npy"), 300, 1, values)
	writeMatrix(t, at("none.npy"), 300, 1, slices.Repeat([]float32{float32(math.NaN())}, 300))
	for _, c := range []struct{ args, words string }{
		{"embed FOLDER -colour-by FOLDER/v.npy -plot FOLDER/p.svg", ">v.npy<|>200<|currentColor"},
		{"embed FOLDER -colour-by 2 -plot FOLDER/p.html", "column 2|rowValues = {"},
		{"embed FOLDER/x.csv -columns a,b -colour-by target -plot FOLDER/p.svg", ">target<|no value (3)"},
		{"embed FOLDER -colour-by " + write("n.csv", numbers) + " -plot FOLDER/p.html", "n.csv 299|no value"},
		{"fit FOLDER -recipe classic -measure=false -colour-by FOLDER/v.npy -plot FOLDER/p.svg", ">v.npy<"},
	} {
		args := append(strings.Fields(strings.ReplaceAll(c.args, "FOLDER", folder)), "-out", at("e.npy"))
		succeed(t, args...)
		text := readFile(t, args[len(args)-3])
		for word := range strings.SplitSeq(c.words, "|") {
			if !strings.Contains(text, word) {
				t.Errorf("%s: the plot lacks %q", c.args, word)
			}
		}
		if strings.Contains(text, ">7 (") || strings.Contains(text, "No labels") {
			t.Errorf("%s: the plot has classes", c.args)
		}
	}
	succeed(t, "embed", "-plan", folder, "-neighbours", "5", "-plot", at("p.svg"), "-colour-by", "2")
	base := []string{"embed", folder, "-out", at("e.npy"), "-plot", at("q.svg"), "-colour-by"}
	refuse(t, cli.Usage, append(base, "17"), "columns 1 to 16")
	refuse(t, cli.Usage, append(base, "0"), "columns 1 to 16")
	refuse(t, cli.Usage, append(base, "nobody"), "no such file")
	refuse(t, cli.Failed, append(base, write("short.csv", "1\n2\n")), "2 values", "300 rows")
	refuse(t, cli.Failed, append(base, csv), "columns, want one")
	refuse(t, cli.Failed, append(base, at("none.npy")), "no row has a value")
	refuse(t, cli.Usage, []string{"embed", csv, "-columns", "a,b", "-out", at("e.npy"), "-plot", at("q.svg"), "-colour-by", "nobody"}, "no such file, and no such column")
	refuse(t, cli.Usage, []string{"embed", folder, "-out", at("e.npy"), "-colour-by", "2"}, "-plot FILE")
	if _, err := os.Stat(at("q.svg")); err == nil {
		t.Error("a refused command has drawn something")
	}
}
