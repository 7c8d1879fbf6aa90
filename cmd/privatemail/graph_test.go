package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// The graph has the rows in the order of the file, as weights and as distances.
func TestGraph(t *testing.T) {
	folder := toy(t)
	x, err := formats.ReadMatrix(filepath.Join(folder, files.FeaturesName))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	weights, distances := filepath.Join(folder, "w.npz"), filepath.Join(folder, "d.mtx")
	stdout, _ := succeed(t, "graph", folder, "-mean-neighbours", "8", "-out", weights, "-json")
	facts := object(t, stdout)
	wantKeys(t, facts, "n d operator sigma gamma radius neighbours isolated eta_max nnz entries values out")
	gamma, radius := facts["gamma"].(float64), facts["radius"].(float64)
	w, err := formats.ReadCSR(weights)
	if err != nil {
		t.Fatal(err)
	}
	succeed(t, "graph", folder, "-mean-neighbours", "8", "-values", "distances", "-out", distances)
	d := strings.Split(strings.TrimSpace(readFile(t, distances)), "\n")[2:] // behind the banner and the sizes
	if w.Rows != 300 || w.Cols != 300 || len(w.Ind) == 0 || float64(len(w.Ind)) != facts["entries"] || len(d) != len(w.Ind) {
		t.Fatalf("%d x %d with %d weights, %d distances, said to be %v", w.Rows, w.Cols, len(w.Ind), len(d), facts["entries"])
	}
	entry, pairs := 0, 0
	for i := range 300 {
		for j := range 300 {
			r := distanceOf(x, i, j)
			if i == j || r > radius {
				continue
			}
			pairs++
			if entry >= len(w.Ind) {
				t.Fatalf("more pairs than %d entries", entry)
			}
			var row, col int
			var distance float64
			if _, err := fmt.Sscan(d[entry], &row, &col, &distance); err != nil || int(w.Ind[entry]) != j || row != i+1 || col != j+1 {
				t.Fatalf("rows %d and %d are neighbours, and entry %d is another", i, j, entry)
			}
			if want := math.Exp(-gamma * r * r); math.Abs(float64(w.Val[entry])-want) > 1e-6 || math.Abs(distance-r) > 1e-6 {
				t.Errorf("rows %d and %d: weight %g, distance %g, want %g and %g", i, j, w.Val[entry], distance, want, r)
			}
			entry++
		}
	}
	if pairs != len(w.Ind) {
		t.Errorf("%d entries for %d pairs", len(w.Ind), pairs)
	}
}

func distanceOf(x *formats.Matrix, i, j int) float64 {
	sum := 0.0
	for c := range x.Cols {
		diff := float64(x.Data[i*x.Cols+c]) - float64(x.Data[j*x.Cols+c])
		sum += diff * diff
	}
	return math.Sqrt(sum)
}

// Distances of unit rows are at most 2, and the same for any number of workers.
func TestGraphOfUnitRows(t *testing.T) {
	folder := toy(t)
	one, three := filepath.Join(folder, "1.npz"), filepath.Join(folder, "3.npz")
	succeed(t, "graph", folder, "-normalize-rows", "-sigma", "0.3", "-values", "distances", "-workers", "1", "-out", one)
	succeed(t, "graph", folder, "-normalize-rows", "-sigma", "0.3", "-values", "distances", "-workers", "3", "-out", three)
	if readFile(t, one) != readFile(t, three) {
		t.Error("the graph depends on the number of workers")
	}
	g, err := formats.ReadCSR(one)
	if err != nil {
		t.Fatal(err)
	}
	most := float32(0)
	for _, v := range g.Val {
		most = max(most, v)
	}
	if most == 0 || most > 2 {
		t.Errorf("the largest distance is %g", most)
	}
}

func TestGraphRefusals(t *testing.T) {
	folder := toy(t)
	out := filepath.Join(folder, "g.npz")
	for _, c := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{folder, "-out", out}, cli.Usage, []string{"bandwidth is missing"}},
		{[]string{folder, "-mean-neighbours", "5"}, cli.Usage, []string{"-out FILE is missing"}},
		{[]string{folder, "-mean-neighbours", "5", "-out", filepath.Join(folder, "g.npy")}, cli.Usage, []string{"can be written: .npz, .mtx"}},
		{[]string{folder, "-mean-neighbours", "5", "-operator", "dense", "-out", out}, cli.Usage, []string{"dense", "csr"}},
		{[]string{folder, "-mean-neighbours", "5", "-values", "ones", "-out", out}, cli.Usage, []string{"-values"}},
		{[]string{"-mean-neighbours", "5", "-out", out}, cli.Usage, []string{"FEATURES is missing"}},
		{[]string{folder, "-sigma", "1000", "-max-memory", "100K", "-out", out}, cli.Failed, []string{"memory", "-max-memory"}},
	} {
		refuse(t, c.code, append([]string{"graph"}, c.args...), c.words...)
	}
	wantFiles(t, folder, files.FeaturesName, files.LabelsName)
}
