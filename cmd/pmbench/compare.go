package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// minRuns is the least number of measurements of a case on either side.
const minRuns = 10

// significance is the chance of an alarm about nothing, over all metrics of a
// comparison together.
const significance = 0.05

func compareVerb() verb {
	return verb{
		name: "compare", summary: "tell whether one recording is slower than another",
		synopsis: "OLD NEW [-threshold PERCENT] [-metric UNITS]",
		about: `
Compares two files of run -out, or of go test -bench, case by case: medians, and the
Mann-Whitney U test with Holm's correction over all metrics compared. Every case needs
at least 10 measurements on either side. The exit code is 1 when a metric is worse by
more than the threshold and the corrected p is below 0.05, and when the comparison is
refused. Two files that were recorded one after the other differ by whatever else the
machine did; ab interleaves. -metric cpu-sec/op compares the time of the processors.
`,
		examples: []string{
			"pmbench run -suite spmm -count 10 -out old.txt",
			"pmbench compare old.txt new.txt -threshold 3",
		},
		define: func(fs *flag.FlagSet) action {
			f := new(compareFlags)
			f.define(fs)
			return func(_ context.Context, e *env, names []string) error {
				if len(names) != 2 {
					return usagef("two files are wanted, OLD and NEW, got %d", len(names))
				}
				return f.compareFiles(e, names[0], names[1])
			}
		},
	}
}

type compareFlags struct {
	threshold float64
	metrics   string
}

func (f *compareFlags) define(fs *flag.FlagSet) {
	fs.Float64Var(&f.threshold, "threshold", 5, "a metric may get worse by `PERCENT`")
	fs.StringVar(&f.metrics, "metric", "sec/op,peak-B", "compare these `UNITS`, separated by commas; rates are better when they are higher")
}

func (f *compareFlags) check() error {
	if !(f.threshold >= 0) || math.IsInf(f.threshold, 0) {
		return usagef("-threshold: want 0 or more percent")
	}
	if f.metrics == "" {
		return usagef("-metric: name a unit, such as sec/op")
	}
	return nil
}

func (f *compareFlags) compareFiles(e *env, oldPath, newPath string) error {
	if err := f.check(); err != nil {
		return err
	}
	before, err := readBenchmarks(oldPath)
	if err != nil {
		return err
	}
	after, err := readBenchmarks(newPath)
	if err != nil {
		return err
	}
	return f.show(e, before, after)
}

// show compares two recordings, prints the table, and returns errWorse when
// something got worse.
func (f *compareFlags) show(e *env, before, after *recording) error {
	all, err := compareRecordings(before, after, strings.Split(f.metrics, ","), f.threshold/100)
	if err != nil {
		return err
	}
	for _, name := range before.onlyHere(after) {
		e.note("%s is only in the first recording", name)
	}
	for _, name := range after.onlyHere(before) {
		e.note("%s is only in the second recording", name)
	}
	worse, restless := 0, 0
	for _, c := range all {
		if c.Worse {
			worse++
		}
		if c.Spread > f.threshold/100 {
			restless++
		}
	}
	if restless > 0 {
		e.note("%d of %d metrics vary by more than %g%% within a recording: take more measurements, interleaved by ab, on a machine at rest", restless, len(all), f.threshold)
	}
	if e.json {
		for _, c := range all {
			if err := e.object(c); err != nil {
				return err
			}
		}
	} else if err := writeComparison(e.stdout, all, f.threshold, worse); err != nil {
		return err
	}
	if worse > 0 {
		return errWorse
	}
	return nil
}

// A comparison is one metric of one case, the object of compare -json.
type comparison struct {
	Case   string  `json:"case"`
	Metric string  `json:"metric"`
	Old    float64 `json:"old"` // medians
	New    float64 `json:"new"`
	OldN   int     `json:"old_runs"`
	NewN   int     `json:"new_runs"`
	// Spread is the distance of the quartiles within a recording, relative to
	// the median; of the two the larger.
	Spread float64 `json:"spread"`
	// Change is how much worse the new one is, relative; negative: better.
	Change float64 `json:"change"`
	P      float64 `json:"p"`
	PHolm  float64 `json:"p_holm"`
	Worse  bool    `json:"worse"`
	Better bool    `json:"better"`
}

// recording holds the values of a benchmark file: by case, by unit.
type recording struct {
	path  string
	order []string
	cases map[string]map[string][]float64
}

