package suites

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// Every method of simd.Kernels that computes something is a loop of the suite. One that is
// new needs a line in levelLoops.
func TestLevelsHaveEveryLoop(t *testing.T) {
	var have, want []string
	for _, l := range levelLoops() {
		method, size, ok := strings.Cut(l.name, "/")
		if !ok || !strings.Contains(size, "=") {
			t.Errorf("%s does not say what sizes it has", l.name)
		}
		have = append(have, method)
	}
	slices.Sort(have)
	kernels := reflect.TypeFor[*simd.Kernels]()
	for i := range kernels.NumMethod() {
		if name := kernels.Method(i).Name; !slices.Contains([]string{"Level", "Choices", "String", "SameLoop"}, name) {
			want = append(want, name)
		}
	}
	if have = slices.Compact(have); !slices.Equal(have, want) {
		t.Errorf("loops %v, want %v", have, want)
	}
}

// Widths whose loops differ between choices are there.
func TestLevelsHaveTheWidths(t *testing.T) {
	var names []string
	for _, l := range levelLoops() {
		names = append(names, l.name)
	}
	for _, name := range strings.Fields("MulSparse/k=1 MulSparse/k=32 MulSparseOffsets/k=2 MulSparseOffsets16/k=1 FinishStep/k=1 FinishStep/k=2 FinishStep/k=8") {
		if !slices.Contains(names, name) {
			t.Errorf("no loop %s", name)
		}
	}
}

// contestOf returns a contest of three settings, the first chosen, with the given times of
// each round in nanoseconds.
func contestOf(turns [3][]float64) *levelContest {
	c := &levelContest{settings: []*simd.Kernels{simd.At(simd.Best()), simd.At(simd.Generic), simd.At(simd.AVX2)}, times: 1, turns: turns[:]}
	for _, t := range turns {
		c.least = append(c.least, time.Duration(slices.Min(t)))
	}
	return c
}

// The chosen setting is slow where both its least time and most of its rounds are.
func TestLevelRatio(t *testing.T) {
	for name, c := range map[string]struct {
		turns [3][]float64
		want  float64
	}{
		"the best":                       {[3][]float64{{100, 100, 100}, {900, 900, 900}, {120, 120, 120}}, 1},
		"slow":                           {[3][]float64{{200, 200, 200}, {900, 900, 900}, {100, 100, 100}}, 2},
		"slower than two":                {[3][]float64{{300, 300, 300}, {100, 100, 100}, {150, 150, 150}}, 3},
		"the other had a calm moment":    {[3][]float64{{100, 100, 100}, {900, 900, 900}, {100, 50, 100}}, 1},
		"the chosen one was disturbed":   {[3][]float64{{100, 300, 300}, {900, 900, 900}, {100, 100, 100}}, 1},
		"slow, though it was calm once":  {[3][]float64{{150, 300, 300}, {900, 900, 900}, {100, 100, 100}}, 1.5},
		"slow, and the other calm twice": {[3][]float64{{200, 200, 200, 200, 200}, {900, 900, 900, 900, 900}, {100, 50, 50, 100, 100}}, 2},
	} {
		choice := contestOf(c.turns).choice()
		if math.Abs(choice.Ratio-c.want) > 1e-12 {
			t.Errorf("%s: ratio %g, want %g", name, choice.Ratio, c.want)
		}
		if simd.Best() != simd.Generic && (choice.Best == choice.Pick) != (c.want == 1) {
			t.Errorf("%s: best %s", name, choice.Best)
		}
	}
}

// A contest whose context ends stops.
func TestLevelContestIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := contestOf([3][]float64{{1}, {1}, {1}})
	calls := 0
	c.loop.run = func(*simd.Kernels) { calls++; cancel() }
	c.rounds = 5
	if err := c.run(ctx); !errors.Is(err, context.Canceled) || calls > len(c.settings) {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// All settings get their turn in each round, and the loop runs as often as is said.
func TestLevelRounds(t *testing.T) {
	settings := simd.All()
	calls := map[*simd.Kernels]int{}
	c := newLevelContest(loopRun{run: func(s *simd.Kernels) {
		calls[s]++
		for from := time.Now(); time.Since(from) < levelLook; {
		}
	}}, settings, len(settings)-1)
	if c.times != 1 {
		t.Errorf("runs %d times between looks", c.times)
	}
	c.stretch = 0
	clear(calls)
	for round := range 3 {
		c.round()
		for i, s := range settings {
			if calls[s] != round+1 || len(c.turns[i]) != round+1 || c.least[i] <= 0 {
				t.Fatalf("round %d: %v ran %d times, %d turns", round, s, calls[s], len(c.turns[i]))
			}
		}
	}
}

func levelRecords() []*record.Record {
	m := &record.Machine{CPU: "Made-up CPU", Level: "avx512", Choices: "gather=off", ChoicesFrom: "measured"}
	of := func(name string, c *record.Choice) *record.Record {
		return &record.Record{Suite: "levels", Case: "loop=" + name, NNZ: 100, Seconds: 1e-6, Level: "avx512", Machine: m, Settings: c}
	}
	seconds := map[string]float64{"avx512,gather=on": 4e-6, "avx512,gather=off": 3e-6, "avx2": 2e-6, "generic": 9e-6}
	slow := &record.Choice{Pick: "avx512,gather=off", Best: "avx2", Ratio: 1.5, Seconds: seconds}
	return []*record.Record{
		of("Finite/n=1", &record.Choice{Pick: "avx512,gather=off", Best: "avx2", Ratio: 1.15, Seconds: seconds}),
		of("Dots/d=2", slow), of("Dots/d=2", slow),
	}
}

// The run fails with the name of the loop, in both forms of output, once for all rounds.
func TestSlowLoopsFail(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		e := &cli.Env{Stdout: &out, JSON: asJSON}
		records := levelRecords()
		err := showRun(e, records[0].Machine, records)
		if err == nil || strings.Count(err.Error(), "Dots/d=2 takes 1.50 times as long at avx512,gather=off as at avx2") != 1 || strings.Contains(err.Error(), "Finite") {
			t.Errorf("%v", err)
		}
		if (out.Len() == 0) != asJSON {
			t.Errorf("printed %q", out.String())
		}
		if err := showRun(e, records[0].Machine, records[:1]); err != nil {
			t.Error(err)
		}
	}
}

