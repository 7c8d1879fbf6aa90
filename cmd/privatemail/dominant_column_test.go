package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A map of rows that up to three columns decide comes with a note that names them; others do not,
// and neither do standardized columns.
func TestDominantColumns(t *testing.T) {
	temp := t.TempDir()
	for _, c := range []struct {
		columns int
		scaled  []int
		flags   string
		noted   string
	}{
		{3, []int{2}, "", `column 2 has 100.0 % of the variance of all 3, and so decides`},
		{3, nil, "", ""},
		{3, []int{1, 2}, "", ""}, // two of three
		{8, []int{7, 2}, "", `columns 7 and 2 together have 100.0 % of the variance of all 8, and so decide `},
		{8, []int{7, 2, 5}, "", `columns 7, 2 and 5 together`},
		{9, []int{7, 2, 5, 6}, "", ""},
		{8, []int{7, 2}, "-standardize", ""},
		{8, []int{7, 2}, "-normalize-rows", ""},
	} {
		random := rand.New(rand.NewPCG(1, 1))
		rows := make([]float32, 100*c.columns)
		for i := range rows {
			rows[i] = 5000 + float32(random.NormFloat64())
			for place, column := range c.scaled {
				if i%c.columns == column-1 {
					rows[i] = 5000 + float32(1000-200*place)*float32(random.NormFloat64())
				}
			}
		}
		path := filepath.Join(temp, "x.npy")
		writeMatrix(t, path, 100, c.columns, rows)
		for _, verb := range []string{"embed -out " + filepath.Join(temp, "z.npy"), "graph -neighbours 5 -out " + filepath.Join(temp, "z.npz")} {
			args := append(strings.Fields(verb+" "+c.flags), path)
			_, stderr := succeed(t, args...)
			if got := strings.Contains(stderr, "who is near whom"); got != (c.noted != "") || !strings.Contains(stderr, c.noted) {
				t.Errorf("%d columns, of which %v are wide, %s %s:\n%s", c.columns, c.scaled, verb, c.flags, stderr)
			}
		}
	}
}

// Columns of text are named, too. -standardize makes the map that standardized columns make, and
// the summary says so.
func TestStandardizedColumns(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	random := rand.New(rand.NewPCG(1, 1))
	text := "income,age,a,b,c,d\n"
	for range 80 {
		text += fmt.Sprintf("%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", 50000*random.Float64(), 20000*random.Float64(), random.Float64(), random.Float64(), random.Float64(), random.Float64())
	}
	if err := os.WriteFile(at("x.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	_, stderr := succeed(t, "embed", at("x.csv"), "-out", at("plain.npy"))
	if !strings.Contains(stderr, `columns 1 "income" and 2 "age" together have`) || !strings.Contains(stderr, "-standardize") {
		t.Errorf("messages\n%s", stderr)
	}
	stdout, stderr := succeed(t, "embed", at("x.csv"), "-standardize", "-out", at("scaled.npy"))
	if !strings.Contains(stdout, "divided by their standard deviations") || strings.Contains(stderr, "income") {
		t.Errorf("standardized:\n%s%s", stdout, stderr)
	}
	if readFile(t, at("plain.npy")) == readFile(t, at("scaled.npy")) {
		t.Error("-standardize changes nothing")
	}
	for _, args := range [][]string{{"embed", "-out", at("z.npy")}, {"embed", "-mean-neighbours", "10", "-form", "attract", "-out", at("z.npy")}, {"graph", "-neighbours", "5", "-out", at("z.npz")}, {"embed", "-plan", "-neighbours", "5"}} {
		for _, flag := range []string{"", "-standardize"} {
			stdout, _ := succeed(t, append(args, append(strings.Fields(flag), "-json", at("x.csv"))...)...)
			if got := strings.Contains(stdout, `"standardize":true`); got != (flag != "") {
				t.Errorf("%v %s: %s", args, flag, stdout)
			}
		}
	}
}
