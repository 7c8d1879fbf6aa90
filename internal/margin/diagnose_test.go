package margin

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Where nothing is promised the report says which condition fails.
func TestReasons(t *testing.T) {
	linear := Interpolation{Lipschitz: 1}
	line := func(at ...float64) blas32.General {
		return matrix(len(at), 1, func(i, _ int) float64 { return at[i] })
	}
	moved := line(0, .1, .2, 1, 1.1, 1.2)
	for _, c := range []struct {
		name            string
		e               Embedding
		nothing, direct Reason
	}{
		{"equal rows of two classes", Embedding{Rows: line(0, 1, 1, 2), Labels: []int32{0, 0, 1, 1}, Interpolation: linear}, TouchingClasses, TouchingClasses},
		{"single rows", Embedding{Rows: line(0, 1, 2), Labels: []int32{4, 5, 6}, Interpolation: linear}, SingleRows, SingleRows},
		{"places that were moved", Embedding{Rows: moved, Places: line(1, 1.1, 1.2, 0, .1, .2), Images: moved, Labels: []int32{0, 0, 0, 1, 1, 1}, Interpolation: linear}, MovedPlaces, MovedPlaces},
		{"wide classes", Embedding{Rows: line(0, 2, 3, 5), Labels: []int32{0, 0, 1, 1}, Interpolation: linear}, WideBalls, WideBallsDirect},
		{"few rows", Embedding{Rows: line(0, .1, 30, 30.1), Labels: []int32{0, 0, 1, 1}, Interpolation: linear}, FewRows, ""},
		{"equal rows in different places", Embedding{Rows: line(0, 0, 3, 4), Places: line(0, 1, 3, 4), Labels: []int32{0, 0, 1, 1}, Interpolation: Interpolation{Smoothest: true}}, NoConstant, NoConstant},
		{"neighbours that mix", Embedding{Rows: line(0, 1, 2, 3), Places: line(0, 0, 9, 9), Labels: []int32{0, 0, 1, 1}, Interpolation: Interpolation{Neighbours: 1}}, NoConstant, NeighboursMix},
		{"neighbours without a class", Embedding{Rows: line(0, .1, 30, 30.1, .05, 30.05), Places: line(0, 0, 9, 9, 5, 5), Labels: []int32{0, 0, 1, 1, -1, -1}, Interpolation: Interpolation{Neighbours: 1}}, NoConstant, NeighboursMix},
		{"an image at zero", Embedding{Rows: line(-1, -2, 1, 2), Places: line(-1, -1, 1, 1), Labels: []int32{0, 0, 1, 1}, Interpolation: Interpolation{Lipschitz: 1, Unit: true}}, WideBalls, WideBallsDirect},
	} {
		if c.e.Places.Rows == 0 {
			c.e.Places = c.e.Rows
		}
		r, err := Diagnose(t.Context(), &c.e, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Nothing != c.nothing || r.NothingDirect != c.direct {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, r.Nothing, r.NothingDirect, c.nothing, c.direct)
		}
		if r.Nothing != "" && (r.Theorem != 0 || !strings.Contains(r.Sentence(), string(r.Nothing))) || strings.Contains(r.Sentence(), "%!") {
			t.Errorf("%s: %g: %s", c.name, r.Theorem, r.Sentence())
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			Gamma   float64
			Nothing Reason `json:"theorem_nothing"`
			Classes []struct {
				Direct *struct{ Accuracy, Eta float64 }
			}
		}
		if err := json.Unmarshal(text, &back); err != nil || back.Nothing != r.Nothing || back.Gamma != r.Gamma || len(back.Classes) != len(r.Classes) {
			t.Errorf("%s: %v: %s", c.name, err, text)
		}
		if (back.Classes[0].Direct != nil) != (r.Classes[0].Direct.Accuracy > 0) {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

// Both arguments promise something: the sentence has both figures.
func TestSentence(t *testing.T) {
	r := &Report{Theorem: .25, Direct: .875, Confidence: .95}
	if want := "By the theorem the nearest place is right for 0.250 of new rows at least, with a confidence of 95 %. The direct argument gives 0.875."; r.Sentence() != want {
		t.Errorf("%q, want %q", r.Sentence(), want)
	}
	r = &Report{Nothing: TouchingClasses, NothingDirect: TouchingClasses}
	if want := "The theorem says nothing here: " + string(TouchingClasses) + ". Neither does the direct argument."; r.Sentence() != want {
		t.Errorf("%q, want %q", r.Sentence(), want)
	}
	r = &Report{Nothing: WideBalls, Direct: .875, Confidence: .95}
	if want := "The theorem says nothing here: " + string(WideBalls) + ". The direct argument gives 0.875, with a confidence of 95 %."; r.Sentence() != want {
		t.Errorf("%q, want %q", r.Sentence(), want)
	}
}

func TestRefuses(t *testing.T) {
	good := func() *Embedding { return scene(1, 40, 3) }
	for name, c := range map[string]struct {
		change   func(e *Embedding)
		settings *Settings
		want     error
	}{
		"one class":              {change: func(e *Embedding) { e.Labels = make([]int32, 40) }, want: ErrClasses},
		"no labels":              {change: func(e *Embedding) { e.Labels = []int32{} }, want: points.ErrShape},
		"labels of none":         {change: func(e *Embedding) { clear(e.Labels); e.Labels[3] = -1; e.Labels[4] = -1 }, want: ErrClasses},
		"fewer places":           {change: func(e *Embedding) { e.Places.Rows-- }, want: points.ErrShape},
		"other images":           {change: func(e *Embedding) { e.Images.Cols-- }, want: points.ErrShape},
		"no rows":                {change: func(e *Embedding) { *e = Embedding{} }, want: points.ErrShape},
		"a row of NaN":           {change: func(e *Embedding) { e.Rows.Data[3] = float32(math.NaN()) }, want: points.ErrNonFinite},
		"a place of infinity":    {change: func(e *Embedding) { e.Places.Data[4] = float32(math.Inf(1)) }, want: points.ErrNonFinite},
		"no interpolation":       {change: func(e *Embedding) { e.Interpolation = Interpolation{} }, want: privatemail.ErrSettings},
		"two interpolations":     {change: func(e *Embedding) { e.Smoothest = true }, want: privatemail.ErrSettings},
		"a constant of NaN":      {change: func(e *Embedding) { e.Lipschitz = math.NaN() }, want: privatemail.ErrSettings},
		"negative rounding":      {change: func(e *Embedding) { e.Rounding = -1 }, want: privatemail.ErrSettings},
		"too many neighbours":    {change: func(e *Embedding) { e.Interpolation = Interpolation{Neighbours: 41} }, want: privatemail.ErrSettings},
		"a divided smoothest":    {change: func(e *Embedding) { e.Interpolation = Interpolation{Smoothest: true, Unit: true} }, want: privatemail.ErrSettings},
		"a confidence of 1":      {settings: &Settings{Confidence: 1}, want: privatemail.ErrSettings},
		"a confidence of NaN":    {settings: &Settings{Confidence: math.NaN()}, want: privatemail.ErrSettings},
		"fewer anchors than one": {settings: &Settings{Anchors: -1}, want: privatemail.ErrSettings},
		"pairs of NaN":           {settings: &Settings{Pairs: math.NaN()}, want: privatemail.ErrSettings},
	} {
		e := good()
		if c.change != nil {
			c.change(e)
		}
		if _, err := Diagnose(t.Context(), e, c.settings); !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "margin: ") {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := CheckLabels([]int32{-1, 5, -1, 5, 6}); err != nil {
		t.Error(err)
	}
}

// Without looking at pairs A_delta is a bound, never below what pairs have.
func TestSpreadIsBounded(t *testing.T) {
	for seed := range uint64(20) {
		e := scene(seed, 150, 3)
		exact, err := Diagnose(t.Context(), e, nil)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := Diagnose(t.Context(), e, &Settings{Pairs: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !exact.ExactSpread || bound.ExactSpread {
			t.Fatalf("exact: %v and %v", exact.ExactSpread, bound.ExactSpread)
		}
		for j, s := range bound.Scales {
			if want := exact.Scales[j].Spread; !(s.Spread >= want) || s.Spread > 20*want {
				t.Errorf("seed %d: A_delta is bounded by %g, and is %g", seed, s.Spread, want)
			}
		}
	}
}

// Of large classes some rows are anchors: all from a few seeds, as many as asked for, and their
// figures say how exact they are.
func TestAnchors(t *testing.T) {
	e := scene(2, 300, 3)
	seen := map[uint32]bool{}
	for seed := range uint64(60) {
		d := &diagnosis{Embedding: e, settings: Settings{Anchors: 20, Seed: seed}, classes: classesOf(e.Labels)}
		for _, c := range d.classes {
			a := d.anchorsOf(&c)
			if len(a) != 20 {
				t.Fatalf("%d anchors", len(a))
			}
			for i, row := range a {
				if seen[row] = true; i > 0 && a[i-1] >= row || e.Labels[row] != c.label {
					t.Fatalf("class %d: anchors %v", c.label, a)
				}
			}
		}
	}
	all := 0
	for _, c := range classesOf(e.Labels) {
		all += len(c.rows)
	}
	if len(seen) < all-5 {
		t.Errorf("%d of %d rows have been anchors", len(seen), all)
	}
	r, err := Diagnose(t.Context(), e, &Settings{Anchors: 20})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(math.Log(40) / 80); r.ScalesRows != 40 || math.Abs(r.ScalesError-want) > 1e-12 {
		t.Errorf("radii of %d rows are off by %g, want %g", r.ScalesRows, r.ScalesError, want)
	}
	if r, err = Diagnose(t.Context(), e, nil); err != nil || r.ScalesError != 0 || r.ScalesRows != all {
		t.Errorf("radii of %d rows are off by %g (%v)", r.ScalesRows, r.ScalesError, err)
	}
}

// The same bits for any number of workers, at any level, and progress that ends.
func TestSameBits(t *testing.T) {
	e := scene(4, 700, 3)
	var first *Report
	for _, workers := range []int{1, 2, 5} {
		for _, level := range []simd.Level{simd.Best(), simd.Generic} {
			w := par.New(workers)
			last := map[string][2]int{}
			r, err := Diagnose(t.Context(), e, &Settings{Workers: w, Kernels: simd.At(level), Progress: func(stage string, done, total int) {
				if done < last[stage][0] || done > total {
					t.Errorf("%s: %d of %d after %d", stage, done, total, last[stage][0])
				}
				last[stage] = [2]int{done, total}
			}})
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
			}
			if !reflect.DeepEqual(first, r) {
				t.Fatalf("%d workers at level %v: another report", workers, level)
			}
			if len(last) != 3 && len(last) != 4 {
				t.Errorf("stages %v", last)
			}
			for stage, at := range last {
				if at[0] != at[1] {
					t.Errorf("%s ends at %d of %d", stage, at[0], at[1])
				}
			}
		}
	}
}

// Every stage ends with its context.
func TestCancelled(t *testing.T) {
	for _, f := range []Interpolation{{Lipschitz: 2}, {Smoothest: true}, {Neighbours: 3}} {
		e := scene(4, 600, 2)
		e.Interpolation, e.Images = f, blas32.General{}
		stages := map[string]bool{}
		if _, err := Diagnose(t.Context(), e, &Settings{Progress: func(stage string, _, _ int) { stages[stage] = true }}); err != nil {
			t.Fatal(err)
		}
		for stage := range stages {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Diagnose(ctx, e, &Settings{Progress: func(at string, done, total int) {
				if at == stage && done < total {
					cancel()
				}
			}})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%+v, cancelled in stage %q: %v", f, stage, err)
			}
		}
	}
}

// The Lipschitz constant of a map is its largest singular value.
func TestLipschitz(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, size := range [][2]int{{1, 1}, {3, 3}, {70, 60}, {9, 2}, {2, 7}} {
		a := mat.NewDense(size[0], size[1], nil)
		a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
		var svd mat.SVD
		if !svd.Factorize(a, mat.SVDNone) {
			t.Fatal("no singular values")
		}
		want := svd.Values(nil)[0]
		got, err := lipschitz(t.Context(), new(dense.Core), &supervised.Map{A: a, Dim: size[0]})
		if err != nil || got < want*(1-1e-12) || got > want*(1+1e-6) {
			t.Errorf("%v: %g, want %g (%v)", size, got, want, err)
		}
	}
	for _, c := range []struct {
		m    supervised.Map
		want float64
	}{{supervised.Map{Dim: 2}, 1}, {supervised.Map{Dim: 2, Scale: []float64{-7, 2}}, 7}, {supervised.Map{Dim: 2, A: mat.NewDense(2, 1, nil)}, 0}} {
		if got, err := lipschitz(t.Context(), new(dense.Core), &c.m); err != nil || got != c.want {
			t.Errorf("%+v: %g, want %g (%v)", c.m, got, c.want, err)
		}
	}
}

func TestOfMap(t *testing.T) {
	e, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x, labels := (&laws()[0]).sample(rand.New(rand.NewPCG(1, 1)), 300)
	labels[7] = -1
	fit := func(text string) *supervised.Model {
		t.Helper()
		recipe, err := supervised.ParseRecipe(text)
		if err != nil {
			t.Fatal(err)
		}
		m, err := supervised.Fit(t.Context(), e, x, labels, &supervised.Settings{Recipe: &recipe, Unmeasured: true, OnlyX: true})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	raw := fit("raw")
	r, err := OfMap(t.Context(), e, raw.Map, x, raw.X, labels, nil)
	if err != nil || r.Lipschitz != 1 || r.Off != 0 || r.Floor != 0 || r.Space != "" || r.Rows != 299 || r.Columns != 3 {
		t.Fatalf("raw: %+v, %v", r, err)
	}
	// A product in float32 is off by some rounding, though no step has moved a place.
	scaled := fit("scaled")
	r, err = OfMap(t.Context(), e, scaled.Map, x, scaled.X, labels, nil)
	if err != nil || !(r.Off >= 0x1p-20) || r.Off > 0x1p-10 {
		t.Fatalf("scaled: %+v, %v", r, err)
	}
	m := fit("root,unit-rows,whiten,unit-images,steps=1")
	stages := 0
	r, err = OfMap(t.Context(), e, m.Map, x, m.X, labels, &Settings{Progress: func(string, int, int) { stages++ }})
	if err != nil || r.Space != "root,unit-rows" || !(r.Floor > 0) || !(r.Off > .01) || stages == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	// The floor is that of all labelled rows, before their division.
	linear := *m.Map
	linear.UnitImages = false
	z, err := linear.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Inf(1)
	for i := range z.Rows {
		if labels[i] >= 0 {
			want = min(want, distance(rowOf(z, uint32(i)), make([]float32, z.Cols)))
		}
	}
	if math.Abs(r.Floor-want) > 1e-5*want {
		t.Errorf("floor %g, want %g", r.Floor, want)
	}

	two := labels[:299:299]
	if _, err := OfMap(t.Context(), e, m.Map, x, m.X, two, nil); !errors.Is(err, points.ErrShape) {
		t.Errorf("labels that are missing: %v", err)
	}
	if _, err := OfMap(t.Context(), e, nil, x, m.X, labels, nil); !errors.Is(err, points.ErrShape) {
		t.Errorf("no map: %v", err)
	}
	if _, err := OfMap(t.Context(), e, &supervised.Map{Dim: 2}, x, m.X, labels, nil); !errors.Is(err, points.ErrShape) {
		t.Errorf("another map: %v", err)
	}
	if _, err := OfMap(t.Context(), e, m.Map, x, m.X, make([]int32, 300), nil); !errors.Is(err, ErrClasses) {
		t.Errorf("one class: %v", err)
	}
	small, err := privatemail.New(privatemail.WithWorkers(1), privatemail.WithMaxMemory(10_000))
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if _, err := OfMap(t.Context(), small, m.Map, x, m.X, labels, nil); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("within 10 kB: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OfMap(ctx, e, m.Map, x, m.X, labels, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