// readBenchmarks reads a file in the Go benchmark format. Units are those of
// package benchfmt: ns/op is read as sec/op, MB/s as B/s.
func readBenchmarks(path string) (*recording, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &recording{path: path, cases: map[string]map[string][]float64{}}
	return out, out.read(f)
}

func (rec *recording) read(r io.Reader) error {
	reader := benchfmt.NewReader(r, rec.path)
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return r
		case *benchfmt.Result:
			name := r.Name.String()
			if rec.cases[name] == nil {
				rec.order = append(rec.order, name)
				rec.cases[name] = map[string][]float64{}
			}
			for _, v := range r.Values {
				rec.cases[name][v.Unit] = append(rec.cases[name][v.Unit], v.Value)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if len(rec.order) == 0 {
		return fmt.Errorf("%s: no benchmark lines; run -out and go test -bench write them", rec.path)
	}
	return nil
}

// onlyHere returns the cases that the other recording does not have.
func (rec *recording) onlyHere(other *recording) (names []string) {
	for _, name := range rec.order {
		if other.cases[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// compareRecordings compares the cases that both recordings have. A metric is
// worse when it changed by more than the threshold for the worse and the
// change is significant after Holm's correction.
func compareRecordings(before, after *recording, metrics []string, threshold float64) ([]*comparison, error) {
	var all []*comparison
	for _, name := range before.order {
		for _, unit := range metrics {
			o, n := before.cases[name][unit], after.cases[name][unit]
			if len(o) == 0 || len(n) == 0 {
				continue
			}
			if len(o) < minRuns || len(n) < minRuns {
				return nil, fmt.Errorf("%s has %d and %d measurements, want at least %d each; measure with -count %d", name, len(o), len(n), minRuns, minRuns)
			}
			all = append(all, compareSamples(name, unit, o, n))
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s and %s have no case and metric (%s) in common", before.path, after.path, strings.Join(metrics, ", "))
	}
	p := make([]float64, len(all))
	for i, c := range all {
		p[i] = c.P
	}
	for i, corrected := range holm(p) {
		c := all[i]
		c.PHolm = corrected
		c.Worse = c.Change > threshold && corrected < significance
		c.Better = c.Change < -threshold && corrected < significance
	}
	return all, nil
}

func compareSamples(name, unit string, o, n []float64) *comparison {
	first := benchmath.NewSample(o, &benchmath.DefaultThresholds)
	second := benchmath.NewSample(n, &benchmath.DefaultThresholds)
	c := &comparison{Case: strings.TrimPrefix(name, "Benchmark"), Metric: unit, OldN: len(o), NewN: len(n)}
	c.Old = benchmath.AssumeNothing.Summary(first, 0.95).Center
	c.New = benchmath.AssumeNothing.Summary(second, 0.95).Center
	c.P = benchmath.AssumeNothing.Compare(first, second).P
	for _, v := range [][]float64{first.Values, second.Values} {
		if m := median(v); m > 0 {
			c.Spread = max(c.Spread, (quantile(v, 0.75)-quantile(v, 0.25))/m)
		}
	}
	switch {
	case c.Old == c.New:
	case c.Old == 0:
		c.Change = 1 // from nothing to something
	default:
		c.Change = c.New/c.Old - 1
	}
	if higherIsBetter(unit) {
		c.Change = -c.Change
	}
	return c
}

// higherIsBetter tells rates from costs by their units.
func higherIsBetter(unit string) bool { return strings.HasSuffix(unit, "/s") || unit == "%roof" }

// holm corrects p-values for their number (Holm 1979): the i-th smallest of m
// times m-i+1, never below the one before it, at most 1.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	largest := 0.0
	for rank, i := range order {
		largest = min(1, max(largest, p[i]*float64(len(p)-rank)))
		out[i] = largest
	}
	return out
}

func writeComparison(w io.Writer, all []*comparison, threshold float64, worse int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "case\tmetric\told\tnew\tworse by\tp (Holm)\truns\t\t")
	for _, c := range all {
		verdict := ""
		switch {
		case c.Worse:
			verdict = "WORSE"
		case c.Better:
			verdict = "better"
		}
		fmt.Fprintf(t, "%s\t%s\t%.4g\t%.4g\t%+.1f%%\t%.3g\t%d+%d\t%s\t\n", c.Case, c.Metric, c.Old, c.New, 100*c.Change, c.PHolm, c.OldN, c.NewN, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %d metrics worse by more than %g%% with p < %g\n", worse, len(all), threshold, significance)
	return err
}
