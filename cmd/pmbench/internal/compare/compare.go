// Package compare reports whether one recording is slower than another, by tests that allow for
// the neighbours of a shared machine and for the number of metrics. AB makes both recordings:
// of a revision and of the working tree, which take turns.
package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// MinRuns is the least number of measurements of a case on either side, and usualRuns is
// how many find a slowdown by a third on a machine that others keep busy.
const (
	MinRuns   = 10
	usualRuns = 20
)

// significance is the chance of an alarm about nothing, over all metrics of a
// comparison together.
const significance = 0.05

// Options are those of a comparison: what verb compare is asked for.
type Options struct {
	Threshold           float64
	Metrics             string
	Across, FailUnclear bool
	// interleaved recordings met the same machine: its drift is in both. They may be compared
	// as often as looks says, while there are ever more of them; 0 is once.
	interleaved bool
	looks       int
}

func (f *Options) check() error {
	if !(f.Threshold >= 0) || math.IsInf(f.Threshold, 0) {
		return cli.Usagef("-threshold: want 0 or more percent")
	}
	if f.Metrics == "" {
		return cli.Usagef("-metric: name a unit, such as yards/op")
	}
	return nil
}

// Files compares two files in the Go benchmark format.
func (f *Options) Files(e *cli.Env, oldPath, newPath string) error {
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

// Exit codes of a comparison that found nothing worse: some metrics are unclear, or some
// are likely worse.
const (
	UnclearCode = 3
	LikelyCode  = 4
)

// show compares two recordings and prints the table. The error it returns carries the
// exit code when something got worse, likely so or not, or is unclear.
func (f *Options) show(e *cli.Env, before, after *recording) error {
	differences, err := f.checkOrigins(e, before, after)
	if err != nil {
		return err
	}
	before, after, metrics := f.aligned(before, after)
	all, err := compareRecordings(before, after, metrics, f.Threshold/100, f.interleaved, max(f.looks, 1))
	if err != nil {
		return err
	}
	for _, name := range before.onlyHere(after, metrics) {
		e.Note("%s is only in the first recording", name)
	}
	for _, name := range after.onlyHere(before, metrics) {
		e.Note("%s is only in the second recording", name)
	}
	shown := withoutSettled(all)
	if e.JSON {
		for _, c := range shown {
			c.Differences = differences
			if err := e.Object(c); err != nil {
				return err
			}
		}
	} else if err := writeComparison(e.Stdout, shown, f.Threshold, len(all)*max(f.looks, 1)); err != nil {
		return err
	}
	return f.verdict(shown)
}

// aligned returns two recordings with names that meet, and the metrics to compare.
func (f *Options) aligned(before, after *recording) (_, _ *recording, metrics []string) {
	metrics = strings.Split(f.Metrics, ",")
	if before.origin.differ(after.origin, "cores") {
		before, after = before.withoutCores(), after.withoutCores()
	}
	if before.origin.differ(after.origin, "cpu") || before.origin.differ(after.origin, "family") {
		metrics = acrossMetrics(metrics)
	}
	return before, after, metrics
}

// verdict returns what the exit code says of all metrics together.
func (f *Options) verdict(all []*comparison) error {
	any := func(is func(c *comparison) bool) bool { return slices.ContainsFunc(all, is) }
	code := cli.OK
	switch {
	case any(func(c *comparison) bool { return c.Worse }):
		code = cli.Failed
	case any(func(c *comparison) bool { return c.Likely }):
		code = LikelyCode
	case any(func(c *comparison) bool { return c.Unclear != "" }):
		code = UnclearCode
	}
	switch {
	case code == cli.OK:
		return nil
	case f.FailUnclear:
		code = cli.Failed
	}
	return cli.Shown(code)
}

// A comparison is one metric of one case, the object of compare -json.
type comparison struct {
	Case   string  `json:"case"`
	Metric string  `json:"metric"`
	Old    float64 `json:"old"` // medians
	New    float64 `json:"new"`
	OldN   int     `json:"old_runs"` // that are compared
	NewN   int     `json:"new_runs"`
	// Spread is the distance of the quartiles within a recording, relative to
	// the median; of the two the larger.
	Spread float64 `json:"spread"`
	// Drift is by how much the yardstick varied while the measurements compared
	// were made, of cpu-yards/op its processor time; 0 where they were calm, took turns or
	// have no yardstick. OldCalm and NewCalm are how many calm ones there were.
	Drift   float64 `json:"drift"`
	OldCalm int     `json:"old_calm"`
	NewCalm int     `json:"new_calm"`
	// Change is how much worse the new one is, relative; negative: better.
	// Detectable is how much it must be to be seen. PHolm is P corrected for the number of
	// metrics, and for how often ab may look.
	Change     float64 `json:"change"`
	Detectable float64 `json:"detectable"`
	P          float64 `json:"p"`
	PHolm      float64 `json:"p_holm"`
	Worse      bool    `json:"worse"`
	Likely     bool    `json:"likely_worse"` // by P alone, and not by PHolm
	Better     bool    `json:"better"`
	// Unclear is why a change of the size of the threshold could be there all the
	// same, empty where it could not.
	Unclear string `json:"unclear,omitempty"`
	// Differences are those between where the recordings were made, empty where they
	// were made alike.
	Differences []string `json:"differences,omitempty"`
	name        string   // of the case in the recordings
	noise       float64  // standard error of Change
	most        float64  // that Change could be
}

// compareRecordings compares the cases that both recordings have. A metric is
// worse when it changed for the worse by more than the threshold, and by more than
// the drift of the machine on top of it, and the change is significant after Holm's
// correction, times the number of looks that a comparison may take at recordings that grow:
// whenever it stops, the chance of an alarm about nothing is that of all looks together.
func compareRecordings(before, after *recording, metrics []string, threshold float64, interleaved bool, looks int) ([]*comparison, error) {
	var all []*comparison
	for _, name := range before.order {
		for _, unit := range metrics {
			old, now := before.cases[name], after.cases[name]
			if old[unit] == nil || now[unit] == nil {
				unit = fallback(unit, metrics, interleaved)
			}
			if len(old[unit]) == 0 || len(now[unit]) == 0 {
				continue
			}
			if o, n := len(old[unit]), len(now[unit]); o < MinRuns || n < MinRuns {
				return nil, fmt.Errorf("%s has %d and %d measurements, want at least %d each; measure with -count %d", name, o, n, MinRuns, usualRuns)
			}
			if !allFinite(old[unit]) || !allFinite(now[unit]) {
				return nil, fmt.Errorf("%s has a value of %s that is not finite", name, unit)
			}
			all = append(all, compareMetric(name, unit, old, now))
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
		if interleaved {
			all[i].Drift = 0
		}
		all[i].PHolm = min(1, float64(looks)*corrected)
		all[i].judge(threshold, looks*len(all))
	}
	return all, nil
}

// allFinite reports whether all values are finite. No test ranks others.
func allFinite(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v-v != 0 })
}

