package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.03}, []float64{0.03}},
		// Smallest first: 4 x 0.005, 3 x 0.01, 2 x 0.03, 1 x 0.04 raised to the one before.
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.9, 0.4}, []float64{1, 1, 1}},
		{[]float64{0.02, 0.02}, []float64{0.04, 0.04}},
	} {
		got := holm(c.p)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-15 {
				t.Errorf("holm(%v) = %v, want %v", c.p, got, c.want)
				break
			}
		}
	}
}

// A weather is what neighbours do to a machine: it is calm or not by turns, and how
// often and how badly drifts from recording to recording.
type weather struct {
	calm     float64 // the share of measurements that meet a calm moment
	slowdown float64 // of the others
}

// noisy makes up a recording of cases that take 50 yards: a little noise in every
// measurement, the weather in most, and an operation that feels it less than the
// yardstick does, as those that wait for memory.
func noisy(rng *rand.Rand, w weather, runs, cases int, slower float64) *recording {
	const yard, feels = 1e-3, 0.7
	rec := &recording{path: "made up", cases: map[string]map[string][]float64{}}
	turbo := math.Exp(0.01 * rng.NormFloat64()) // the clock differs from recording to recording
	for c := range cases {
		name := fmt.Sprintf("Spmm/k=%d", c)
		values := map[string][]float64{}
		for range runs {
			busy := 1.0
			if rng.Float64() > w.calm {
				busy = w.slowdown * (0.9 + 0.2*rng.Float64())
			}
			seconds := 50 * yard * turbo * slower * math.Pow(busy, feels) * math.Exp(0.015*rng.NormFloat64())
			if rng.Float64() < 0.15 { // disturbed between two calm readings
				seconds *= 1 + 0.3*rng.Float64()
			}
			reading := yard * turbo * busy * math.Exp(0.015*rng.NormFloat64())
			values["sec/op"] = append(values["sec/op"], seconds)
			values[record.YardsUnit] = append(values[record.YardsUnit], seconds/reading)
			values[record.YardUnit] = append(values[record.YardUnit], reading)
			values[record.LeastYardUnit] = append(values[record.LeastYardUnit], 0.98*yard*turbo)
		}
		rec.order = append(rec.order, name)
		rec.cases[name] = values
	}
	return rec
}

