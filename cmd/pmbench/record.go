package main

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Record is one measurement, the object of run -json. Numbers that do not
// exist for a case are null.
type Record struct {
	Suite   string `json:"suite"`
	Case    string `json:"case"`
	N       int    `json:"n"`
	D       int    `json:"d"`
	K       int    `json:"k"`
	NNZ     int64  `json:"nnz"`
	Workers int    `json:"workers"`
	Level   string `json:"level"`
	// Seconds of one operation, the median of Iterations; Spread is the
	// distance between their quartiles relative to it. With -calm they are those of the
	// stretch of YardsPerOp.
	Seconds    float64 `json:"seconds"`
	Iterations int     `json:"iterations"`
	Spread     float64 `json:"spread"`
	// SecondsP99 is what one operation in a hundred exceeds, HeapBytes the memory that
	// one takes from the heap; both where somebody waits for each operation.
	SecondsP99 *float64 `json:"seconds_p99,omitempty"`
	HeapBytes  *float64 `json:"heap_bytes,omitempty"`
	// YardsPerOp is the time of one operation in units of the yardstick, in the
	// calmest stretch of the measurement: its fastest one where both readings beside
	// it were near the least. YardSeconds is the slower of these two readings,
	// LeastYardSeconds the least so far in this process.
	YardsPerOp       *float64 `json:"yards_per_op"`
	YardSeconds      *float64 `json:"yard_seconds"`
	LeastYardSeconds *float64 `json:"least_yard_seconds"`
	// CPUSeconds of one operation, all workers together, the mean; null where
	// the system does not tell.
	CPUSeconds *float64 `json:"cpu_seconds"`
	// CPUYardsPerOp are CPUSeconds in units of CPUYardSeconds, the processor seconds of a
	// reading of the yardstick: the median of the readings of the measurement. Both are
	// left out where the system does not tell.
	CPUYardsPerOp  *float64 `json:"cpu_yards_per_op,omitempty"`
	CPUYardSeconds *float64 `json:"cpu_yard_seconds,omitempty"`
	// Stolen is which share of the time that the processors of this machine wanted to work the
	// host of a virtual machine had them wait, during the operations that count; null where the
	// system does not tell.
	Stolen *float64 `json:"stolen"`
	// Products is how many an iterative method took.
	Products int `json:"products,omitempty"`
	// Bytes the model of the case says are moved.
	Bytes      int64    `json:"bytes"`
	GnnzPerS   *float64 `json:"gnnz_per_s,omitempty"`
	PairsPerS  *float64 `json:"pairs_per_s,omitempty"`
	NsPerPoint float64  `json:"ns_per_point"`
	NsPerNNZ   *float64 `json:"ns_per_nnz"`
	// RoofFraction is the time the limit named by Roof allows over Seconds.
	Roof         string   `json:"roof"`
	RoofFraction *float64 `json:"roof_fraction"`
	// MaddPerS are multiply-adds per second.
	MaddPerS *float64 `json:"madd_per_s"`
	// Eta is the certified error of the worst row; EtaP99 is that of all but one
	// in a hundred.
	Eta    *float64 `json:"eta"`
	EtaP99 *float64 `json:"eta_p99"`
	// RSSBytes is the largest resident memory of the process while it measured,
	// PeakBytes what of it was not there before.
	RSSBytes  int64 `json:"rss_bytes"`
	PeakBytes int64 `json:"peak_bytes"`
	// PeakPerNNZ is PeakBytes of a build per entry built.
	PeakPerNNZ   *float64 `json:"peak_bytes_per_nnz"`
	Instructions *float64 `json:"instructions"`
	// Depth of the codes of a search in many dimensions, and the shares of pairs whose
	// codes were compared, whose distance was measured, and that are neighbours.
	Depth    int      `json:"depth,omitempty"`
	Compared *float64 `json:"compared,omitempty"`
	Measured *float64 `json:"measured,omitempty"`
	Found    *float64 `json:"found,omitempty"`
	// Equal are the radii at which the pairs of a search are those of all distances.
	Equal []Equality `json:"equal,omitempty"`
	Plan  *Choice    `json:"plan,omitempty"` // suite plan
	// Settings are the levels and choices that a loop of suite levels was run at, with the
	// least seconds of one run.
	Settings *Choice        `json:"settings,omitempty"`
	Sealed   *SealedFigures `json:"sealed,omitempty"` // suite sealed
	Ranks    *RankFigures   `json:"ranks,omitempty"`  // suite ranks
	// EndedEarly says that the run ended before all rounds of the suite were measured.
	EndedEarly bool     `json:"ended_early,omitempty"`
	Command    string   `json:"command,omitempty"`
	Commit     string   `json:"commit"`
	Time       string   `json:"time"`
	Machine    *Machine `json:"machine,omitempty"`

	file int // of a report: the number of the recording it was read from
}

// benchmarkName is the record's name in the Go benchmark format. The level is
// a line of the file and no part of the name, so that levels compare.
func (r *Record) benchmarkName() string {
	return "Benchmark" + strings.ToUpper(r.Suite[:1]) + r.Suite[1:] + "/" + r.Case
}

// The units of the yardstick in the Go benchmark format.
const (
	yardsUnit     = "yards/op"
	yardUnit      = "yard-sec"
	leastYardUnit = "least-yard-sec"
	cpuYardsUnit  = "cpu-yards/op"
	cpuYardUnit   = "cpu-yard-sec"
	cpuUnit       = "cpu-sec/op"
)

