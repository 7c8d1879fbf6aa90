package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

const embedKeys = "n d dim form operator sigma gamma radius neighbours mean_degree isolated eta_max eta_p99 nnz bytes build_seconds steps_seconds status trace out"

func TestEmbedAttract(t *testing.T) {
	folder := toy(t)
	out := filepath.Join(t.TempDir(), "z.npy")
	stdout, stderr := succeed(t, "embed", folder, "-mean-neighbours", "20", "-beta", "3", "-out", out, "-v")
	for _, words := range []string{"csr", "neighbours", "certificate   The cut graph is what -mean-neighbours 20 asked for. Worst row: weights cut off could total ", " times those kept", "memory", "objective", "1 in form attract", out + ", 300 x 16"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	if !strings.Contains(stderr, "embed: steps 100% (1 of 1)") {
		t.Errorf("no progress in\n%s", stderr)
	}
	m, err := formats.ReadMatrix(out)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Rows != 300 || m.Cols != 16 {
		t.Errorf("wrote %d x %d", m.Rows, m.Cols)
	}
}

func TestEmbedJSON(t *testing.T) {
	folder := toy(t)
	out := filepath.Join(t.TempDir(), "z.fbin")
	stdout, stderr := succeed(t, "embed", "-json", "-quiet", "-sigma", "6", folder, "-alpha", "0.6", "-dim", "3", "-out", out, "-steps", "4")
	if stderr != "" {
		t.Errorf("messages with -quiet: %s", stderr)
	}
	v := object(t, stdout)
	wantKeys(t, v, embedKeys)
	if v["n"] != 300. || v["d"] != 16. || v["dim"] != 3. || v["form"] != "paper" || v["operator"] != "dense" || v["sigma"] != 6. || v["out"] != out {
		t.Errorf("object %v", v)
	}
	if v["radius"] != nil {
		t.Errorf("radius %v of an operator without cutoff", v["radius"])
	}
	if trace := v["trace"].([]any); len(trace) != 4 {
		t.Errorf("%d steps in the trace", len(trace))
	}
}

// TestEmbedIsolated checks the infinite bound of a row without neighbours.
// What is written is what the engine computed, row by row.
func TestEmbedWritesTheRows(t *testing.T) {
	x, y, err := synth.Classes(50, 4, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	features, labels, out := filepath.Join(temp, "x.npy"), filepath.Join(temp, "y.npy"), filepath.Join(temp, "z.npy")
	if err := formats.WriteMatrix(t.Context(), features, 50, 4, x.Data); err != nil {
		t.Fatal(err)
	}
	if err := formats.WriteLabels(t.Context(), labels, y); err != nil {
		t.Fatal(err)
	}
	succeed(t, "embed", features, "-labels", labels, "-sigma", "0.5", "-beta", "2", "-steps", "2", "-out", out)
	engine := sameEngine(t)
	want, err := engine.Embed(t.Context(), x, y, &privatemail.Settings{Graph: privatemail.Graph{Bandwidth: kernel.Sigma(0.5)}, Form: kernel.Attract, Coefficient: 2, Steps: 2})
	if err != nil {
		t.Fatal(err)
	}
	wantPoints(t, out, want.Points)
}

// Labels are not to be overwritten, whether they have an effect or not.
func TestEmbedKeepsTheLabels(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "toy") + "/"
	succeed(t, "generate", "-kind", "classes", "-n", "30", "-d", "3", "-out", folder)
	features, labels := filepath.Join(folder, "features.npy"), filepath.Join(folder, "labels.npy")
	before, err := os.ReadFile(labels)
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Usage, []string{"embed", folder, "-sigma", "1", "-out", labels}, "would replace the input")
	refuse(t, cli.Usage, []string{"embed", folder, "-sigma", "1", "-beta", "1", "-out", labels}, "would replace the input")
	refuse(t, cli.Usage, []string{"embed", features, "-labels", labels, "-sigma", "1", "-out", labels}, "would replace the input")
	if after, err := os.ReadFile(labels); err != nil || !bytes.Equal(before, after) {
		t.Error("the labels are gone")
	}
}

