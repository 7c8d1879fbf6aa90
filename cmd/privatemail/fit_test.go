package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// What is written is what package supervised makes of the rows: the gallery, the queries,
// and a map that places the queries.
func TestFit(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	q, _, err := synth.Classes(40, 16, 8, 2)
	if err != nil {
		t.Fatal(err)
	}
	queries := filepath.Join(temp, "queries")
	if err := os.Mkdir(queries, 0o777); err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, filepath.Join(queries, files.FeaturesName), 40, 16, q.Data)
	out, placed, matrix := filepath.Join(temp, "x.npy"), filepath.Join(temp, "z.npy"), filepath.Join(temp, "m.npy")
	stdout, stderr := succeed(t, "fit", folder, "-recipe", "classic", "-dim", "5", "-steps", "2", "-beta", "2", "-mean-neighbours", "15", "-queries", queries, "-queries-out", placed, "-map-out", matrix, "-out", out)
	for _, words := range []string{"held out", "neighbours", "whiten,ridge=1,columns=5", out + ", 300 x 5", placed + ", 40 x 5 queries", matrix + ", the linear map from 16 columns"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	if !strings.Contains(stderr, "fit: steps 100% (2 of 2)") {
		t.Errorf("no progress in\n%s", stderr)
	}

	x, y, err := synth.Classes(300, 16, 8, 1) // toy
	if err != nil {
		t.Fatal(err)
	}
	engine := sameEngine(t)
	recipe, err := supervised.ParseRecipe("classic,columns=5,steps=2,beta=2,neighbours=15")
	if err != nil {
		t.Fatal(err)
	}
	want, err := supervised.Fit(t.Context(), engine, x, y, &supervised.Settings{Recipe: &recipe})
	if err != nil {
		t.Fatal(err)
	}
	z, err := want.Map.Apply(q)
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string, rows int) []float32 {
		m, err := formats.ReadMatrix(path)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if m.Rows != rows || m.Cols != 5 {
			t.Fatalf("%s: %d x %d", path, m.Rows, m.Cols)
		}
		return append([]float32(nil), m.Data...)
	}
	for i, v := range read(out, 300) {
		if v != want.X.Data[i] {
			t.Fatalf("embedding, entry (%d, %d): %g, want %g", i/5, i%5, v, want.X.Data[i])
		}
	}
	m := read(matrix, 17)
	for i, v := range read(placed, 40) {
		if v != z.Data[i] {
			t.Fatalf("queries, entry (%d, %d): %g, want %g", i/5, i%5, v, z.Data[i])
		}
	}
	for i := range 40 { // (f 1) M over its norm
		var image [5]float64
		norm := 0.0
		for j := range image {
			image[j] = float64(m[16*5+j])
			for c := range 16 {
				image[j] += float64(q.Data[16*i+c]) * float64(m[5*c+j])
			}
			norm = math.Hypot(norm, image[j])
		}
		for j, v := range image {
			if got := float64(z.Data[5*i+j]); math.Abs(v/norm-got) > 1e-5 {
				t.Fatalf("map, query %d, column %d: %g, want %g", i, j, v/norm, got)
			}
		}
	}
}

func TestFitJSON(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.fbin")
	stdout, stderr := succeed(t, "fit", toy(t), "-recipe", "classic", "-normalize-rows", "-json", "-quiet", "-out", out)
	if stderr != "" {
		t.Errorf("messages with -quiet: %s", stderr)
	}
	v := object(t, stdout)
	wantKeys(t, v, "n d dim recipe held_out graph trace seconds out")
	wantKeys(t, v["held_out"].(map[string]any), "rows raw scaled result lead_standard_error recipes_tried")
	wantKeys(t, v["graph"].(map[string]any), "operator sigma radius neighbours isolated nnz")
	seconds, sum := v["seconds"].(map[string]any), 0.0
	for _, part := range []string{"choice", "map", "graph", "steps", "files"} {
		sum += seconds[part].(float64)
	}
	if all := seconds["all"].(float64); math.Abs(sum-all) > 1e-9 || all <= 0 {
		t.Errorf("parts of %g s take %g", all, sum)
	}
	if v["n"] != 300. || v["d"] != 16. || v["dim"] != 16. || v["out"] != out || v["queries"] != nil {
		t.Errorf("object %v", v)
	}
}

