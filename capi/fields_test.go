//go:build cgo

package main

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// embeddedFields are the settings of the embeddings of fields.c, in its order.
func embeddedFields(x blas32.General) []func(s *privatemail.Settings) {
	type settings = privatemail.Settings
	start := x
	start.Cols = 3
	return []func(s *settings){
		func(s *settings) {},
		func(s *settings) { s.Bandwidth = kernel.Gamma(0.002) },
		func(s *settings) { s.Bandwidth, s.MeanNeighbours = kernel.Bandwidth{}, 9 },
		func(s *settings) { s.Bandwidth, s.Neighbours = kernel.Bandwidth{}, 7 },
		func(s *settings) { s.CutoffRadius = 25 },
		func(s *settings) { s.CutoffWeight = 0.05 },
		func(s *settings) { s.Bandwidth, s.Operator, s.Tolerance = kernel.Sigma(8), "csr", 0.01 },
		func(s *settings) { s.Bandwidth, s.Operator = kernel.Sigma(8), "csr" },
		func(s *settings) { s.Bandwidth, s.MeanNeighbours = kernel.Bandwidth{}, 1 },
		func(s *settings) {
			s.Bandwidth, s.MeanNeighbours, s.Isolated = kernel.Bandwidth{}, 1, kernel.Repair
		},
		func(s *settings) { s.Bandwidth, s.NormalizeRows = kernel.Sigma(0.4), true },
		func(s *settings) { s.Coefficient = -0.25 },
		func(s *settings) { s.Table = kernel.GaussianTable(kernel.Sigma(20)) },
		func(s *settings) { s.Dim = 2 },
		func(s *settings) { s.Steps = 2 },
		func(s *settings) { s.SigmaQ = 1e-4 },
		func(s *settings) { s.Seed = 8 },
		func(s *settings) { s.StopTolerance = 0.5 },
		func(s *settings) { s.Normalize = iterate.Centred },
		func(s *settings) { s.Start = start },
	}
}

// assessedFields are the private settings of fields.c, in its order.
func assessedFields() []func(s *privatemail.PrivateSettings) {
	type settings = privatemail.PrivateSettings
	return []func(s *settings){
		func(s *settings) {},
		func(s *settings) { s.Epsilon = 2 },
		func(s *settings) { s.Delta = 1e-5 },
		func(s *settings) { s.Relation = sensitivity.FeaturesReplace },
		func(s *settings) { s.Records = 3 },
		func(s *settings) { s.Epsilon, s.Rule = 0.5, mechanism.Classical },
		func(s *settings) { s.Bandwidth = kernel.Gamma(0.7) },
		func(s *settings) { s.Alpha = -0.25 },
		func(s *settings) { s.Table = "different" },
		func(s *settings) { s.Table, s.Classes = "gaussian", 2 },
		func(s *settings) { s.Dim = 3 },
		func(s *settings) { s.SigmaQ = 2 },
		func(s *settings) { s.Seed = 4 },
		func(s *settings) { s.Operator = "background" },
		func(s *settings) { s.Operator, s.Radius = "background", 1.1 },
		func(s *settings) { s.PrivateRows = []int{2, 7} },
	}
}

// fittedFields are the settings of the models of fields.c, in its order.
func fittedFields(t *testing.T) []func(s *supervised.Settings) {
	t.Helper()
	other, err := supervised.ParseRecipe("root,unit-rows,discriminate")
	if err != nil {
		t.Fatal(err)
	}
	return []func(s *supervised.Settings){
		func(s *supervised.Settings) {},
		func(s *supervised.Settings) { s.Recipe = &other },
		func(s *supervised.Settings) { s.NormalizeRows = true },
		func(s *supervised.Settings) { s.Unmeasured = true },
		func(s *supervised.Settings) { s.Seed = 2 },
		func(s *supervised.Settings) { s.Goal = supervised.GoalP8 },
	}
}

// Every field of the settings has its meaning in Go, and none is confused with another: each
// changes the report or the bits.
func TestEveryFieldInC(t *testing.T) {
	x, y := some(150)
	e := testEngine(t)
	var want []any
	var sums []string
	wide := privatemail.Graph{Bandwidth: kernel.Sigma(20)}
	plan, err := e.Plan(t.Context(), x, &privatemail.Settings{Graph: wide, Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	planned, err := e.PlanMap(t.Context(), x, &privatemail.MapSettings{Graph: wide, Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	want, sums = append(want, plan, planned), append(sums, "00000000", "00000000")
	for _, set := range embeddedFields(x) {
		s := &privatemail.Settings{Graph: wide, Coefficient: 0.5, Dim: 3, Steps: 4, Seed: 7}
		set(s)
		s.Into = blas32.General{Rows: x.Rows, Cols: s.Dim, Stride: s.Dim, Data: make([]float32, x.Rows*s.Dim)}
		report, err := e.Embed(t.Context(), x, y, s)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		sum := fnv.New32a()
		if err := binary.Write(sum, binary.NativeEndian, s.Into.Data); err != nil {
			t.Fatal(err)
		}
		want, sums = append(want, report), append(sums, fmt.Sprintf("%08x", sum.Sum32()))
	}
	for _, set := range assessedFields() {
		s := &privatemail.PrivateSettings{
			Epsilon: 1, Delta: 1e-6, Relation: sensitivity.ReplaceOne, Bandwidth: kernel.Sigma(0.5), SigmaQ: 1, Seed: 3, Alpha: 0.5, Classes: 10,
		}
		set(s)
		report, err := privatemail.Sensitivity(t.Context(), x.Rows, x.Cols, s)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		want, sums = append(want, report), append(sums, "00000000")
	}
	for _, set := range fittedFields(t) {
		recipe := supervised.Classic()
		s := &supervised.Settings{Recipe: &recipe, Seed: 1}
		set(s)
		report, err := supervised.Fit(t.Context(), e, x, y, s)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		want, sums = append(want, report), append(sums, "00000000")
	}

	printed, err := run(t, compile(t, "fields.c", dynamic), written(t, x, y))
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	if len(lines) != len(want)+3 {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want)+3, printed)
	}
	checkDescribed(t, lines[len(want):])
	reports := make([]string, len(want))
	seen := map[string]int{}
	for i := range want {
		var sum string
		reports[i], sum, _ = strings.Cut(lines[i], "\t")
		if sum != sums[i] {
			t.Errorf("line %d: other bits than those of Go", i)
		}
		key := sum + plain(t, []byte(reports[i]))
		if before, ok := seen[key]; ok {
			t.Errorf("lines %d and %d are the same: a setting changes nothing", before, i)
		}
		seen[key] = i
	}
	checkReports(t, reports, want)
}

// checkDescribed looks for the fields that only releases have in the descriptions of the
// releases of fields.c.
func checkDescribed(t *testing.T, lines []string) {
	t.Helper()
	for i, texts := range [][]string{
		{`"labels":{"mode":"randomised","epsilon":0.7}`, `"unit":"client"`, `"records":2`, `"private_rows":[]`},
		{`"labels":{"mode":"dropped","epsilon":0}`, `"unit":"record"`, `"private_rows":[2]`, `"derivation":"theorem-1"`},
		{`"private_rows":[2]`, `"derivation":"theorem-2"`}, // the others are public
	} {
		for _, text := range texts {
			if !strings.Contains(lines[i], text) {
				t.Errorf("no %s in the release %s", text, lines[i])
			}
		}
	}
}