// Every flag of embed is one of plan.
func TestPlanTakesTheFlagsOfEmbed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "toy") + "/"
	succeed(t, "generate", "-kind", "classes", "-n", "30", "-d", "3", "-out", folder)
	args := []string{folder, "-sigma", "1", "-alpha", "0.1", "-dim", "3", "-table", "equal", "-stop", "0.1", "-normalize", "centred", "-out", filepath.Join(folder, "z.npy")}
	succeed(t, append([]string{"embed", "-plan"}, args...)...)
	succeed(t, append([]string{"embed"}, args...)...)
}

func TestEmbedIsolated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	out := filepath.Join(t.TempDir(), "z.npy")
	x := make([]float32, 40)
	for i := range x {
		x[i] = float32(i % 4)
	}
	x[7] = 1e6
	writeMatrix(t, path, 40, 1, x)
	args := []string{"embed", path, "-form", "paper", "-sigma", "1", "-cutoff-weight", "1e-3", "-out", out}
	stdout, _ := succeed(t, append(args, "-json")...)
	v := object(t, stdout)
	wantKeys(t, v, embedKeys)
	if v["isolated"] != 1. || v["eta_max"] != nil || v["operator"] != "csr" {
		t.Errorf("object %v", v)
	}
	if stdout, _ = succeed(t, append(args, "-v")...); !strings.Contains(stdout, "rows without any: 1 of 40\n") || !strings.Contains(stdout, "; isolated rows, which have no bound: 1\n") {
		t.Errorf("summary\n%s", stdout)
	}
	if _, stderr := succeed(t, args...); strings.Contains(stderr, "-tolerance") || !strings.Contains(stderr, "1 of 40 rows have no neighbours") || !strings.Contains(stderr, "-isolated repair") {
		t.Errorf("a graph that was to be cut misses a tolerance, or the isolated row is not told:\n%s", stderr)
	}
	_, stderr := succeed(t, "embed", path, "-form", "paper", "-sigma", "1", "-operator", "csr", "-out", out)
	if !strings.Contains(stderr, "1 of 40 rows miss -tolerance 0.0001") {
		t.Errorf("no note on the isolated row:\n%s", stderr)
	}
	refuse(t, cli.Failed, append(args, "-isolated", "fail"), path, "isolated", "-isolated repair")
	// It is too far away for a weight.
	if _, stderr = succeed(t, append(args, "-isolated", "repair")...); !strings.Contains(stderr, "1 of 40 rows have no neighbours after the repair") || strings.Contains(stderr, "-isolated repair") {
		t.Errorf("a repair that cannot help:\n%s", stderr)
	}
	x[7] = 12 // beyond the cutoff
	writeMatrix(t, path, 40, 1, x)
	if _, stderr = succeed(t, append(args, "-isolated", "repair")...); strings.Contains(stderr, "no neighbours") {
		t.Errorf("a row that was repaired:\n%s", stderr)
	}
}

func TestEmbedWithoutLabels(t *testing.T) {
	folder := toy(t)
	file := filepath.Join(folder, files.FeaturesName)
	out := filepath.Join(t.TempDir(), "z.npy")
	if err := os.Remove(filepath.Join(folder, files.LabelsName)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{file}, {folder}, {file, "-beta", "0"}, {file, "-alpha", "0"}} {
		succeed(t, append([]string{"embed", "-sigma", "1", "-out", out}, args...)...)
	}
	refuse(t, cli.Usage, []string{"embed", file, "-sigma", "1", "-beta", "3", "-out", out}, file, "-labels")
	_, stderr := succeed(t, "embed", file, "-sigma", "1", "-labels", "unread.npy", "-out", out)
	if !strings.Contains(stderr, "-labels has no effect") {
		t.Errorf("no note in %q", stderr)
	}
}