// The table has a column for each setting, lower levels first, and the machine's choices
// above it.
func TestLevelTable(t *testing.T) {
	var out bytes.Buffer
	records := levelRecords()
	if err := showRun(&cli.Env{Stdout: &out}, records[0].Machine, records[:1]); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[1], "by these least times or by the median of the rounds, whichever is less") {
		t.Errorf("%q", lines[1])
	}
	if !strings.Contains(lines[0], "level avx512,gather=off (measured)") {
		t.Errorf("%q", lines[0])
	}
	if got, want := strings.Join(strings.Fields(lines[2]), " "), "loop generic avx2 avx512,gather=off avx512,gather=on chosen best chosen/best"; got != want {
		t.Errorf("head %q, want %q", got, want)
	}
	if got, want := strings.Join(strings.Fields(lines[3]), " "), "Finite/n=1 90 20 30 40 avx512,gather=off avx2 1.15"; got != want {
		t.Errorf("row %q, want %q", got, want)
	}
}

// Times are put down for every setting that there is.
func TestLevelSubject(t *testing.T) {
	l := suitesLab(t)
	loops := levelLoops()
	sub, err := levelSubject(t.Context(), l, loops[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range simd.All() {
		if sub.Settings.Seconds[s.String()] <= 0 {
			t.Errorf("%v took %g s", s, sub.Settings.Seconds[s.String()])
		}
	}
	if sub.Settings.Pick != simd.At(simd.Best()).String() {
		t.Errorf("picked %s", sub.Settings.Pick)
	}
}

// Each loop is timed once, as the chosen setting where that runs it.
func TestDifferentLoops(t *testing.T) {
	a, b, c, d := new(simd.Kernels), new(simd.Kernels), new(simd.Kernels), new(simd.Kernels)
	loop := map[*simd.Kernels]int{a: 1, b: 2, c: 1, d: 3}
	same := func(x, y *simd.Kernels) bool { return loop[x] == loop[y] }
	different, at := differentLoops(c, []*simd.Kernels{a, b, c, d}, same)
	if !slices.Equal(different, []*simd.Kernels{c, b, d}) || !slices.Equal(at, []int{0, 1, 0, 2}) {
		t.Errorf("%p, %v", different, at)
	}
	none := func(x, y *simd.Kernels) bool { return false }
	if different, at := differentLoops(b, []*simd.Kernels{a, b}, none); !slices.Equal(different, []*simd.Kernels{b, a}) || !slices.Equal(at, []int{1, 0}) {
		t.Errorf("%p, %v", different, at)
	}
}

// Settings that run the same loop have the same time, and none of them is better than the
// chosen one.
func TestSameLoopsHaveOneTime(t *testing.T) {
	chosen := simd.At(simd.Best())
	for _, loop := range levelLoops() {
		method, _, _ := strings.Cut(loop.name, "/")
		if method != "Finite" && method != "Ranks" && method != "ByteDotsAbove" {
			continue
		}
		sub, err := levelSubject(t.Context(), suitesLab(t), loop)
		if err != nil {
			t.Fatal(err)
		}
		own := sub.Settings.Seconds[chosen.String()]
		if sub.Settings.Pick != chosen.String() || own <= 0 || len(sub.Settings.Seconds) != len(simd.All()) {
			t.Errorf("%s: %+v", loop.name, sub.Settings)
		}
		for _, s := range simd.All() {
			if s.SameLoop(chosen, method) && (sub.Settings.Seconds[s.String()] != own || s != chosen && sub.Settings.Best == s.String()) {
				t.Errorf("%s: %+v", loop.name, sub.Settings)
			}
		}
	}
}
