package baseline

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/margin"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// SMLQ is the paper's iteration without noise: all rows in one run from a random
// start, with the labels of public and gallery rows and none of the queries'.
func SMLQ() evaluate.Mode {
	return evaluate.Mode{
		Name: "smlq", Title: "paper's iteration, no noise",
		Protects: "Nothing: the server iterates on the queries' features.",
		Uses:     evaluate.UsesColumns | evaluate.UsesAlpha | evaluate.UsesSigma | evaluate.UsesSteps,
		Defaults: evaluate.Params{Dim: 2, Alpha: 0.6, Sigma: 6, Steps: 5},
		Run:      runSMLQ,
	}
}

func runSMLQ(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
	all := stack(t.Gallery, t.Queries, t.Public)
	n, _ := t.Gallery.Dims()
	q, _ := t.Queries.Dims()
	labels := append([]int32{}, t.GalleryLabels...)
	for range q {
		labels = append(labels, kernel.Unlabelled)
	}
	labels = append(labels, t.PublicLabels...)
	// A fixed calibration: the rows of a sweep do not depend on the machine, nor on what
	// else it does while its speed is measured.
	engine, err := privatemail.New(privatemail.WithLent(t.Workers), privatemail.WithCalibration(kernel.Calibration{}))
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	embedding, err := engine.Embed(ctx, points.Single(all.RawMatrix()), labels, &privatemail.Settings{
		Graph: privatemail.Graph{Bandwidth: kernel.Sigma(t.Sigma)}, Coefficient: t.Alpha, Table: kernel.GaussianTable(kernel.Sigma(t.Sigma)),
		AllowUnlabelled: true, Dim: t.Dim, Steps: t.Steps, SigmaQ: 1, Seed: t.Seed,
	})
	if err != nil {
		return nil, fmt.Errorf("baseline: smlq: %w", err)
	}
	r, err := t.Search(ctx, rows(embedding.Points, n, n+q), rows(embedding.Points, 0, n))
	if err != nil {
		return nil, err
	}
	exact, err := t.Search(ctx, t.Queries, t.Gallery)
	if err != nil {
		return nil, err
	}
	facts, note, err := smoothest(ctx, t, rows(embedding.Points, 0, n))
	if err != nil {
		return nil, err
	}
	first, last := embedding.Trace[0], embedding.Trace[len(embedding.Trace)-1]
	facts["objective before the first step"], facts["objective before the last step"] = first.Objective, last.Objective
	return &evaluate.Answer{Ranking: r, Exact: exact, Facts: facts, Note: note}, nil
}

// smoothestRows is how many rows of the gallery, which are in the order of a shuffle, are diagnosed: all
// pairs of them are compared.
const smoothestRows = 3000

// smoothest returns the facts of places that come without a map: what the smoothest function through
// the first of them would promise. No other one has a lower Lipschitz constant.
func smoothest(ctx context.Context, t *evaluate.Task, places *mat.Dense) (facts map[string]float64, note string, err error) {
	n, d := t.Gallery.Dims()
	_, k := places.Dims()
	n = min(n, smoothestRows)
	if margin.CheckLabels(t.GalleryLabels[:n]) != nil {
		return map[string]float64{}, "", nil
	}
	r, err := margin.Diagnose(ctx, &margin.Embedding{
		Rows:          points.Single(t.Gallery.Slice(0, n, 0, d).(*mat.Dense).RawMatrix()),
		Places:        points.Single(places.Slice(0, n, 0, k).(*mat.Dense).RawMatrix()),
		Labels:        t.GalleryLabels[:n],
		Interpolation: margin.Interpolation{Smoothest: true},
	}, &margin.Settings{Workers: t.Workers, Seed: t.Seed})
	if err != nil {
		return nil, "", fmt.Errorf("baseline: smlq: %w", err)
	}
	return r.Facts(), r.Sentence(), nil
}