// TestEmbedLabelFile checks that -labels is used instead of the folder's file.
func TestEmbedLabelFile(t *testing.T) {
	folder := toy(t)
	temp := t.TempDir()
	csv, own, other := filepath.Join(temp, "y.csv"), filepath.Join(temp, "own.npy"), filepath.Join(temp, "other.npy")
	writeLabels(t, csv, make([]int32, 300))
	args := []string{"embed", folder, "-sigma", "1", "-beta", "3", "-out"}
	succeed(t, append(args, own)...)
	succeed(t, append(args, other, "-labels", csv)...)
	if readFile(t, own) == readFile(t, other) {
		t.Error("-labels changes nothing")
	}
}

func TestEmbedUnlabelled(t *testing.T) {
	folder := toy(t)
	y, err := formats.ReadLabels(filepath.Join(folder, files.LabelsName))
	if err != nil {
		t.Fatal(err)
	}
	y[5] = -1
	labels := filepath.Join(folder, "hidden.csv")
	writeLabels(t, labels, y)
	args := []string{"embed", folder, "-labels", labels, "-sigma", "1", "-beta", "3", "-out", filepath.Join(t.TempDir(), "z.npy")}
	code, _, stderr := call(args...)
	if code != cli.OK || !strings.Contains(stderr, "rows have no label") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

// TestEmbedFlags tries every flag that changes the result.
func TestEmbedFlags(t *testing.T) {
	folder := toy(t)
	temp := t.TempDir()
	seen := map[string]string{}
	for i, args := range []string{
		"-sigma 1 -alpha 0.6",
		"-sigma 3 -alpha 0.6 -convention main-text",
		"-sigma 3 -alpha 0.6 -convention program",
		"-sigma 1 -alpha 0.6 -table gaussian",
		"-sigma 1 -alpha 0.6 -table gaussian -label-sigma 3",
		"-sigma 1 -alpha 0.6 -table different",
		"-sigma 1 -alpha 0.6 -table centred",
		"-sigma 1 -alpha -0.6",
		"-sigma 1 -alpha 0.6 -seed 2",
		"-sigma 1 -alpha 0.6 -sigma-q 1",
		"-sigma 1 -alpha 0.6 -normalize frobenius",
		"-sigma 1 -alpha 0.6 -normalize centred",
		"-sigma 1 -alpha 0.6 -steps 2",
		"-sigma 1 -alpha 0.6 -normalize frobenius -steps 50 -stop 0.5",
		"-sigma 1 -beta 3",
		"-sigma 1 -beta 3 -table equal",
		"-sigma 0.3 -beta 3 -cutoff-weight 0.5",
		"-sigma 0.3 -beta 3 -operator csr -tolerance 0.5",
		"-mean-neighbours 10 -beta 3",
		"-mean-neighbours 10 -beta 3 -isolated repair",
		"-mean-neighbours 10 -beta 3 -operator dense",
		"-mean-neighbours 10 -beta 3 -table gaussian -label-sigma 2",
	} {
		out := filepath.Join(temp, fmt.Sprint(i, ".npy"))
		succeed(t, append([]string{"embed", folder, "-quiet", "-out", out}, strings.Fields(args)...)...)
		data := readFile(t, out)
		if before, ok := seen[data]; ok {
			t.Errorf("%s gives the same as %s", args, before)
		}
		seen[data] = args
	}
}

func TestEmbedUsage(t *testing.T) {
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"", []string{"FEATURES is missing"}},
		{"x y -sigma 1 -out z.npy", []string{"one FEATURES", "x y"}},
		{"x -sigma 1", []string{"-out"}},
		{"x -form paper -out z.npy", []string{"-sigma", "-mean-neighbours", "-neighbours"}},
		{"x -sigma 1 -mean-neighbours 20 -out z.npy", []string{"-sigma and -mean-neighbours exclude"}},
		{"x -sigma 1 -alpha 1 -beta 1 -out z.npy", []string{"-beta and -alpha exclude", "choose one"}},
		{"x -sigma 1 -beta 1 -dim 3 -out z.npy", []string{"-beta and -dim exclude"}},
		{"x -sigma 1 -beta 1 -seed 3 -out z.npy", []string{"-beta and -seed exclude"}},
		{"x -sigma 1 -beta 1 -sigma-q 3 -out z.npy", []string{"-beta and -sigma-q exclude"}},
		{"x -sigma 1 -beta 1 -table centred -out z.npy", []string{"-table centred", "another table"}},
		{"x -form paper -sigma 1 -table equal -out z.npy", []string{"-beta B or -alpha A"}},
		{"x -table equal -out z.npy", []string{"-table", "form spectral", "-beta B", "-alpha A"}},
		{"x -steps 5 -out z.npy", []string{"-steps", "form spectral", "-form paper"}},
		{"x -form spectral -beta 1 -out z.npy", []string{"-beta", "form spectral"}},
		{"x -form paper -sigma 1 -beta 1 -out z.npy", []string{"-beta", "form paper", "-form attract"}},
		{"x -form attract -sigma 1 -alpha 1 -out z.npy", []string{"-alpha", "form attract", "-form paper"}},
		{"x -form attract -sigma 1 -dim 3 -out z.npy", []string{"-dim", "form attract"}},
		{"x -sigma 1 -beta 1 -rescale -out z.npy", []string{"-rescale", "form attract"}},
		{"x -form umap -out z.npy", []string{"-form", "spectral, paper, attract"}},
		{"x -neighbours 5 -sigma 1 -out z.npy", []string{"-neighbours excludes -sigma"}},
		{"x -neighbours 5 -mean-neighbours 9 -out z.npy", []string{"-neighbours excludes", "-mean-neighbours"}},
		{"x -neighbours 5 -cutoff-weight .1 -out z.npy", []string{"-neighbours excludes -cutoff-weight"}},
		{"x -neighbours 5 -operator dense -out z.npy", []string{"-operator dense", "csr"}},
		{"x -neighbours 0 -out z.npy", []string{"-neighbours"}},
		{"x -sigma 1 -beta 1 -label-sigma 1 -out z.npy", []string{"-table gaussian"}},
		{"x -mean-neighbours 9 -beta 1 -table gaussian -out z.npy", []string{"-label-sigma"}},
		{"x -mean-neighbours 9 -convention program -out z.npy", []string{"-convention"}},
		{"x -sigma 9 -cutoff-weight 0.1 -operator dense -out z.npy", []string{"-operator dense", "-cutoff-weight"}},
		{"x -sigma", []string{"needs an argument", "-sigma"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			refuse(t, cli.Usage, append([]string{"embed"}, strings.Fields(c.args)...), append(c.words, "embed: ")...)
		})
	}
}