// fallback returns what is compared where a recording does not have a metric of the yardstick:
// seconds. Those of processors only where the sides took turns, for the speed of a processor
// changes from hour to hour.
func fallback(unit string, metrics []string, interleaved bool) string {
	seconds := map[string]string{record.YardsUnit: "sec/op", record.CPUYardsUnit: record.CPUUnit}[unit]
	if seconds == "" || slices.Contains(metrics, seconds) || unit == record.CPUYardsUnit && !interleaved {
		return unit
	}
	return seconds
}

// isTime and isProcessorTime say which of two views of the same work a metric is.
func (c *comparison) isTime() bool { return c.Metric == record.YardsUnit || c.Metric == "sec/op" }
func (c *comparison) isProcessorTime() bool {
	return c.Metric == record.CPUYardsUnit || c.Metric == record.CPUUnit
}

// besideTime returns the comparison of the time of each case whose processor time is compared,
// too.
func besideTime(all []*comparison) map[*comparison]*comparison {
	times := map[string]*comparison{}
	for _, c := range all {
		if c.isTime() {
			times[c.name] = c
		}
	}
	out := map[*comparison]*comparison{}
	for _, c := range all {
		if time := times[c.name]; c.isProcessorTime() && time != nil {
			out[c] = time
		}
	}
	return out
}

// withoutSettled leaves out the processor time of cases whose time is clear: more work in
// less time is not a loss.
func withoutSettled(all []*comparison) (out []*comparison) {
	times := besideTime(all)
	for _, c := range all {
		if time := times[c]; time == nil || time.Unclear != "" || time.Likely {
			out = append(out, c)
		}
	}
	return out
}