// writeBenchmarks writes records in the Go benchmark format.
func writeBenchmarks(w io.Writer, m *Machine, records []*Record) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\npkg: github.com/seed-64e14a55/privatemail/cmd/pmbench\n", runtime.GOOS, runtime.GOARCH)
	for _, line := range m.lines() {
		fmt.Fprintln(b, line)
	}
	if slices.ContainsFunc(records, func(r *Record) bool { return r.EndedEarly }) {
		fmt.Fprintln(b, "ended: early")
	}
	fmt.Fprintf(b, "Unit yards/op better=lower\nUnit peak-B better=lower\nUnit cpu-sec/op better=lower\nUnit cpu-yards/op better=lower\nUnit p99-sec better=lower\nUnit heap-B/op better=lower\nUnit Gnnz/s better=higher\nUnit Gpairs/s better=higher\nUnit %%roof better=higher\n\n")
	for _, r := range records {
		fmt.Fprintf(b, "%s-%d %d %s ns/op", r.benchmarkName(), runtime.GOMAXPROCS(0), r.Iterations, number(r.Seconds*1e9))
		if r.Bytes > 0 {
			fmt.Fprintf(b, " %s MB/s", number(float64(r.Bytes)/r.Seconds/1e6))
		}
		for _, v := range []struct {
			value *float64
			scale float64
			unit  string
		}{
			{r.YardsPerOp, 1, yardsUnit}, {r.YardSeconds, 1, yardUnit}, {r.LeastYardSeconds, 1, leastYardUnit},
			{r.CPUSeconds, 1, cpuUnit}, {r.CPUYardsPerOp, 1, cpuYardsUnit}, {r.CPUYardSeconds, 1, cpuYardUnit}, {r.GnnzPerS, 1, "Gnnz/s"}, {r.PairsPerS, 1e-9, "Gpairs/s"}, {r.RoofFraction, 100, "%roof"},
			{r.Eta, 1, "eta"}, {r.SecondsP99, 1, "p99-sec"}, {r.HeapBytes, 1, "heap-B/op"}, {r.Instructions, 1, "instructions/op"},
		} {
			if v.value != nil {
				fmt.Fprintf(b, " %s %s", number(*v.value*v.scale), v.unit)
			}
		}
		if r.PeakBytes > 0 {
			fmt.Fprintf(b, " %d peak-B", r.PeakBytes)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}

// now is the time of a record.
func now() string { return time.Now().UTC().Format(time.RFC3339) }

// summary is what several measurements of a case come to.
type summary struct {
	*Record           // the first, with medians in the fields that vary
	Rounds    int     // how many there were
	Low, High float64 // quartiles of seconds
}

// summarise groups records by case, in order of appearance.
func summarise(records []*Record) []summary {
	var order []string
	groups := map[string][]*Record{}
	for _, r := range records {
		key := r.Suite + " " + r.Case + " " + settingOf(r.Level, r.Machine)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	out := make([]summary, 0, len(order))
	for _, key := range order {
		group := groups[key]
		collect := func(f func(*Record) *float64) []float64 {
			var v []float64
			for _, r := range group {
				if p := f(r); p != nil {
					v = append(v, *p)
				}
			}
			return v
		}
		one := *group[0]
		seconds := collect(func(r *Record) *float64 { return &r.Seconds })
		s := summary{Record: &one, Rounds: len(group), Low: quantile(seconds, 0.25), High: quantile(seconds, 0.75)}
		scale := one.Seconds / median(seconds) // rates follow from the seconds
		one.Seconds = median(seconds)
		for _, p := range []**float64{&one.GnnzPerS, &one.PairsPerS, &one.MaddPerS} {
			if *p != nil {
				*p = finite(**p * scale)
			}
		}
		one.NsPerPoint /= scale
		if one.NsPerNNZ != nil {
			one.NsPerNNZ = finite(*one.NsPerNNZ / scale)
		}
		one.SecondsP99 = finite(median(collect(func(r *Record) *float64 { return r.SecondsP99 })))
		one.HeapBytes = finite(median(collect(func(r *Record) *float64 { return r.HeapBytes })))
		one.RoofFraction = finite(median(collect(func(r *Record) *float64 { return r.RoofFraction })))
		one.PeakBytes = int64(median(collect(func(r *Record) *float64 { return finite(float64(r.PeakBytes)) })))
		one.PeakPerNNZ = finite(median(collect(func(r *Record) *float64 { return r.PeakPerNNZ })))
		out = append(out, s)
	}
	return out
}

// An Equality says that a search found the pairs within a radius, all of them and no
// others, as the float64 distances of all pairs tell.
type Equality struct {
	// Degree is the mean number of neighbours within Radius, which is the distance of
	// one of the Pairs, so that equality is put to the test where it is decided.
	Degree float64 `json:"degree"`
	Radius float64 `json:"radius"`
	Pairs  int     `json:"pairs"`
}

// A Choice says how what was picked compares with the others: an operator in suite plan, a
// level with its choices in suite levels.
type Choice struct {
	Pick string `json:"pick"` // "" where none was built
	Best string `json:"best"`
	// Ratio is the time of the pick over that of the fastest.
	Ratio float64 `json:"ratio"`
	// Seconds are those of each operator forced, from points to the last step,
	// but for those that cannot serve or were estimated to take too long.
	Seconds map[string]float64 `json:"seconds"`
	// Failed: no operator was built though another serves when forced.
	Failed bool `json:"failed"`
}
