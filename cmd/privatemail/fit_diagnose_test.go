package main

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/margin"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// The diagnosis of fit is that of package margin, in words and for programs, and its time is one
// of the parts.
func TestFitDiagnoses(t *testing.T) {
	folder, out := toy(t), filepath.Join(t.TempDir(), "x.npy")
	stdout, stderr := succeed(t, "fit", folder, "-recipe", "root,unit-rows,whiten,unit-images,steps=1", "-measure=false", "-diagnose", "-json", "-out", out)
	for _, stage := range []string{"separation", "masses of balls", "spread of classes"} {
		if !strings.Contains(stderr, stage+" 100%") {
			t.Errorf("no progress of %s in\n%s", stage, stderr)
		}
	}
	v := object(t, stdout)
	got := v["diagnosis"].(map[string]any)
	wantKeys(t, got, "rows columns space gamma gaps off lipschitz floor scales scales_rows scales_error a_delta_exact confidence theorem theorem_least theorem_nothing direct direct_least direct_nothing sentence classes")
	seconds, sum := v["seconds"].(map[string]any), 0.0
	for _, part := range []string{"choice", "map", "graph", "steps", "files", "diagnosis"} {
		sum += seconds[part].(float64)
	}
	if all := seconds["all"].(float64); math.Abs(sum-all) > 1e-9 || seconds["diagnosis"].(float64) <= 0 {
		t.Errorf("parts of %g s take %g", all, sum)
	}

	x, y, err := synth.Classes(300, 16, 8, 1) // toy
	if err != nil {
		t.Fatal(err)
	}
	engine := sameEngine(t)
	recipe, err := supervised.ParseRecipe("root,unit-rows,whiten,unit-images,steps=1")
	if err != nil {
		t.Fatal(err)
	}
	model, err := supervised.Fit(t.Context(), engine, x, y, &supervised.Settings{Recipe: &recipe, Unmeasured: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := margin.OfMap(t.Context(), engine, model.Map, x, model.X, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := want.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if all := object(t, string(data)+"\n"); !reflect.DeepEqual(got, all) {
		t.Errorf("%v, want %v", got, all)
	}

	stdout, _ = succeed(t, "fit", folder, "-recipe", "root,unit-rows,whiten,unit-images,steps=1", "-measure=false", "-diagnose", "-out", out)
	for _, words := range []string{"gamma ", "the least distance between classes", "(50 %) or less", "distances are those after root,unit-rows, before which no L is finite", "before their division", "off the images of their rows", "of 100 % of rows", ", diagnosis "} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	if !strings.Contains(oneLine(stdout), want.Sentence()) {
		t.Errorf("no %q in\n%s", want.Sentence(), stdout)
	}
	if stdout, _ = succeed(t, "fit", folder, "-recipe", "raw", "-measure=false", "-out", out); strings.Contains(stdout, "gamma") || strings.Contains(stdout, "diagnosis") {
		t.Errorf("a diagnosis that nobody asked for:\n%s", stdout)
	}
}

// One class is refused before the work.
func TestFitDiagnosesClasses(t *testing.T) {
	temp := t.TempDir()
	one := filepath.Join(temp, "one.npy")
	writeLabels(t, one, make([]int32, 300))
	args := []string{"fit", toy(t), "-labels", one, "-diagnose", "-out", filepath.Join(temp, "x.npy")}
	refuse(t, cli.Failed, args, "labels of fewer than two classes: -diagnose has nothing to say")
	if _, _, stderr := call(args...); strings.Contains(stderr, "recipes") {
		t.Errorf("refused after work:\n%s", stderr)
	}
	wantFiles(t, temp, "one.npy")
}

// A diagnosis ends when it is interrupted, and nothing is written.
func TestCancelledDiagnosis(t *testing.T) {
	temp := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout strings.Builder
	stderr := &trigger{text: "separation", call: cancel}
	code := program().Run(ctx, []string{"fit", toy(t), "-recipe", "raw", "-measure=false", "-diagnose", "-out", filepath.Join(temp, "x.npy")}, &stdout, stderr)
	if code != cli.Interrupted || stdout.Len() > 0 {
		t.Errorf("exit code %d, output %q, messages\n%s", code, stdout.String(), stderr.String())
	}
	wantFiles(t, temp)
}