func TestFitRefuses(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	features, labels := filepath.Join(folder, files.FeaturesName), filepath.Join(folder, files.LabelsName)
	narrow, alone := filepath.Join(temp, "narrow.npy"), filepath.Join(temp, "alone.npy")
	writeMatrix(t, narrow, 2, 3, make([]float32, 6))
	different := make([]int32, 300)
	for i := range different {
		different[i] = int32(i)
	}
	writeLabels(t, alone, different)
	nan, zeros := filepath.Join(temp, "nan.npy"), filepath.Join(temp, "zeros.npy")
	rows := make([]float32, 300*16)
	writeMatrix(t, zeros, 300, 16, rows)
	rows[17*16+3] = float32(math.NaN())
	writeMatrix(t, nan, 300, 16, rows)
	out := filepath.Join(temp, "x.npy")
	link, none, many, strange := filepath.Join(temp, "link.npy"), filepath.Join(temp, "none.npy"), filepath.Join(temp, "many.npy"), filepath.Join(temp, "strange.npy")
	if err := os.Symlink("x.npy", link); err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, none, 0, 16, nil)
	writeMatrix(t, many, 5000, 16, make([]float32, 5000*16))
	different[7] = -5
	writeLabels(t, strange, different)
	one := filepath.Join(temp, "one.npy")
	writeLabels(t, one, make([]int32, 300))
	for _, c := range []struct {
		args  string
		code  int
		words string
	}{
		{"", cli.Usage, "FEATURES is missing"},
		{filepath.Join(temp, "absent.npy"), cli.Usage, "-out FILE is missing"},
		{folder + " -out " + out + " -queries " + filepath.Join(temp, "absent.npy") + " -queries-out " + filepath.Join(temp, "z.npy"), cli.Failed, "no such file"},
		{folder, cli.Usage, "-out FILE is missing"},
		{features + " -out " + out, cli.Usage, "comes without labels"},
		{folder + " -out " + features, cli.Usage, "would replace the input"},
		{folder + " -out " + labels, cli.Usage, "would replace the input"},
		{folder + " -out " + out + " -queries " + narrow, cli.Usage, "go together"},
		{folder + " -out " + out + " -queries " + narrow + " -queries-out " + narrow, cli.Usage, "would replace the input"},
		{folder + " -out " + out + " -map-out " + out, cli.Usage, "two results"},
		{folder + " -out " + filepath.Join(temp, "..", filepath.Base(temp), "x.npy") + " -map-out " + out, cli.Usage, "two results"},
		{folder + " -out " + out + " -map-out " + link, cli.Usage, "two results"},
		{folder + " -out " + out + " -map-out " + features, cli.Usage, "-map-out " + features + " would replace"},
		{folder + " -out " + out + " -map-out " + filepath.Join(temp, "m.fvecs"), cli.Usage, "m.fvecs"},
		{folder + " -out " + out + " -queries " + none + " -queries-out " + filepath.Join(temp, "z.npy"), cli.Failed, "there are no rows in it"},
		{folder + " -out " + out + " -queries " + many + " -queries-out " + filepath.Join(temp, "z.npy") + " -max-memory 640K", cli.Failed, "-max-memory allows more"},
		{folder + " -out " + out + " -labels " + strange, cli.Failed, "fit: " + strange + ": bad labels: the label of row 8 is below -1, want 0 or more, or -1 for none\n"},
		{folder + " -out " + out + " -queries " + narrow + " -queries-out " + filepath.Join(temp, "z.npy"), cli.Failed, "rows of 3 values"},
		{folder + " -out " + out + " -dim 17", cli.Usage, "-dim 17"},
		{folder + " -out " + out + " -max-memory 1K", cli.Failed, "-max-memory allows more"},
		{folder + " -out " + out + " -labels " + alone, cli.Failed, "share a label"},
		{nan + " -out " + out + " -labels " + labels, cli.Failed, "row 18, column 4"},
		{zeros + " -out " + out + " -labels " + labels + " -normalize-rows", cli.Failed, "row 1 is zero and cannot be divided"},
		{filepath.Join(temp, "absent.npy") + " -out " + out, cli.Failed, "no such file"},
		{folder + " -out " + filepath.Join(temp, "no", "x.npy"), cli.Failed, "there is no folder"},
		{folder + " -beta 0 -out " + out, cli.Usage, "beta"},
		{folder + " -recipe best -out " + out, cli.Usage, "no word \"best\""},
		{folder + " -measure=false -out " + out, cli.Usage, "name one with -recipe"},
		{folder + " -labels " + one + " -recipe deep -out " + out, cli.Failed, "there is one class only: discriminate has no direction"},
	} {
		refuse(t, c.code, append([]string{"fit"}, strings.Fields(c.args)...), c.words)
	}
	wantFiles(t, temp, "narrow.npy", "alone.npy", "nan.npy", "zeros.npy", "link.npy", "none.npy", "many.npy", "strange.npy", "one.npy")
}