// alarms compares made-up recordings of one commit and of a build slowed by a tenth
// with it, and counts how often something is worse, and unclear.
func alarms(t *testing.T, tries, runs, cases int, metric string, before, after weather) (same, slow, unclear int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	count := func(old *recording, slower float64, worse *int) {
		all, err := compareRecordings(old, noisy(rng, after, runs, cases, slower), []string{metric}, 0.05, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(all, func(c *comparison) bool { return c.Worse }) {
			*worse++
		} else if slices.ContainsFunc(all, func(c *comparison) bool { return c.Unclear != "" }) {
			unclear++
		}
	}
	for range tries {
		old := noisy(rng, before, runs, cases, 1)
		count(old, 1, &same)
		count(old, 1.1, &slow)
	}
	return same, slow, unclear
}

// Two recordings of one commit pass in at least 19 of 20 tries, and a build that
// is slower by a tenth is found in at least 19 of 20, although the weather differs
// between the recordings: most of their measurements are slowed by a half, and more
// of one than of the other.
func TestCompareIsRightNineteenTimesOfTwenty(t *testing.T) {
	tries, runs := longtest.Pick(60, 200, 200), 40
	fair, rough := weather{0.6, 1.5}, weather{0.45, 1.8}
	for _, cases := range []int{1, 10} {
		for name, pair := range map[string][2]weather{"fair, rough": {fair, rough}, "rough, fair": {rough, fair}, "still": {{1, 1}, {1, 1}}} {
			same, slow, _ := alarms(t, tries, runs, cases, record.YardsUnit, pair[0], pair[1])
			t.Logf("%s, %d cases: %d alarms about nothing, %d of %d found", name, cases, same, slow, tries)
			if same*20 > tries {
				t.Errorf("%s, %d cases: %d alarms about nothing in %d tries", name, cases, same, tries)
			}
			if slow*20 < tries*19 {
				t.Errorf("%s, %d cases: found %d of %d", name, cases, slow, tries)
			}
		}
	}
	// What yards are there for: plain seconds see the weather.
	if same, _, _ := alarms(t, tries, runs, 1, "sec/op", fair, rough); same*20 < tries {
		t.Errorf("seconds are as good: %d alarms about nothing in %d tries", same, tries)
	}
}

// Without calm moments there is no verdict on a tenth, and it says so.
func TestCompareWithoutCalm(t *testing.T) {
	const tries = 100
	same, slow, unclear := alarms(t, tries, 20, 1, record.YardsUnit, weather{0.2, 1.5}, weather{0.3, 1.8})
	if same+slow > 0 || unclear != 2*tries {
		t.Errorf("%d and %d alarms, %d unclear of %d", same, slow, unclear, 2*tries)
	}
	// Twice the time is more than the machine varied by.
	rng := rand.New(rand.NewPCG(9, 10))
	w := weather{0.2, 1.5}
	all, err := compareRecordings(noisy(rng, w, 20, 1, 1), noisy(rng, w, 20, 1, 2), []string{record.YardsUnit}, 0.05, false, 1)
	if err != nil || !all[0].Worse {
		t.Errorf("%+v, %v", all[0], err)
	}
	// Interleaved recordings have the same weather, and no allowance for it.
	all, err = compareRecordings(noisy(rng, w, 20, 1, 1), noisy(rng, w, 20, 1, 1), []string{record.YardsUnit}, 0.05, true, 1)
	if err != nil || all[0].Drift != 0 {
		t.Errorf("%+v, %v", all[0], err)
	}
}

// Only calm measurements are compared where there are enough, in the order in which
// they were recorded.
func TestCompareTakesTheCalmOnes(t *testing.T) {
	recorded := func(slower float64) *recording {
		values := map[string][]float64{}
		for i := range 2 * MinRuns {
			busy := 1 + 0.5*float64(i%2) // every other measurement
			values[record.YardsUnit] = append(values[record.YardsUnit], slower*(50+0.01*float64(i))*busy)
			values[record.YardUnit] = append(values[record.YardUnit], 1e-3*busy)
			values[record.LeastYardUnit] = append(values[record.LeastYardUnit], 1e-3)
		}
		return fixed(values)
	}
	old, slow := recorded(1), recorded(1.1)
	for range 2 { // a comparison leaves the recordings as they are
		all, err := compareRecordings(old, slow, []string{record.YardsUnit}, 0.05, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		c := all[0]
		if !c.Worse || c.OldN != MinRuns || c.NewN != MinRuns || c.OldCalm != MinRuns || c.Drift != 0 || math.Abs(c.Change-0.1) > 1e-12 || c.Old > 51 {
			t.Errorf("%+v", c)
		}
	}
}

// The change that can be seen is that of a simulation: one of this size is found four
// times of five.
func TestDetectable(t *testing.T) {
	const tries, runs = 2000, 15
	rng := rand.New(rand.NewPCG(1, 2))
	sample := func(shift float64) map[string][]float64 {
		v := make([]float64, runs)
		for i := range v {
			v[i] = 1 + shift + 0.02*rng.NormFloat64()
		}
		return map[string][]float64{"sec/op": v}
	}
	mean := 0.0
	for range tries {
		c := compareMetric("X", "sec/op", sample(0), sample(0))
		c.judge(0.05, 1)
		mean += c.Detectable / tries
	}
	found := 0
	for range tries {
		if compareMetric("X", "sec/op", sample(0), sample(mean)).P < significance {
			found++
		}
	}
	// The U test sees somewhat more than medians do.
	if share := float64(found) / tries; share < 0.75 || share > 0.97 {
		t.Errorf("a change of %.4f is found in %.2f of the tries", mean, share)
	}
}

func fixed(values map[string][]float64) *recording {
	return &recording{path: "made up", order: []string{"X"}, cases: map[string]map[string][]float64{"X": values}}
}

// ramp is MinRuns values a little apart.
func ramp(from float64) (v []float64) {
	for i := range MinRuns {
		v = append(v, from*(1+0.001*float64(i)))
	}
	return v
}

func TestCompareVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, unit    string
		old, new      float64
		threshold     float64
		worse, better bool
	}{
		{"slower", "sec/op", 1, 1.1, 0.05, true, false},
		{"slower within the threshold", "sec/op", 1, 1.04, 0.05, false, false},
		{"faster", "sec/op", 1, 0.9, 0.05, false, true},
		{"a rate that rose", "Gnnz/s", 1, 1.2, 0.05, false, true},
		{"a rate that fell", "Gnnz/s", 1, 0.9, 0.05, true, false},
		{"more memory", "peak-B", 1, 1.2, 0.05, true, false},
		{"equal", "sec/op", 1, 1, 0, false, false},
	} {
		all, err := compareRecordings(fixed(map[string][]float64{c.unit: ramp(c.old)}), fixed(map[string][]float64{c.unit: ramp(c.new)}), []string{c.unit}, c.threshold, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].Worse != c.worse || all[0].Better != c.better {
			t.Errorf("%s: %+v", c.name, all[0])
		}
	}
	// From nothing to something.
	zero := make([]float64, MinRuns)
	all, err := compareRecordings(fixed(map[string][]float64{"peak-B": zero}), fixed(map[string][]float64{"peak-B": ramp(1)}), []string{"peak-B"}, 0.05, false, 1)
	if err != nil || !all[0].Worse {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestCompareRefuses(t *testing.T) {
	few := fixed(map[string][]float64{"sec/op": ramp(1)[:MinRuns-1]})
	enough := fixed(map[string][]float64{"sec/op": ramp(1)})
	if _, err := compareRecordings(few, enough, []string{"sec/op"}, 0.05, false, 1); err == nil || !strings.Contains(err.Error(), "at least 10") {
		t.Error(err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		values := ramp(1)
		values[MinRuns/2] = v
		odd := fixed(map[string][]float64{"sec/op": values})
		for _, pair := range [][2]*recording{{odd, enough}, {enough, odd}} {
			if _, err := compareRecordings(pair[0], pair[1], []string{"sec/op"}, 0.05, false, 1); err == nil || !strings.Contains(err.Error(), "a value of sec/op that is not finite") {
				t.Error(v, err)
			}
		}
	}
	if _, err := compareRecordings(enough, enough, []string{"peak-B"}, 0.05, false, 1); err == nil || !strings.Contains(err.Error(), "in common") {
		t.Error(err)
	}
}

// Metrics that only one side has are named.
func TestCompareNamesWhatIsMissing(t *testing.T) {
	old := fixed(map[string][]float64{"sec/op": ramp(1), "peak-B": ramp(1), record.YardsUnit: ramp(1), "eta": ramp(1)})
	old.order, old.cases["Gone"] = append(old.order, "Gone"), map[string][]float64{"sec/op": ramp(1)}
	now := fixed(map[string][]float64{"sec/op": ramp(1)})
	metrics := []string{record.YardsUnit, "peak-B"}
	if got, want := old.onlyHere(now, metrics), []string{"X " + record.YardsUnit, "X peak-B", "Gone"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := now.onlyHere(old, metrics); got != nil {
		t.Errorf("%q", got)
	}
	// Without yards on either side seconds are compared.
	all, err := compareRecordings(old, now, metrics, 0.05, false, 1)
	if err != nil || len(all) != 1 || all[0].Metric != "sec/op" {
		t.Errorf("%+v, %v", all, err)
	}
}

// Likely worse is what is below the level by itself: not by all, and not above it.
func TestLikelyByItself(t *testing.T) {
	for _, c := range []struct {
		p, pHolm, change float64
		worse, likely    bool
	}{
		{.01, .04, .2, true, false}, {.049, .06, .2, false, true}, {.051, .06, .2, false, false},
		{.01, .06, .04, false, false}, {.01, .06, -.2, false, false},
	} {
		got := &comparison{P: c.p, PHolm: c.pHolm, Change: c.change}
		if got.judge(.05, 1); got.Worse != c.worse || got.Likely != c.likely {
			t.Errorf("p %g, %g of all, worse by %g: %+v", c.p, c.pHolm, c.change, got)
		}
	}
}

// Each look at recordings that grow has its share of the chance of an alarm.
func TestLooksShareTheAlarms(t *testing.T) {
	shifted := func(by float64) *recording {
		v := make([]float64, MinRuns)
		for i := range v {
			v[i] = 100 + 2*float64(i) + by
		}
		return fixed(map[string][]float64{"sec/op": v})
	}
	compare := func(looks int) *comparison {
		all, err := compareRecordings(shifted(0), shifted(7.5), []string{"sec/op"}, 0.05, true, looks)
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	one, three := compare(1), compare(3)
	if !one.Worse || one.Likely || three.Worse || !three.Likely || math.Abs(three.PHolm-3*one.PHolm) > 1e-12 {
		t.Errorf("one look %+v, three %+v", one, three)
	}
	if three.Detectable <= one.Detectable || three.most <= one.most || one.most <= one.Change {
		t.Errorf("one look sees %g, three %g", one.Detectable, three.Detectable)
	}
}

// Processor time is compared where the time is unclear, and left out where it is clear.
func TestProcessorTime(t *testing.T) {
	jumpy := make([]float64, MinRuns) // a program that waits for others
	for i := range jumpy {
		jumpy[i] = 50 * float64(1+i%4)
	}
	beside := func(times []float64, cpu float64) *recording {
		reading := make([]float64, MinRuns)
		for i := range reading {
			reading[i] = 1e-3
		}
		return fixed(map[string][]float64{record.YardsUnit: times, record.CPUYardsUnit: ramp(cpu), record.CPUYardUnit: reading})
	}
	metrics := []string{record.YardsUnit, record.CPUYardsUnit, "peak-B"}
	for _, c := range []struct {
		name        string
		old, now    *recording
		interleaved bool
		want        []string // metric and verdict
	}{
		{"both clear", beside(ramp(50), 50), beside(ramp(50), 50), false, []string{"yards/op "}},
		{"more work in as much time", beside(ramp(50), 50), beside(ramp(50), 80), false, []string{"yards/op "}},
		{"more work in less time", beside(ramp(50), 50), beside(ramp(30), 80), false, []string{"yards/op better"}},
		{"slower", beside(ramp(50), 50), beside(ramp(80), 80), false, []string{"yards/op worse"}},
		{"a third more behind others", beside(jumpy, 30), beside(jumpy, 40), false, []string{"yards/op unclear", "cpu-yards/op worse"}},
		{"as much behind others", beside(jumpy, 30), beside(jumpy, 30), false, []string{"yards/op unclear", "cpu-yards/op "}},
	} {
		all, err := compareRecordings(c.old, c.now, metrics, 0.05, c.interleaved, 1)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range withoutSettled(all) {
			got = append(got, c.Metric+" "+verdictOf(c))
		}
		if len(all) != 2 || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q of %d, want %q", c.name, got, len(all), c.want)
		}
	}
	// Asked for by itself it is a metric as any other.
	all, err := compareRecordings(beside(jumpy, 30), beside(jumpy, 40), []string{record.CPUYardsUnit}, 0.05, false, 1)
	if err != nil || len(withoutSettled(all)) != 1 || !all[0].Worse {
		t.Errorf("%+v, %v", all, err)
	}
	// Processors that were slower in one recording are allowed for.
	slow := beside(jumpy, 40)
	for i := range slow.cases["X"][record.CPUYardUnit] {
		slow.cases["X"][record.CPUYardUnit][i] = 1.5e-3
	}
	if all, err = compareRecordings(beside(jumpy, 30), slow, metrics, 0.05, false, 1); err != nil || verdictOf(all[1]) != "unclear" || all[1].Drift < 0.49 {
		t.Errorf("%+v, %v", all[1], err)
	}
	// A revision from before there was cpu-yards/op has seconds, which its neighbour in time has too.
	seconds := fixed(map[string][]float64{record.YardsUnit: jumpy, record.CPUUnit: ramp(3)})
	present := beside(jumpy, 40)
	present.cases["X"][record.CPUUnit] = ramp(4)
	for _, interleaved := range []bool{true, false} {
		all, err := compareRecordings(seconds, present, metrics, 0.05, interleaved, 1)
		if err != nil || len(all) != map[bool]int{true: 2, false: 1}[interleaved] || interleaved && !all[1].Worse {
			t.Errorf("interleaved %v: %+v, %v", interleaved, all, err)
		}
	}
	if names := present.onlyHere(seconds, metrics); names != nil {
		t.Errorf("%q: an earlier revision is not a difference", names)
	}
}

// Readings that are not numbers, or do not change, do no harm.
func TestReadingsThatAreNone(t *testing.T) {
	for _, reading := range []float64{math.NaN(), math.Inf(1), 0, -1} {
		readings := make([]float64, MinRuns)
		for i := range readings {
			readings[i] = reading
		}
		rec := func() *recording {
			return fixed(map[string][]float64{record.YardsUnit: ramp(50), record.YardUnit: readings, record.LeastYardUnit: readings, record.CPUYardsUnit: ramp(50), record.CPUYardUnit: readings})
		}
		all, err := compareRecordings(rec(), rec(), []string{record.YardsUnit, record.CPUYardsUnit}, 0.05, false, 1)
		if err != nil || len(all) != 2 || all[0].Worse || all[1].Worse || all[1].OldN != MinRuns {
			t.Errorf("readings of %g: %+v, %v", reading, all, err)
		}
	}
}

// verdictOf says in a word what was found of a metric.
func verdictOf(c *comparison) string {
	switch {
	case c.Worse:
		return "worse"
	case c.Likely:
		return "likely"
	case c.Better:
		return "better"
	case c.Unclear != "":
		return "unclear"
	}
	return ""
}
