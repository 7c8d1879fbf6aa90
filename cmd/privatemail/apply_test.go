package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/apply"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// modelOf fits the toy folder and returns the model.
func modelOf(t *testing.T, folder, recipe string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toy.model")
	succeed(t, "fit", folder, "-recipe", recipe, "-measure=false", "-model", path)
	return path
}

// float16s returns a .npy of float16, with numbers cut to the digits that they have there.
func float16s(rows, cols int, data []float32) []byte {
	head := fmt.Sprintf("{'descr': '<f2', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	out := fmt.Appendf(nil, "\x93NUMPY\x01\x00\x76\x00%-117s\n", head)
	for _, v := range data {
		bits := math.Float32bits(v)
		h := uint16(bits >> 16 & 0x8000)
		if exponent := int(bits>>23&0xff) - 127; exponent >= -14 {
			h |= uint16(exponent+15)<<10 | uint16(bits>>13)&0x3ff
		}
		out = binary.LittleEndian.AppendUint16(out, h)
	}
	return out
}

// fit saves a model in place of -out or next to it, and apply places rows as fit places queries.
func TestApplyIsWhatFitDoes(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	queries, _, err := synth.Classes(700, 16, 8, 2)
	if err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, at("q.npy"), 700, 16, queries.Data)
	half := at("q16.npy")
	if err := os.WriteFile(half, float16s(700, 16, queries.Data), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, recipe := range []string{"classic", "deep", "scaled", "raw"} {
		stdout, _ := succeed(t, "fit", folder, "-recipe", recipe, "-measure=false", "-out", at("x.npy"), "-model", at("m"), "-queries", at("q.npy"), "-queries-out", at("want.npy"))
		if !strings.Contains(stdout, at("m")+", the model: 300 x ") || !strings.Contains(stdout, at("x.npy")+", 300 x ") {
			t.Errorf("%s: fit does not tell what it wrote:\n%s", recipe, stdout)
		}
		stdout, stderr := succeed(t, "apply", at("m"), at("q.npy"), "-out", at("got.npy"))
		if readFile(t, at("got.npy")) != readFile(t, at("want.npy")) {
			t.Errorf("%s: apply and fit place rows differently", recipe)
		}
		if !strings.Contains(stdout, at("got.npy")+", 700 x ") || !strings.Contains(stderr, "apply: apply 100% (700 of 700)") {
			t.Errorf("%s: apply does not tell what it did:\n%s%s", recipe, stdout, stderr)
		}
		s, err := supervised.Open(t.Context(), at("m"), nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := formats.ReadMatrix(at("x.npy"))
		if err != nil {
			t.Fatal(err)
		}
		if s.Model.X.Rows != x.Rows || !bytes.Equal(floatBytes(s.Model.X.Data), floatBytes(x.Data)) || s.About.Features != files.FeaturesName || s.About.Classes != 8 {
			t.Errorf("%s: the model has another embedding, or is about %+v", recipe, s.About)
		}
		x.Close()
		s.Close()

		// float16, and other formats for the output
		succeed(t, "apply", at("m"), half, "-out", at("half.npy"))
		succeed(t, "fit", folder, "-recipe", recipe, "-measure=false", "-model", at("m2"), "-queries", half, "-queries-out", at("half-want.npy"), "-quiet")
		if readFile(t, at("half.npy")) != readFile(t, at("half-want.npy")) {
			t.Errorf("%s: apply and fit place rows of float16 differently", recipe)
		}
		succeed(t, "apply", at("m"), at("q.npy"), "-out", at("got.fvecs"))
	}
	stdout, _ := succeed(t, "apply", at("m"), at("q.npy"), "-out", at("got.npy"), "-json")
	var r apply.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.N != 700 || r.D != 16 || r.Recipe != "raw" || r.Out != at("got.npy") {
		t.Errorf("%+v, %v", r, err)
	}
}

func floatBytes(v []float32) []byte {
	var b []byte
	for _, x := range v {
		u := math.Float32bits(x)
		b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	return b
}

// Text is placed too, and columns of other names are refused.
func TestApplyText(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	gallery := "a,b,class\n"
	for i := range 30 {
		gallery += []string{"1,2,x\n", "5,1,y\n", "1.5,2.5,x\n", "4,0,y\n"}[i%4]
	}
	write("gallery.csv", gallery)
	succeed(t, "fit", at("gallery.csv"), "-recipe", "standardize,unit-images", "-measure=false", "-model", at("m"), "-queries", write("new.csv", "a,b\n1,2\n3,4\n"), "-queries-out", at("want.npy"))
	if !strings.Contains(readFile(t, at("m.labels.csv")), "x") {
		t.Error("no names of classes next to the model")
	}
	succeed(t, "apply", at("m"), at("new.csv"), "-out", at("got.npy"))
	if readFile(t, at("got.npy")) != readFile(t, at("want.npy")) {
		t.Error("apply and fit place text differently")
	}
	succeed(t, "apply", at("m"), write("swapped.csv", "b,a\n2,1\n4,3\n"), "-out", at("z.npy"))
	if readFile(t, at("z.npy")) != readFile(t, at("want.npy")) {
		t.Error("columns in another order are placed differently")
	}
	// A row at the mean has no direction.
	s, err := supervised.Open(t.Context(), at("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mean := []float64{0, 0}
	copy(mean, s.Model.Map.Mean)
	if err := formats.WriteMatrix(t.Context(), at("mean.npy"), 1, 2, []float32{float32(mean[0]), float32(mean[1])}); err != nil {
		t.Fatal(err)
	}
	if _, stderr := succeed(t, "apply", at("m"), at("mean.npy"), "-out", at("z.npy")); !strings.Contains(stderr, "1 rows are at the mean") && mean[0] == float64(float32(mean[0])) && mean[1] == float64(float32(mean[1])) {
		t.Errorf("nothing is said about a row at the mean:\n%s", stderr)
	}
}

func TestApplyRefuses(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	model := modelOf(t, folder, "classic")
	writeMatrix(t, at("narrow.npy"), 2, 3, make([]float32, 6))
	writeMatrix(t, at("none.npy"), 0, 16, nil)
	bad := make([]float32, 5000*16)
	bad[4999*16+3] = float32(math.NaN())
	writeMatrix(t, at("bad.npy"), 5000, 16, bad)
	if err := formats.WriteMatrix(t.Context(), at("large.npy"), 1, 16, append(make([]float64, 15), 1e300)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("z.npy"), []byte("previous"), 0o666); err != nil {
		t.Fatal(err)
	}
	damaged := at("damaged.model")
	if err := os.WriteFile(damaged, []byte(readFile(t, model)[:1000]), 0o666); err != nil {
		t.Fatal(err)
	}
	z := []string{"-out", at("z.npy")}
	for _, c := range []struct {
		code  int
		args  []string
		words []string
	}{
		{cli.Usage, append([]string{model}, z...), []string{"MODEL and ROWS"}},
		{cli.Usage, append([]string{model, folder, folder}, z...), []string{"MODEL and ROWS"}},
		{cli.Usage, []string{model, folder}, []string{"-out FILE"}},
		{cli.Usage, []string{model, folder, "-out", model}, []string{"would replace the input"}},
		{cli.Usage, []string{model, at("bad.npy"), "-out", at("bad.npy")}, []string{"would replace the input"}},
		{cli.Usage, []string{model, folder, "-out", at("z.csv")}, []string{"z.csv", ".npy"}},
		{cli.Failed, append([]string{at("absent"), folder}, z...), []string{"absent", "no such file"}},
		{cli.Failed, append([]string{model, at("absent")}, z...), []string{"absent", "no such file"}},
		{cli.Failed, append([]string{at("bad.npy"), folder}, z...), []string{"bad.npy", "MODEL is a file of"}},
		{cli.Failed, append([]string{damaged, folder}, z...), []string{damaged, "damaged"}},
		{cli.Failed, append([]string{model, at("narrow.npy")}, z...), []string{"narrow.npy", "rows of 3 values", "have 16"}},
		{cli.Failed, append([]string{model, at("none.npy")}, z...), []string{"none.npy", "no rows"}},
		{cli.Failed, append([]string{model, at("bad.npy")}, z...), []string{"bad.npy", "row 5000, column 4"}},
		{cli.Failed, append([]string{model, at("large.npy")}, z...), []string{"large.npy", "row 1", "column 16"}},
	} {
		refuse(t, c.code, append([]string{"apply"}, c.args...), c.words...)
		if readFile(t, at("z.npy")) != "previous" {
			t.Fatalf("%q: the previous output is gone", c.args)
		}
	}
	refuse(t, cli.Usage, []string{"fit", folder}, "-out FILE is missing", "-model")
	refuse(t, cli.Usage, []string{"fit", folder, "-out", at("x.npy"), "-model", at("x.npy")}, "two results would go to")
}

// Interrupted half way, apply leaves the previous file and no other.
func TestCancelledApply(t *testing.T) {
	model, folder := modelOf(t, toy(t), "classic"), t.TempDir()
	writeMatrix(t, filepath.Join(folder, "x.npy"), 200_000, 16, make([]float32, 200_000*16))
	out := filepath.Join(folder, "z.npy")
	if err := os.WriteFile(out, []byte("previous"), 0o666); err != nil {
		t.Fatal(err)
	}
	engine := sameEngine(t)
	a, err := new(apply.Flags).Open(t.Context(), engine, progress.Silent{}, model)
	if err != nil {
		t.Fatal(err)
	}
	a.In, a.Out = files.Input{Features: filepath.Join(folder, "x.npy")}, out
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &cancelMeter{cancel: cancel}
	if err := a.Run(ctx, engine, m); err == nil || ctx.Err() == nil {
		t.Errorf("it ended with %v", err)
	}
	if m.reports == 0 {
		t.Error("it was over before the first report")
	}
	wantUntouched(t, folder, out)
}
