package published

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// generated returns unit rows around one centre a class.
func generated(t testing.TB, public, gallery, queries, classes int, seed uint64) Data {
	t.Helper()
	const d = 16
	x, y, err := synth.Classes(public+gallery+queries, d, classes, seed)
	if err != nil {
		t.Fatal(err)
	}
	cut := func(lo, hi int) Set {
		s := Set{Features: newBlock(hi-lo, d), Labels: y[lo:hi]}
		for i := range s.Features.Data {
			s.Features.Data[i] = float64(x.Data[lo*d+i])
		}
		return s
	}
	return Data{Public: cut(0, public), Gallery: cut(public, public+gallery), Queries: cut(public+gallery, len(y)), Classes: classes}
}

const testSeeds = 5

// comparisons returns one for each seed, with the given number of steps.
func comparisons(t *testing.T, public, classes, queries, steps int) (all []*Comparison) {
	t.Helper()
	workers := par.New(0)
	t.Cleanup(workers.Close)
	for seed := uint64(1); seed <= testSeeds; seed++ {
		settings := PaperSettings(seed)
		settings.Steps, settings.Workers = steps, workers
		c, err := New(t.Context(), generated(t, public, 4*public, queries, classes, seed), settings)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// mean runs a variant over all seeds.
func mean(t *testing.T, all []*Comparison, v Variant) (share float64) {
	t.Helper()
	for _, c := range all {
		out, err := c.Run(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		share += out.Share() / testSeeds
	}
	return share
}

// The text, without noise and with its own noise, is at chance for every T.
func TestTextIsAtChance(t *testing.T) {
	const classes = 98
	chance := 8.0 / classes
	for _, steps := range []int{1, 3, 5, 7} {
		all := comparisons(t, 120, classes, 60, steps)
		for _, v := range []Variant{{Source: Text}, {Source: Text, Noise: TextNoise, Epsilon: 0.1}} {
			got := mean(t, all, v)
			t.Logf("T = %d, noise %d: %.3f", steps, v.Noise, got)
			if math.Abs(got-chance) > 0.05 {
				t.Errorf("T = %d, noise %d: %.3f, chance is %.3f", steps, v.Noise, got, chance)
			}
		}
	}
}

// The program finds the query's class, by its label.
func TestProgramFollowsTheLabel(t *testing.T) {
	longtest.Only(t)
	all := comparisons(t, 250, 98, 40, 5)
	for _, c := range []struct {
		name   string
		v      Variant
		lo, hi float64
	}{
		{"as it is", Variant{Source: Program}, 0.70, 0.92},
		{"with its noise at eps 0.01", Variant{Source: Program, Noise: ProgramNoise, Epsilon: 0.01}, 0.65, 0.95},
		// Flat in epsilon over three decades: a way around the noise.
		{"with noise at eps 0.01", Variant{Source: Program, Noise: TextNoise, Epsilon: 0.01}, 0.65, 0.95},
		{"with noise at eps 10", Variant{Source: Program, Noise: TextNoise, Epsilon: 10}, 0.65, 0.95},
		{"without features", Variant{Source: Program, ConstantKernel: true}, 0.65, 0.95},
		{"with any feature", Variant{Source: Program, Feature: Other}, 0.65, 0.95},
		{"with a wrong label, its class", Variant{Source: Program, Label: Other}, 0.60, 1},
		{"without the label", Variant{Source: Program, Label: Nothing}, 0, 0.08},
	} {
		got := mean(t, all, c.v)
		t.Logf("%s: %.3f", c.name, got)
		if got < c.lo || got > c.hi {
			t.Errorf("%s: %.3f, want %.2f to %.2f", c.name, got, c.lo, c.hi)
		}
	}
}

// For few classes the label term is too weak for the program's effect.
func TestProgramNeedsManyClasses(t *testing.T) {
	for _, classes := range []int{10, 26} {
		chance := 1 - math.Pow(1-1/float64(classes), 8) // eight answers at random
		got := mean(t, comparisons(t, 120, classes, 100, 5), Variant{Source: Program})
		t.Logf("%d classes: %.3f, chance %.3f", classes, got, chance)
		if got > chance+0.08 {
			t.Errorf("%d classes: %.3f, chance is %.3f", classes, got, chance)
		}
	}
}

// The step on the client's graph is the one the engine takes.
func TestStepIsTheEngines(t *testing.T) {
	data := generated(t, 40, 10, 1, 7, 3)
	settings := PaperSettings(1)
	for _, source := range []Source{Text, Program} {
		weight := settings.bandwidth(source).Weight
		g := newGraph(newCore(data.Public.Features, weight), data.Public.Features, row(data.Queries.Features, 0), weight)
		y := append([]int32{data.Queries.Labels[0]}, data.Public.Labels...)
		labels, err := settings.labels(source, y)
		if err != nil {
			t.Fatal(err)
		}
		all := newBlock(41, 16)
		copy(all.Data, slices.Concat(data.Queries.Features.Data, data.Public.Features.Data))
		op, err := kernel.NewDense(t.Context(), all, settings.bandwidth(source), nil)
		if err != nil {
			t.Fatal(err)
		}
		x, want := newBlock(41, 3), newBlock(41, 3)
		for i := range x.Data {
			x.Data[i] = math.Sin(float64(i))
		}
		step := kernel.Step{Labels: labels, Coefficient: 0.6}
		var stats kernel.Stats
		if err := stats.Gather64(x, labels); err != nil {
			t.Fatal(err)
		}
		if err := op.Step64(t.Context(), want, x, &step, &stats); err != nil {
			t.Fatal(err)
		}
		if err := g.step(x, newBlock(41, 3), newBlock(41, 3), labels, 0.6); err != nil {
			t.Fatal(err)
		}
		for i, v := range x.Data {
			if math.Abs(v-want.Data[i]) > 1e-12 {
				t.Fatalf("source %d, entry %d: %v, want %v", source, i, v, want.Data[i])
			}
		}
	}
}

func TestSameForAnyNumberOfWorkers(t *testing.T) {
	data := generated(t, 100, 200, 20, 40, 1)
	variants := []Variant{
		{Source: Text},
		{Source: Program, ConstantKernel: true},
		{Source: Program, Feature: Other},
		{Source: Program, Noise: ProgramNoise, Epsilon: 0.01, Label: Other},
		{Source: Program, Noise: TextNoise, Epsilon: 1, Label: Nothing},
	}
	var first []Outcome
	for _, count := range []int{1, 2, 5} {
		workers := par.New(count)
		defer workers.Close()
		settings := PaperSettings(1)
		settings.Workers = workers
		c, err := New(t.Context(), data, settings)
		if err != nil {
			t.Fatal(err)
		}
		var outcomes []Outcome
		for _, v := range variants {
			out, err := c.Run(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, out)
		}
		if first == nil {
			first = outcomes
		} else if !slices.Equal(outcomes, first) {
			t.Errorf("%d workers: %v, want %v", count, outcomes, first)
		}
	}
}

func TestRefuses(t *testing.T) {
	good := generated(t, 20, 30, 5, 4, 1)
	for name, change := range map[string]func(*Data, *Settings){
		"sigma":           func(_ *Data, s *Settings) { s.Sigma = 0 },
		"sigma no number": func(_ *Data, s *Settings) { s.Sigma = math.NaN() },
		"alpha":           func(_ *Data, s *Settings) { s.Alpha = math.Inf(1) },
		"columns":         func(_ *Data, s *Settings) { s.Columns = 0 },
		"steps":           func(_ *Data, s *Settings) { s.Steps = -1 },
		"delta":           func(_ *Data, s *Settings) { s.Delta = 1 },
		"matches":         func(_ *Data, s *Settings) { s.Matches = 31 },
		"label":           func(d *Data, _ *Settings) { d.Classes = 2 },
		"labels":          func(d *Data, _ *Settings) { d.Gallery.Labels = d.Gallery.Labels[1:] },
		"no queries":      func(d *Data, _ *Settings) { d.Queries = Set{} },
		"storage":         func(d *Data, _ *Settings) { d.Public.Features.Rows = 1 << 30 },
		"no number":       func(d *Data, _ *Settings) { d.Queries.Features.Data = slices.Repeat([]float64{math.NaN()}, 80) },
		"zero row":        func(d *Data, _ *Settings) { d.Queries.Features.Data = make([]float64, 80) },
	} {
		data, settings := good, PaperSettings(1)
		change(&data, &settings)
		if _, err := New(t.Context(), data, settings); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	c, err := New(t.Context(), good, PaperSettings(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]Variant{
		"source": {Source: 7}, "noise": {Noise: 9}, "no epsilon": {Noise: TextNoise}, "no feature": {Feature: Nothing}, "label": {Label: -1},
	} {
		if _, err := c.Run(t.Context(), v); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Run(ctx, Variant{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCarsSize(t *testing.T) {
	d, err := CarsSize(300, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d.Public.Features.Rows != 1000 || d.Queries.Features.Rows+d.Gallery.Features.Rows != 8041 || d.Classes != 98 {
		t.Errorf("%d public, %d queries, %d gallery, %d classes", d.Public.Features.Rows, d.Queries.Features.Rows, d.Gallery.Features.Rows, d.Classes)
	}
	c, err := New(t.Context(), d, PaperSettings(1))
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.count(t.Context(), func(q int) (int32, []int, error) {
		return d.Queries.Labels[q], nearest(c.data.Gallery.Features, row(c.data.Queries.Features, q), 8), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := out.Share(); s < 0.90 || s > 0.98 {
		t.Errorf("raw features: %.3f, want about 0.94", s)
	}
	for _, queries := range []int{0, 8041} {
		if _, err := CarsSize(queries, 1); !errors.Is(err, kernel.ErrShape) {
			t.Errorf("%d queries: %v", queries, err)
		}
	}
}