// A file that is there stays as it is when the work is interrupted.
func TestCancelledFit(t *testing.T) {
	folder := t.TempDir()
	x, y, err := synth.Classes(20_000, 40, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	features, labels, out := filepath.Join(folder, "x.npy"), filepath.Join(folder, "y.npy"), filepath.Join(folder, "z.npy")
	writeMatrix(t, features, x.Rows, x.Cols, x.Data)
	writeLabels(t, labels, y)
	if err := os.WriteFile(out, []byte("previous"), 0o666); err != nil {
		t.Fatal(err)
	}
	for stage, recipe := range map[string]string{"steps": "classic", "recipes": "auto"} {
		ctx, cancel := context.WithCancel(t.Context())
		var stdout bytes.Buffer
		var cancelled time.Time
		stderr := &trigger{text: stage, call: func() { cancelled = time.Now(); cancel() }}
		code := program().Run(ctx, []string{"fit", features, "-labels", labels, "-recipe", recipe, "-measure=" + strconv.FormatBool(recipe == "auto"), "-steps", "100000", "-out", out}, &stdout, stderr)
		if code != cli.Interrupted || stdout.Len() > 0 || !strings.HasSuffix(stderr.String(), "privatemail: fit: interrupted\n") {
			t.Errorf("%s: exit code %d, output %q, messages\n%s", stage, code, stdout.String(), stderr.String())
		}
		if took := time.Since(cancelled); took > 5*time.Second {
			t.Errorf("%s: ended %v after it was cancelled", stage, took)
		}
		cancel()
	}
	if got := readFile(t, out); got != "previous" {
		t.Errorf("the previous output became %d bytes", len(got))
	}
	wantFiles(t, folder, "x.npy", "y.npy", "z.npy")
}

// The user hears of rows that are there twice, unless these are few.
func TestFitNoticesCopies(t *testing.T) {
	x, y, err := synth.Classes(200, 8, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		copies int
		told   string
	}{{0, ""}, {9, ""}, {50, "25% of the 200 rows"}} {
		folder := t.TempDir()
		for i := range c.copies {
			to := x.Data[(199-i)*x.Stride:][:x.Cols]
			copy(to, x.Data[i*x.Stride:])
			x.Data[i*x.Stride], to[0] = 0, float32(math.Copysign(0, -1))
			y[199-i] = y[i]
		}
		writeMatrix(t, filepath.Join(folder, files.FeaturesName), x.Rows, x.Cols, x.Data)
		writeLabels(t, filepath.Join(folder, files.LabelsName), y)
		_, stderr := succeed(t, "fit", folder, "-recipe", "raw", "-out", filepath.Join(folder, "x.npy"))
		if told := strings.Contains(stderr, "equal an earlier one"); told != (c.told != "") || !strings.Contains(stderr, c.told) {
			t.Errorf("%d copies: %s", c.copies, stderr)
		}
	}
}

// The user hears of rows of zeros, of a row that is the nearest of many, and of columns
// so large that a projection hardly sees the others.
func TestFitNotices(t *testing.T) {
	folder := t.TempDir()
	x, y, err := synth.Classes(400, 8, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Rows {
		row := x.Data[i*x.Stride:][:x.Cols]
		row[5] = float32(1000 * (i % 7))
		if i >= 300 {
			clear(row)
		}
	}
	writeMatrix(t, filepath.Join(folder, files.FeaturesName), x.Rows, x.Cols, x.Data)
	writeLabels(t, filepath.Join(folder, files.LabelsName), y)
	for recipe, want := range map[string][]string{
		"raw":                      {"100 rows of FEATURES are zeros, the first of them row 301", "is the nearest of"},
		"discriminate":             {"column 6 has ", "the ridge of a projection is the same for all columns"},
		"standardize,discriminate": {"100 rows of FEATURES are zeros"},
	} {
		_, stderr := succeed(t, "fit", folder, "-recipe", recipe, "-out", filepath.Join(folder, "x.npy"))
		for _, text := range want {
			if !strings.Contains(stderr, text) {
				t.Errorf("%s: no %q in\n%s", recipe, text, stderr)
			}
		}
		if recipe != "discriminate" && strings.Contains(stderr, "ridge of a projection") {
			t.Errorf("%s: %s", recipe, stderr)
		}
	}
}
