package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// testLab measures nothing real: small sizes, made-up limits, no progress.
func testLab(t *testing.T) *lab {
	m := &Machine{CPU: "test", Cores: 2, Counters: "none", Commit: "abc", Limits: Limits{Read: [2]float64{1e9, 2e9}, Gather: [2]float64{1e8, 2e8}, Madd: [2]float64{1e9, 2e9}}}
	l := newLab(m, &meter{now: time.Now})
	l.small, l.limits = true, true
	t.Cleanup(l.close)
	return l
}

// All cases of all suites do what they are there for, with the promised fields.
func TestSuites(t *testing.T) {
	t.Setenv(asCommand, "1") // suite retrieval starts this program again
	for _, s := range suites() {
		t.Run(s.name, func(t *testing.T) {
			l := testLab(t)
			cases := s.pick(l, regexp.MustCompile(""), s.name != "private") // the long private cases do not shrink below a second
			if s.name == "private" {
				cases = slices.DeleteFunc(cases, func(c benchCase) bool { return c.n > 1000 })
			}
			var records []*Record
			err := measure(t.Context(), l, s.name, cases, schedule{rounds: 2, slice: time.Nanosecond}, func(r *Record) error {
				records = append(records, r)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(records) != 2*len(cases) || len(cases) == 0 {
				t.Fatalf("%d records of %d cases", len(records), len(cases))
			}
			seen := map[string]bool{}
			for i, r := range records {
				if r.Case != cases[i%len(cases)].name {
					t.Errorf("record %d is of %s: rounds are not interleaved", i, r.Case)
				}
				if r.Suite != s.name || r.N == 0 || r.D == 0 || r.NNZ == 0 || r.Bytes == 0 || r.Workers == 0 || r.Seconds <= 0 || r.Level == "" || r.Commit != "abc" {
					t.Errorf("%+v", r)
				}
				if (r.GnnzPerS == nil) == (r.PairsPerS == nil) || r.RoofFraction == nil {
					t.Errorf("%s: %+v", r.Case, r)
				}
				if i < len(cases) && seen[r.Case] {
					t.Errorf("%s is there twice", r.Case)
				}
				seen[r.Case] = true
			}
		})
	}
}

func TestRecordHasThePromisedFields(t *testing.T) {
	line, err := json.Marshal(&Record{})
	if err != nil {
		t.Fatal(err)
	}
	v := object(t, string(line))
	for _, key := range strings.Fields("suite case n d k nnz workers level seconds bytes roof_fraction eta rss_bytes commit") {
		if _, ok := v[key]; !ok {
			t.Errorf("no field %s", key)
		}
	}
}

func TestRecord(t *testing.T) {
	l := testLab(t)
	c := &benchCase{name: "k=2", n: 10, d: 2, k: 2, workers: 2}
	trial := &trial{c: c, sub: &subject{nnz: 100, bytes: 1e9, madds: 200, roof: roofRead, eta: math.Inf(1), etaP99: 0.5}}
	r := trial.record(l, []float64{3, 1, 2, 5, 4})
	if r.Seconds != 3 || r.Iterations != 5 || math.Abs(r.Spread-2.0/3) > 1e-15 {
		t.Errorf("seconds %g of %d, spread %g", r.Seconds, r.Iterations, r.Spread)
	}
	if *r.RoofFraction != 0.5/3 || *r.GnnzPerS != 100/3e9 || r.PairsPerS != nil || r.Eta != nil || *r.EtaP99 != 0.5 || *r.MaddPerS != 200.0/3 {
		t.Errorf("%+v", r)
	}
	trial.sub.roof, trial.sub.gather, trial.sub.pairs = roofGather, 50, true
	if r := trial.record(l, []float64{4}); *r.RoofFraction != 0.5 || *r.PairsPerS != 25 || r.GnnzPerS != nil {
		t.Errorf("%+v", r)
	}
	l.machine.Limits = Limits{}
	trial.sub.roof = roofRead
	if r := trial.record(l, []float64{4}); r.RoofFraction != nil {
		t.Errorf("a fraction of no limit: %g", *r.RoofFraction)
	}
}

// The schedule: as many rounds as fit, at least one and at most ten; a failing
// case names itself.
func TestSchedule(t *testing.T) {
	l := testLab(t)
	runs := 0
	quick := benchCase{name: "quick", n: 1, workers: 1, setup: func(context.Context, *lab) (*subject, error) {
		return &subject{roof: roofRead, run: func(context.Context) error { runs++; return nil }}, nil
	}}
	records := 0
	count := func(*Record) error { records++; return nil }
	for _, c := range []struct {
		s    schedule
		want int
	}{
		{schedule{rounds: 3}, 3},
		{schedule{budget: time.Hour}, maxRounds},
		{schedule{budget: 0}, 1},
	} {
		records = 0
		if err := measure(t.Context(), l, "s", []benchCase{quick}, c.s, count); err != nil || records != c.want {
			t.Errorf("%+v: %d records, want %d, %v", c.s, records, c.want, err)
		}
	}
	broken := benchCase{name: "broken", setup: func(context.Context, *lab) (*subject, error) {
		return &subject{run: func(context.Context) error { return io.ErrUnexpectedEOF }}, nil
	}}
	err := measure(t.Context(), l, "s", []benchCase{quick, broken}, schedule{rounds: 1}, count)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "s/broken") {
		t.Error(err)
	}
}

// The first operation of a case is cold and no part of a record, however long it takes
// beside a slice, unless it is so long that another would take too much time.
func TestColdOperationsAreNotRecorded(t *testing.T) {
	l := testLab(t)
	for _, c := range []struct {
		long time.Duration
		want int // runs of two measurements
	}{{time.Hour, 3}, {time.Nanosecond, 2}} {
		runs := 0
		cold := benchCase{name: "cold", n: 1, workers: 1, setup: func(context.Context, *lab) (*subject, error) {
			return &subject{roof: roofRead, run: func(context.Context) error {
				runs++
				time.Sleep(shortestStretch) // or there are several in a stretch
				return nil
			}}, nil
		}}
		recorded := 0
		err := measure(t.Context(), l, "s", []benchCase{cold}, schedule{rounds: 2, slice: time.Nanosecond, long: c.long}, func(r *Record) error {
			recorded += r.Iterations
			return nil
		})
		if err != nil || runs != c.want || recorded != 2 {
			t.Errorf("long from %v on: %d runs, %d of them recorded, want %d and 2, %v", c.long, runs, recorded, c.want, err)
		}
	}
}

// A peak that was measured once and recorded ten times would pass for ten
// measurements that agree.
func TestEveryPeakIsMeasured(t *testing.T) {
	runs := 0
	build := benchCase{name: "build", n: 1, workers: 1, setup: func(context.Context, *lab) (*subject, error) {
		return &subject{roof: roofRead, memory: true, run: func(context.Context) error {
			runs++
			time.Sleep(shortestStretch) // or there are several in a stretch
			return nil
		}}, nil
	}}
	err := measure(t.Context(), testLab(t), "s", []benchCase{build}, schedule{rounds: 3}, func(*Record) error { return nil })
	if err != nil || runs != 6 {
		t.Errorf("%d runs, want 3 that are weighed and 3 that are timed, %v", runs, err)
	}
}

// The model of a product is what its layout reads.
func TestLayoutBytes(t *testing.T) {
	const n, k = 3000, 2
	l := testLab(t)
	last := int64(math.MaxInt64)
	for _, layout := range spmmLayouts("curve") {
		a, err := graphIn(t.Context(), l, "curve", n, layout)
		if err != nil {
			t.Fatal(err)
		}
		got := layoutBytes(a, k)
		if want := spmmBytes(n, int64(a.NNZ()), k); layout == sparse.Plain && got != want {
			t.Errorf("%v: %d bytes, want %d", layout, got, want)
		}
		if got >= last {
			t.Errorf("%v: %d bytes, no fewer than the layout before it", layout, got)
		}
		last = got
	}
}

// What run -out writes, compare reads.
func TestBenchmarkFormat(t *testing.T) {
	r := &Record{Suite: "spmm", Case: "k=8/workers=1", Seconds: 0.25, Iterations: 3, Bytes: 1e9, GnnzPerS: finite(2), RoofFraction: finite(0.5), PeakBytes: 77, CPUSeconds: finite(0.5), CPUYardsPerOp: finite(250), CPUYardSeconds: finite(0.002), YardsPerOp: finite(200), YardSeconds: finite(0.00125), LeastYardSeconds: finite(0.001)}
	m := &Machine{CPU: "Some CPU", Level: "generic", Commit: "abc", Cores: 2, Limits: Limits{Read: [2]float64{1e10, 2e10}}}
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := formats.WriteFile(t.Context(), path, func(w io.Writer) error { return writeBenchmarks(w, m, []*Record{r, r}) }); err != nil {
		t.Fatal(err)
	}
	rec, err := readBenchmarks(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.order) != 1 || !strings.HasPrefix(rec.order[0], "Spmm/k=8/workers=1-") {
		t.Fatalf("%q", rec.order)
	}
	for unit, want := range map[string]float64{"sec/op": 0.25, "B/s": 4e9, "Gnnz/s": 2, "%roof": 50, "peak-B": 77, "cpu-sec/op": 0.5, cpuYardsUnit: 250, cpuYardUnit: 0.002, yardsUnit: 200, yardUnit: 0.00125, leastYardUnit: 0.001} {
		if got := rec.cases[rec.order[0]][unit]; len(got) != 2 || math.Abs(got[0]-want) > 1e-6*want {
			t.Errorf("%s: %v, want %g twice", unit, got, want)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cpu: Some CPU", "level: generic", "commit: abc", "read-bandwidth-2: 20 GB/s"} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}

func TestSummarise(t *testing.T) {
	var records []*Record
	for _, s := range []float64{4, 1, 2} {
		records = append(records, &Record{Suite: "a", Case: "x", Seconds: s, NNZ: 8, GnnzPerS: finite(8 / s), NsPerNNZ: finite(s / 8), NsPerPoint: s, RoofFraction: finite(1 / s), PeakBytes: int64(s)})
	}
	records = append(records, &Record{Suite: "a", Case: "y", Seconds: 7})
	all := summarise(records)
	if len(all) != 2 || all[1].Case != "y" || all[1].Rounds != 1 {
		t.Fatalf("%+v", all)
	}
	s := all[0]
	if s.Seconds != 2 || *s.GnnzPerS != 4 || *s.NsPerNNZ != 0.25 || s.NsPerPoint != 2 || *s.RoofFraction != 0.5 || s.PeakBytes != 2 || s.Low != 1.5 || s.High != 3 || s.Rounds != 3 {
		t.Errorf("%+v", s.Record)
	}
	if records[0].Seconds != 4 {
		t.Error("the records changed")
	}
}

// The graph under test is symmetric, in curve order and of the right degree,
// and its neighbours are those of a plain search.
func TestCurveGraph(t *testing.T) {
	const n = 3000
	a, err := curveGraph(n)
	if err != nil {
		t.Fatal(err)
	}
	if !a.IsSymmetric() {
		t.Error("the graph is not symmetric")
	}
	if mean := float64(a.NNZ()) / n; mean < 26 || mean > 33 { // fewer at the border
		t.Errorf("%g neighbours", mean)
	}
	near := 0
	for i := range n {
		ind, _ := a.Row(i, nil)
		for _, j := range ind {
			if d := int(j) - i; -200 < d && d < 200 {
				near++
			}
		}
	}
	if share := float64(near) / float64(a.NNZ()); share < 0.7 {
		t.Errorf("%.2f of the entries are near the diagonal", share)
	}
	b, err := shuffled(a)
	if err != nil || b.NNZ() != a.NNZ() || !b.IsSymmetric() {
		t.Errorf("shuffled: %d entries, %v", b.NNZ(), err)
	}
	for _, v := range []int{0, 1, 5, 1000} {
		if got := deinterleave(interleave(uint32(v))); got != v {
			t.Errorf("%d becomes %d", v, got)
		}
	}
}

func TestLimits(t *testing.T) {
	l := testLab(t)
	workers := l.workers(2)
	array := make([]uint64, 1<<16)
	for name, rate := range map[string]func() (float64, error){
		"read":   func() (float64, error) { return readRate(t.Context(), workers, array) },
		"gather": func() (float64, error) { return gatherRate(t.Context(), workers, array) },
		"madd":   func() (float64, error) { return maddRate(t.Context(), workers) },
	} {
		if got, err := rate(); err != nil || !(got > 1e5) || math.IsInf(got, 0) {
			t.Errorf("%s: %g, %v", name, got, err)
		}
	}
	for _, c := range []struct{ cache, available, want int64 }{
		{0, 1 << 40, 256 << 20}, {300 << 20, 1 << 40, 1200 << 20}, {1 << 40, 1 << 40, 2 << 30}, {300 << 20, 1 << 30, 256 << 20}, {0, 0, 1 << 20},
	} {
		if got := arrayBytes(c.cache, c.available); got != min(c.want, math.MaxInt/8) { // no array is longer
			t.Errorf("array for a cache of %d and memory of %d: %d, want %d", c.cache, c.available, got, c.want)
		}
	}
}

func TestReadLoops(t *testing.T) {
	a := make([]uint64, 3*32+7)
	for i := range a {
		a[i] = 1 << (i % 8 * 8)
	}
	if got, want := sumWords(a), uint64(12*0x0101010101010101); got != want {
		t.Errorf("sum of all words %#x, want %#x", got, want)
	}
	if got := sumLines(a); got != 12 {
		t.Errorf("sum over %#x lines, want 12", got)
	}
}

// A step is measured many times over, with the sums of the one before.
func TestStepsStayFinite(t *testing.T) {
	sub, err := stepSubject(t.Context(), testLab(t), 20_000, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if err := sub.run(t.Context()); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

func TestMachine(t *testing.T) {
	m := describeMachine()
	if m.CPU == "" || m.Cores < 1 || m.Commit == "" || m.Counters == "" || m.Level == "" {
		t.Errorf("%+v", m)
	}
	for load, busy := range map[string]bool{"0.50": false, "1.01": true, "": false} {
		if got := (&Machine{Cores: 2, Load: load}).busy(); got != busy {
			t.Errorf("load %q: %v", load, got)
		}
	}
	for s, want := range map[string]int64{"48K": 48 << 10, "2M": 2 << 20, "17": 17, "": 0, "x": 0} {
		if got := parseSize(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func TestMemory(t *testing.T) {
	debug.FreeOSMemory() // or the runtime hands out what is resident already
	before := resetPeak()
	b := make([]byte, 64<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	if got := peakMemory() - before; got < 48<<20 {
		t.Errorf("64 MiB raised the peak by %d", got)
	}
	if b[0] != 1 {
		t.Error("unreachable")
	}
}

func TestMeter(t *testing.T) {
	var b bytes.Buffer
	clock := time.Unix(0, 0)
	m := &meter{w: &b, verb: "run", now: func() time.Time { return clock }, began: clock}
	m.show("a", 0)
	clock = clock.Add(time.Second)
	m.show("b", 0.1) // too soon
	clock = clock.Add(9 * time.Second)
	m.show("c", 0.25)
	m.clear()
	if got, want := b.String(), "run:   0% a, 0 s\nrun:  25% c, 10 s, 30 s left\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Reset()
	m.terminal, m.columns = true, 20
	m.show("a name that is longer than the line", 0.5)
	m.show("x", 0.5)
	m.clear()
	if s := b.String(); strings.Contains(s, "\n") || strings.Count(s, "\r") != 4 {
		t.Errorf("%q", s)
	}
	for part := range strings.SplitSeq(b.String(), "\r") {
		if len(part) >= m.columns {
			t.Errorf("%q does not fit into a line of %d", part, m.columns)
		}
	}
}