// judge says what a change means: one of several metrics that are compared, or looks at them.
func (c *comparison) judge(threshold float64, metrics int) {
	margin := threshold + c.Drift
	significant := c.PHolm < significance
	c.Worse = c.Change > margin && significant
	c.Likely = c.Change > margin && !significant && c.P < significance
	c.Better = c.Change < -margin && significant
	sure := normalQuantile(1 - significance/2/float64(metrics))
	c.most = c.Change + sure*c.noise
	// A shift of this many standard errors is found with a chance of 80%.
	c.Detectable = (sure + normalQuantile(0.8)) * c.noise
	switch {
	case c.Worse || c.Likely || c.Better:
	case c.Drift > 0 && margin > c.Detectable:
		c.Detectable = margin
		c.Unclear = fmt.Sprintf("the machine was not calm: its own speed varied by %.0f%%, and only %d and %d measurements were made in calm moments", 100*c.Drift, c.OldCalm, c.NewCalm)
	case c.Detectable > threshold:
		c.Unclear = fmt.Sprintf("too noisy: the quartiles within a recording are %.0f%% apart", 100*c.Spread)
	case c.Change > threshold && !significant:
		c.Unclear = "the change exceeds the threshold and may be chance"
	}
}

// compareMetric compares one metric of one case, given all its metrics by unit.
func compareMetric(name, unit string, old, now map[string][]float64) *comparison {
	c := &comparison{Case: strings.TrimPrefix(name, "Benchmark"), Metric: unit, name: name}
	o, n := c.chosen(old, now)
	c.compareSamples(o, n)
	return c
}

func (c *comparison) compareSamples(o, n []float64) {
	// Samples sort their values; those of the recording stay with their yards.
	first := benchmath.NewSample(slices.Clone(o), &benchmath.DefaultThresholds)
	second := benchmath.NewSample(slices.Clone(n), &benchmath.DefaultThresholds)
	c.OldN, c.NewN = len(o), len(n)
	c.Old = benchmath.AssumeNothing.Summary(first, 0.95).Center
	c.New = benchmath.AssumeNothing.Summary(second, 0.95).Center
	c.P = benchmath.AssumeNothing.Compare(first, second).P
	for _, v := range [][]float64{first.Values, second.Values} {
		spread := (figures.Quantile(v, 0.75) - figures.Quantile(v, 0.25)) / figures.Median(v)
		if !(spread > 0) { // of zeros, too
			continue
		}
		c.Spread = max(c.Spread, spread)
		// Of normal values the quartiles are 1.35 standard deviations apart, and
		// the error of the median is 1.25 times that of the mean.
		c.noise = math.Hypot(c.noise, spread/1.349*math.Sqrt(math.Pi/2/float64(len(v))))
	}
	switch {
	case c.Old == c.New:
	case c.Old == 0:
		c.Change = 1 // from nothing to something
	default:
		c.Change = c.New/c.Old - 1
	}
	if higherIsBetter(c.Metric) {
		c.Change = -c.Change
	}
}

// normalQuantile is the inverse of the normal distribution function.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// higherIsBetter distinguishes rates from costs by their units.
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

// writeComparison prints a table and what there is to say of its lines. Chances is the number of
// metrics and looks that chance has had.
func writeComparison(w io.Writer, all []*comparison, threshold float64, chances int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "case\tmetric\told\tnew\tworse by\tp (Holm)\truns\tcan see\t\t")
	worse, likely, unclear := 0, 0, 0
	for _, c := range all {
		verdict := ""
		switch {
		case c.Worse:
			verdict = "WORSE"
			worse++
		case c.Likely:
			verdict = "likely worse"
			likely++
		case c.Better:
			verdict = "better"
		case c.Unclear != "":
			verdict = "unclear"
			unclear++
		}
		fmt.Fprintf(t, "%s\t%s\t%.4g\t%.4g\t%+.1f%%\t%.3g\t%d+%d\t%.1f%%\t%s\t\n", c.Case, c.Metric, c.Old, c.New, 100*c.Change, c.PHolm, c.OldN, c.NewN, 100*c.Detectable, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range all {
		switch {
		case c.Likely:
			fmt.Fprintf(w, "likely worse: %s %s: by %.1f%%, p %.2g by itself and %.2g with all that was compared\n", c.Case, c.Metric, 100*c.Change, c.P, c.PHolm)
		case c.Unclear != "":
			fmt.Fprintf(w, "unclear: %s %s: %s; a change of less than %.1f%% would not be seen\n", c.Case, c.Metric, c.Unclear, 100*c.Detectable)
		}
	}
	if likely > 0 {
		fmt.Fprintf(w, "likely is not sure: where nothing changed, chance makes up to %.2g metrics of this comparison look so; take more measurements\n", float64(chances)*significance/2)
	}
	_, err := fmt.Fprintf(w, "%d of %d metrics worse by more than %g%% with p < %g, %d likely worse, %d unclear\n", worse, len(all), threshold, significance, likely, unclear)
	return err
}
