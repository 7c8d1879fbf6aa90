package modes

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/margin"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Supervised searches the embedding that the labels of public and gallery rows
// have shaped; a query is embedded by the published map alone.
func Supervised() evaluate.Mode {
	return evaluate.Mode{
		Name: "supervised", Title: "supervised embedding",
		Protects: "Nothing by itself: the server sees where the query's features lie. Labels of queries are never used.",
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			s, queries, err := placed(ctx, t)
			if err != nil {
				return nil, err
			}
			r, err := t.Search(ctx, queries, s.x)
			if err != nil {
				return nil, err
			}
			facts, note, err := promised(ctx, t, s)
			if err != nil {
				return nil, err
			}
			return &evaluate.Answer{Ranking: r, Exact: r, Facts: facts, Note: note}, nil
		},
	}
}

// promised returns the facts of what the map and the gallery promise to queries.
func promised(ctx context.Context, t *evaluate.Task, s *space) (facts map[string]float64, note string, err error) {
	if margin.CheckLabels(t.GalleryLabels) != nil {
		return nil, "", nil
	}
	engine, err := privatemail.New(privatemail.WithLent(t.Workers))
	if err != nil {
		return nil, "", err
	}
	defer engine.Close()
	r, err := margin.OfMap(ctx, engine, s.fit.Map, single(t.Gallery), single(s.x), t.GalleryLabels, &margin.Settings{Seed: t.Seed})
	if err != nil {
		return nil, "", err
	}
	return r.Facts(), r.Sentence(), nil
}

// placed returns the embedding of a problem and its queries under the published map.
func placed(ctx context.Context, t *evaluate.Task) (*space, *mat.Dense, error) {
	s, err := fitted(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	queries, err := images(s.fit.Map, t.Queries)
	return s, queries, err
}

// space is the supervised embedding of a problem: z and x are the rows of the
// gallery.
type space struct {
	fit  *supervised.Model
	z, x *mat.Dense
}

// fitted returns the embedding, which all tasks of a problem share. Its recipe is chosen on
// public rows, which no query is measured among.
func fitted(ctx context.Context, t *evaluate.Task) (*space, error) {
	return evaluate.Shared(ctx, t.Problem, "supervised", func() (*space, error) {
		engine, err := privatemail.New(privatemail.WithLent(t.Workers))
		if err != nil {
			return nil, err
		}
		defer engine.Close()
		chosen, err := supervised.Fit(ctx, engine, single(t.Public), t.PublicLabels, &supervised.Settings{Seed: t.Seed})
		if err != nil {
			return nil, unlessPairs(err)
		}
		fit, err := fitRecipe(ctx, engine, t, labelsOf(t), chosen.Recipe)
		if err != nil {
			return nil, unlessPairs(err)
		}
		return &space{fit: fit, z: galleryOf(t, fit.Z), x: galleryOf(t, fit.X)}, nil
	})
}

// fitRecipe fits public rows and gallery, with some of their labels, by one recipe.
func fitRecipe(ctx context.Context, e *privatemail.Engine, t *evaluate.Task, labels []int32, r supervised.Recipe) (*supervised.Model, error) {
	return supervised.Fit(ctx, e, points.Single(labelledRows(t)), labels, &supervised.Settings{Recipe: &r, Unmeasured: true})
}

// single returns rows in float32, in which a map takes them.
func single(x *mat.Dense) blas32.General { return points.Single(x.RawMatrix()) }

// double returns rows in float64, in which they are searched.
func double(x blas32.General) *mat.Dense {
	out := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		points.ReadRow(out.RawRowView(i), x, i)
	}
	return out
}

// images returns where a map takes rows.
func images(m *supervised.Map, rows *mat.Dense) (*mat.Dense, error) {
	z, err := m.Apply(single(rows))
	if err != nil {
		return nil, err
	}
	return double(z), nil
}

// labelledRows are the rows whose labels the server has: public rows, then gallery.
func labelledRows(t *evaluate.Task) blas64.General {
	var all mat.Dense
	all.Stack(t.Public, t.Gallery)
	return all.RawMatrix()
}

func labelsOf(t *evaluate.Task) []int32 {
	return slices.Concat(t.PublicLabels, t.GalleryLabels)
}

// galleryOf returns what became of the gallery among labelledRows.
func galleryOf(t *evaluate.Task, x blas32.General) *mat.Dense {
	public, _ := t.Public.Dims()
	return double(x).Slice(public, x.Rows, 0, x.Cols).(*mat.Dense)
}

// apply returns where a map takes the queries and the gallery.
func apply(m *supervised.Map, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
	if gallery, err = images(m, t.Gallery); err != nil {
		return nil, nil, err
	}
	queries, err = images(m, t.Queries)
	return queries, gallery, err
}