// TestEmbedBadFiles checks that messages name the file and the place, and that
// the previous output survives.
func TestEmbedBadFiles(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	x := make([]float32, 20*5)
	for i := range x {
		x[i] = float32(i%7) + 1
	}
	writeMatrix(t, at("good.npy"), 20, 5, x)
	writeLabels(t, at("short.npy"), make([]int32, 19))
	writeLabels(t, at("y.npy"), make([]int32, 20))
	x[17*5+3] = float32(math.NaN())
	writeMatrix(t, at("nan.npy"), 20, 5, x)
	x[17*5+3] = float32(math.Inf(-1))
	writeMatrix(t, at("inf.npy"), 20, 5, x)
	clear(x[4*5 : 5*5])
	x[17*5+3] = 1
	writeMatrix(t, at("zero.npy"), 20, 5, x)
	good := readFile(t, at("good.npy"))
	write := func(name, data string) {
		if err := os.WriteFile(at(name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("cut.npy", good[:len(good)-9])
	write("huge.npy", strings.Replace(good, "(20, 5)", "(1152921504606846976, 5)", 1))
	write("empty.npy", "")
	write("text.md", "# not a matrix")
	write("out.npy", "previous")
	writeMatrix(t, at("many.npy"), 5000, 1, make([]float32, 5000))
	classes := make([]int32, 5000)
	for i := range classes {
		classes[i] = int32(i)
	}
	writeLabels(t, at("classes.npy"), classes)
	if err := os.Mkdir(at("bare"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"nan.npy", []string{"row 18, column 4", "NaN or infinite"}},
		{"nan.npy -normalize-rows", []string{"row 18, column 4"}},
		{"nan.npy -operator csr", []string{"row 18, column 4"}},
		{"inf.npy", []string{"row 18, column 4"}},
		{"zero.npy -normalize-rows", []string{"row 5", "-normalize-rows"}},
		{"cut.npy", []string{"391 bytes"}},
		{"huge.npy", nil},
		{"empty.npy", nil},
		{"text.md", nil},
		{"none.npy", []string{"no such file"}},
		{"bare", []string{files.FeaturesName}},
		{"good.npy -alpha 1 -labels short.npy", []string{"short.npy", "19 labels", "20 rows"}},
		{"good.npy -alpha 1 -labels none.csv", []string{"none.csv", "no such file"}},
		{"good.npy -alpha 1 -labels good.npy", []string{"good.npy"}},
		{"good.npy -max-memory 100", []string{"memory limit", "-max-memory"}},
		{"many.npy -alpha 1 -table centred -labels classes.npy", []string{"5000 classes", "use the equal", "the flag is -table\n"}},
		{"good.npy -alpha 1e30 -labels y.npy", []string{"diverges", "-normalize"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields("embed -sigma 1 -out out.npy " + c.args)
			for i, a := range args {
				if strings.ContainsAny(a, ".") || a == "bare" {
					args[i] = at(a)
				}
			}
			words := c.words
			if first := strings.Fields(c.args)[0]; first != "good.npy" && first != "many.npy" {
				words = append(words, at(first))
			}
			refuse(t, cli.Failed, args, words...)
			if got := readFile(t, at("out.npy")); got != "previous" {
				t.Errorf("the previous output became %q", got)
			}
		})
	}
	wantFiles(t, temp, "bare", "classes.npy", "cut.npy", "empty.npy", "good.npy", "huge.npy", "inf.npy", "many.npy", "nan.npy", "out.npy", "short.npy", "text.md", "y.npy", "zero.npy")
}

// TestEmbedOut checks that a place that cannot be written is found out first:
// the features do not even exist as a matrix.
func TestEmbedOut(t *testing.T) {
	temp := t.TempDir()
	x := filepath.Join(temp, "x.npy")
	if err := os.WriteFile(x, []byte("never read"), 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(temp, "link.npy")
	if err := os.Symlink(filepath.Join(temp, "gone", "z.npy"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(temp, "folder.npy"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		out   string
		code  int
		words string
	}{
		{filepath.Join(temp, "z.txt"), cli.Usage, "can be written: .npy"},
		{filepath.Join(temp, "none", "z.npy"), cli.Failed, "no folder"},
		{filepath.Join(temp, "folder.npy"), cli.Failed, "is a folder"},
		{filepath.Join(x, "z.npy"), cli.Failed, x},
		{x, cli.Usage, "would replace the input"},
		{link, cli.Failed, "no folder"},
	} {
		refuse(t, c.code, []string{"embed", x, "-sigma", "1", "-out", c.out}, c.words)
	}
	wantFiles(t, temp, "folder.npy", "link.npy", "x.npy")
}

func TestEmbedWorkers(t *testing.T) {
	folder := toy(t)
	temp := t.TempDir()
	for _, flags := range []string{"-sigma 2 -alpha 0.6 -operator dense", "-mean-neighbours 20 -beta 3 -normalize-rows", "-mean-neighbours 20 -alpha 0.6 -normalize centred"} {
		var first string
		for _, workers := range []string{"1", "2"} {
			out := filepath.Join(temp, workers+".npy")
			succeed(t, append([]string{"embed", folder, "-workers", workers, "-out", out}, strings.Fields(flags)...)...)
			if data := readFile(t, out); first == "" {
				first = data
			} else if data != first {
				t.Errorf("%s: two workers write other bytes than one", flags)
			}
		}
	}
}
