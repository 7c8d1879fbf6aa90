package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail"
)

// Parts add up to the whole as they are written, whatever their digits are.
func TestStopwatch(t *testing.T) {
	w := newStopwatch(timeReading, timeGraph, timeMap, timeWriting)
	w.parts = map[string]time.Duration{timeReading: 14 * time.Millisecond, timeGraph: 1014 * time.Millisecond, timeMap: 24 * time.Millisecond, timeWriting: 4600 * time.Microsecond}
	if got, want := w.String(), "1.04 s: 0.01 for reading, 1.01 for the graph, 0.02 for the map and 0.00 for writing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var g graphReport
	if r := w.report(&g); r.Seconds != 1.057 || r.ReadingSeconds != 0.014 || g.BuildSeconds != 1.014 || g.StepsSeconds != 0.024 || r.WritingSeconds != 0.005 {
		t.Errorf("%+v, %v and %v", r, g.BuildSeconds, g.StepsSeconds)
	}
	w = newStopwatch(timeGraph, timeSteps)
	began := w.last
	w.split(timeGraph, timeSteps, time.Hour) // more than there was
	if w.parts[timeGraph] != 0 || w.parts[timeSteps] != w.last.Sub(began) {
		t.Errorf("%v", w.parts)
	}
}

// What embed and graph print of their time adds up, and is all of it.
func TestTimesAddUp(t *testing.T) {
	folder := toy(t)
	temp := t.TempDir()
	for _, args := range []string{"embed -out z.npy", "embed -out z.npy -degree 10 -beta 3", "embed -out z.npy -form paper -neighbours 8 -plot z.svg", "graph -neighbours 8 -out z.npz -values distances"} {
		args := strings.Fields(strings.ReplaceAll(args, " z.", " "+temp+string(filepath.Separator)+"z."))
		args = append(args, folder)
		began := time.Now()
		stdout, _ := succeed(t, append(args, "-json")...)
		took := time.Since(began).Seconds()
		v := object(t, stdout)
		wantKeys(t, v, "seconds reading_seconds build_seconds steps_seconds writing_seconds")
		sum := 0.0
		for _, key := range []string{"reading_seconds", "build_seconds", "steps_seconds", "writing_seconds"} {
			sum += v[key].(float64)
		}
		if whole := v["seconds"].(float64); math.Abs(sum-whole) > 1e-9 || whole > took+0.005 {
			t.Errorf("%v: parts are %v, the whole %v, and it took %v", args, sum, whole, took)
		}
		stdout, _ = succeed(t, args...)
		_, line, _ := strings.Cut(stdout, "time ")
		line, _, _ = strings.Cut(line, "\n")
		var whole float64
		parts := strings.FieldsFunc(strings.ReplaceAll(line, " and ", ", "), func(r rune) bool { return r == ',' || r == ':' })
		if _, err := fmt.Sscanf(strings.TrimSpace(parts[0]), "%f s", &whole); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, p := range parts[1:] {
			var part float64
			if _, err := fmt.Sscanf(strings.TrimSpace(p), "%f for", &part); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			whole -= part
		}
		if math.Abs(whole) > 1e-9 || len(parts) < 4 {
			t.Errorf("%q does not add up", line)
		}
	}
}

// The rows of the parts of a graph and those without neighbours are all rows.
func TestPartsAddUp(t *testing.T) {
	for want, c := range map[string]struct {
		n          int
		components []int
	}{
		"one: the graph is connected":                   {9, []int{9}},
		"one of 7 rows; rows without neighbours: 2":     {9, []int{7}},
		"2 that no weight connects, of 5 and 4 rows":    {9, []int{5, 4}},
		"3 that no weight connects, of 5, 3 and 2 rows": {10, []int{5, 3, 2}},
		"6 that no weight connects: the largest of 9, 5, 3 and 2 rows, and the others of 4 rows together; rows without neighbours: 1": {24, []int{9, 5, 3, 2, 2, 2}},
	} {
		if got := partsOf(c.n, &privatemail.SpectralMap{Components: c.components}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
