package modes

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/published"
)

// publishedQueries is how many queries are asked where each is an iteration of
// its own.
const publishedQueries = 100

// anchorRows is the number of public rows of the paper.
const anchorRows = 1000

const publishedProtects = "Nothing: the query's label enters every step after the noise, and the noise follows from a constant that is no bound. For comparison only."

// Authors repeats the authors' program at an epsilon of its own meaning.
func Authors() evaluate.Mode {
	m := publishedMode("authors", "authors' program", published.Variant{Source: published.Program, Noise: published.ProgramNoise})
	m.Uses |= evaluate.UsesEpsilon
	m.Defaults.Epsilon, m.Defaults.Delta = 0.1, 1e-5
	return m
}

// publishedModes returns the lines of the table that takes the published method
// apart.
func publishedModes() []evaluate.Mode {
	program := published.Variant{Source: published.Program}
	with := func(change func(*published.Variant)) published.Variant {
		v := program
		change(&v)
		return v
	}
	return []evaluate.Mode{
		publishedMode("published-authors", "non-private, authors' L_Y", program),
		publishedMode("published-text", "non-private, paper's L_Y", published.Variant{Source: published.Text}),
		publishedMode("published-program", "authors' program at its epsilon 0.01", with(func(v *published.Variant) { v.Noise, v.Epsilon = published.ProgramNoise, 0.01 })),
		publishedMode("published-noise-0.01", "noise as in the text, epsilon 0.01, authors' L_Y", with(func(v *published.Variant) { v.Noise, v.Epsilon = published.TextNoise, 0.01 })),
		publishedMode("published-noise-10", "noise as in the text, epsilon 10, authors' L_Y", with(func(v *published.Variant) { v.Noise, v.Epsilon = published.TextNoise, 10 })),
		publishedMode("published-no-label", "query's label dropped, no noise", with(func(v *published.Variant) { v.Label = published.Nothing })),
		publishedMode("published-no-features", "constant kernel: no feature information", with(func(v *published.Variant) { v.ConstantKernel = true })),
		publishedMode("published-random-feature", "random query feature, right label", with(func(v *published.Variant) { v.Feature = published.Other })),
		publishedMode("published-wrong-label", "right feature, wrong label", with(func(v *published.Variant) { v.Label = published.Other })),
	}
}

// publishedMode runs a variant; an epsilon of the task is that of its noise.
func publishedMode(name, title string, v published.Variant) evaluate.Mode {
	return evaluate.Mode{
		Name: name, Title: title, Protects: publishedProtects, Warning: published.Notice,
		SeesQueryLabels: true, Queries: publishedQueries, Uses: paperAxes, Defaults: paperParams(),
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			c, err := comparison(ctx, t)
			if err != nil {
				return nil, err
			}
			variant := v
			if t.Epsilon > 0 {
				variant.Epsilon = t.Epsilon
			}
			out, err := c.Run(ctx, variant)
			if err != nil {
				return nil, err
			}
			metric := evaluate.RecallAt8
			if v.Label == published.Other {
				metric = evaluate.WrongClassAt8
			}
			return &evaluate.Answer{Scored: map[evaluate.Metric]float64{metric: out.Share()}}, nil
		},
	}
}

// paperAxes are the parameters of the paper's iteration.
const paperAxes = evaluate.UsesColumns | evaluate.UsesAlpha | evaluate.UsesSigma | evaluate.UsesSteps

// paperParams are the paper's numbers. For CUB it has sigma 5 and alpha 0.5.
func paperParams() evaluate.Params {
	p := published.PaperSettings(0)
	return evaluate.Params{Dim: p.Columns, Alpha: p.Alpha, Sigma: p.Sigma, Steps: p.Steps}
}

// comparison returns what all variants of a problem, its parameters and a number
// of queries share.
func comparison(ctx context.Context, t *evaluate.Task) (*published.Comparison, error) {
	n, _ := t.Queries.Dims()
	key := fmt.Sprintf("published %d %d %g %g %d", n, t.Dim, t.Alpha, t.Sigma, t.Steps)
	return evaluate.Shared(ctx, t.Problem, key, func() (*published.Comparison, error) {
		rows, _ := t.Public.Dims()
		rows = min(rows, anchorRows)
		_, d := t.Public.Dims()
		public := t.Public.Slice(0, rows, 0, d).(*mat.Dense)
		own, shown := numbers(t.PublicLabels), numbers(t.GalleryLabels)
		if err := checkClasses(t, own, shown); err != nil {
			return nil, err
		}
		data := published.Data{
			Public:  published.Set{Features: public.RawMatrix(), Labels: own.of(t.PublicLabels[:rows])},
			Gallery: published.Set{Features: t.Gallery.RawMatrix(), Labels: shown.of(t.GalleryLabels)},
			Queries: published.Set{Features: t.Queries.RawMatrix(), Labels: shown.of(t.QueryLabels)},
			Classes: max(len(own), len(shown)),
		}
		settings := published.PaperSettings(t.Seed)
		settings.Columns, settings.Alpha, settings.Sigma, settings.Steps = t.Dim, t.Alpha, t.Sigma, t.Steps
		settings.Workers = t.Workers
		return published.New(ctx, data, settings)
	})
}

// checkClasses returns an UnavailableError where the label of a query has no number, or
// where labels tell nothing apart.
func checkClasses(t *evaluate.Task, own, shown numbering) error {
	if max(len(own), len(shown)) < 2 {
		return &evaluate.UnavailableError{Reason: "the rows have fewer than two classes"}
	}
	if slices.Contains(shown.of(t.QueryLabels), -1) {
		return &evaluate.UnavailableError{Reason: "the gallery has no row of the class of a query"}
	}
	return nil
}

// numbering counts classes from 0, as the authors do for public and gallery rows
// each.
type numbering []int32

func numbers(labels []int32) numbering {
	classes := slices.Clone(labels)
	slices.Sort(classes)
	return slices.Compact(classes)
}

// of returns the numbers of labels; a class that does not exist is -1.
func (n numbering) of(labels []int32) []int32 {
	out := make([]int32, len(labels))
	for i, l := range labels {
		at, ok := slices.BinarySearch(n, l)
		if !ok {
			at = -1
		}
		out[i] = int32(at)
	}
	return out
}
