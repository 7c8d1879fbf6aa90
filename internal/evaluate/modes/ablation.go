package modes

import (
	"context"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// ablation returns mode supervised taken apart: what the map does, what the step
// does, what labels do when fewer rows have them, and what becomes of it all when
// the iteration is not stopped. Labels of queries are never used.
func ablation() (all []evaluate.Mode) {
	for _, v := range variants() {
		all = append(all, evaluate.Mode{
			Name: "ablation-" + strings.ReplaceAll(strings.ReplaceAll(v.name, ",", ""), " ", "-"), Title: "ablation: " + v.name,
			Protects: "Nothing: the server sees where the query's features lie. Labels of queries are never used.",
			Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
				engine, err := privatemail.New(privatemail.WithLent(t.Workers))
				if err != nil {
					return nil, err
				}
				defer engine.Close()
				queries, gallery, err := v.place(ctx, engine, t)
				if err != nil {
					return nil, err
				}
				r, err := t.Search(ctx, queries, gallery)
				if err != nil {
					return nil, err
				}
				return &evaluate.Answer{Ranking: r, Exact: r}, nil
			},
		})
	}
	return all
}

// A variant is one line of the table of mode supervised.
type variant struct {
	name  string
	place placement
}

// A placement puts the queries and the gallery of a task into one space.
type placement func(ctx context.Context, e *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error)

func variants() []variant {
	return []variant{
		{"prepared rows", func(_ context.Context, _ *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
			return t.Queries, t.Gallery, nil
		}},
		{"map only", mapOnly},
		{"recipe", recipe(labelsOf, supervised.Classic())},
		{"labels on half of the gallery", recipe(halfLabels, supervised.Classic())},
		{"labels on public rows only", recipe(publicLabels, supervised.Classic())},
		{"no labels", noLabels},
		{"two steps", recipe(labelsOf, twoSteps())},
		{"labels only", labelsOnly},
		{"8 dimensions", dimensions(8)},
		{"16 dimensions", dimensions(16)},
		{"32 dimensions", dimensions(32)},
		{"converged, all labels", converged(1)},
		{"converged, no labels", converged(0)},
	}
}

// halfLabels forgets the labels of the second half of the gallery, whose order
// is that of a shuffle.
func halfLabels(t *evaluate.Task) []int32 {
	return forget(labelsOf(t), len(t.PublicLabels)+len(t.GalleryLabels)/2)
}

func publicLabels(t *evaluate.Task) []int32 { return forget(labelsOf(t), len(t.PublicLabels)) }

// forget drops the labels from a row on.
func forget(labels []int32, from int) []int32 {
	return append(labels[:from], slices.Repeat([]int32{kernel.Unlabelled}, len(labels)-from)...)
}

func twoSteps() supervised.Recipe {
	r := supervised.Classic()
	r.Steps = 2
	return r
}

func mapOnly(ctx context.Context, _ *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
	m, err := classicMap(ctx, t, 0)
	if err != nil {
		return nil, nil, unlessPairs(err)
	}
	return apply(m, t)
}

// classicMap is the map of the recipe classic with k columns, 0 for all.
func classicMap(ctx context.Context, t *evaluate.Task, k int) (*supervised.Map, error) {
	r := supervised.Classic()
	r.Columns = k
	return r.NewMap(ctx, points.Single(labelledRows(t)), labelsOf(t))
}

// recipe is an embedding with some of the labels.
func recipe(labels func(*evaluate.Task) []int32, r supervised.Recipe) placement {
	return func(ctx context.Context, e *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
		fit, err := fitRecipe(ctx, e, t, labels(t), r)
		if err != nil {
			return nil, nil, unlessPairs(err)
		}
		queries, err = images(fit.Map, t.Queries)
		return queries, galleryOf(t, fit.X), err
	}
}

// dimensions is the recipe classic with k of them.
func dimensions(k int) placement {
	return func(ctx context.Context, e *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
		if err := t.CheckDimensions(k); err != nil {
			return nil, nil, err
		}
		r := supervised.Classic()
		r.Columns = k
		return recipe(labelsOf, r)(ctx, e, t)
	}
}

// neighboursAmong is the mean number of neighbours in the graph of n rows: that of the
// recipe, or all other rows where there are fewer.
func neighboursAmong(n int) float64 { return min(20, float64(n-1)) }

// noLabels takes one step over the graph of the features.
func noLabels(ctx context.Context, e *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
	rows := labelledRows(t)
	out, err := e.Embed(ctx, points.Single(rows), nil, &privatemail.Settings{Graph: privatemail.Graph{MeanNeighbours: neighboursAmong(rows.Rows)}, Form: kernel.Attract})
	if err != nil {
		return nil, nil, err
	}
	return t.Queries, unit(galleryOf(t, points.Single(out.Points.RawMatrix()))), nil
}

// labelsOnly takes the step without the graph of the rows, x - 1/2 D^+ L_same x
// with D = 1: half-way to the mean of the others of the class.
func labelsOnly(ctx context.Context, _ *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
	m, err := classicMap(ctx, t, 0)
	if err != nil {
		return nil, nil, unlessPairs(err)
	}
	flat, err := m.Apply(points.Single(labelledRows(t)))
	if err != nil {
		return nil, nil, err
	}
	z := double(flat)
	labels, err := kernel.NewLabels(labelsOf(t), kernel.BalancedTable(), true)
	if err != nil {
		return nil, nil, err
	}
	var step mat.Dense
	step.CloneFrom(z)
	if err := labels.LaplacianTo64(step.RawMatrix(), z.RawMatrix()); err != nil {
		return nil, nil, err
	}
	step.Scale(-0.5, &step)
	step.Add(z, &step)
	queries, err = images(m, t.Queries)
	return queries, unit(galleryOf(t, single(&step))), err
}

// converged takes the eigenvectors of the graph of the features, and of equal
// labels with weight beta. Queries are placed among their ten neighbours.
func converged(beta float64) placement {
	return func(ctx context.Context, e *privatemail.Engine, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
		rows := labelledRows(t)
		features := points.Single(rows)
		out, err := e.Converge(ctx, features, labelsOf(t), &privatemail.ConvergeSettings{
			Graph: privatemail.Graph{MeanNeighbours: neighboursAmong(rows.Rows), Isolated: kernel.Repair}, Coefficient: beta, AllowUnlabelled: true, Dim: min(64, rows.Rows-1), StopTolerance: 1e-3,
		})
		if err != nil {
			return nil, nil, err
		}
		embedding := points.Single(out.Points.RawMatrix())
		n, _ := t.Queries.Dims()
		into := blas32.General{Rows: n, Cols: embedding.Cols, Stride: embedding.Cols, Data: make([]float32, n*embedding.Cols)}
		if err := e.Extend(ctx, features, embedding, points.Single(t.Queries.RawMatrix()), min(10, rows.Rows), into); err != nil {
			return nil, nil, err
		}
		return unit(pipeline.Widen(into)), galleryOf(t, embedding), nil
	}
}

// unit divides the rows of x by their norm, in place; rows of zeros stay.
func unit(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	for i := range n {
		points.Normalize(x.RawRowView(i))
	}
	return x
}
