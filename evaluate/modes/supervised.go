package modes

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Supervised searches the embedding that the labels of public and gallery rows
// have shaped; a query is embedded by the published map alone.
func Supervised() evaluate.Mode {
	return evaluate.Mode{
		Name: "supervised", Title: "supervised embedding",
		Protects: "Nothing by itself: the server sees where the query's features lie. Labels of queries are never used.",
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			s, err := fitted(ctx, t)
			if err != nil {
				return nil, err
			}
			queries, err := s.fit.Map.Apply(t.Queries.RawMatrix())
			if err != nil {
				return nil, err
			}
			r, err := t.Search(ctx, queries, s.x)
			if err != nil {
				return nil, err
			}
			return &evaluate.Answer{Ranking: r, Exact: r}, nil
		},
	}
}

// space is the supervised embedding of a problem: z and x are the rows of the
// gallery.
type space struct {
	fit  *supervised.Model
	z, x *mat.Dense
}

// fitted returns the embedding, which all tasks of a problem share.
func fitted(ctx context.Context, t *evaluate.Task) (*space, error) {
	return evaluate.Shared(ctx, t.Problem, "supervised", func() (*space, error) {
		engine, err := privatemail.New(privatemail.WithWorkers(max(t.Workers, 1)))
		if err != nil {
			return nil, err
		}
		defer engine.Close()
		fit, err := supervised.Fit(ctx, engine, labelledRows(t), labelsOf(t), nil)
		if err != nil {
			return nil, unlessPairs(err)
		}
		return &space{fit: fit, z: galleryOf(t, fit.Z), x: galleryOf(t, fit.X)}, nil
	})
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
func galleryOf(t *evaluate.Task, x *mat.Dense) *mat.Dense {
	public, _ := t.Public.Dims()
	n, d := x.Dims()
	return x.Slice(public, n, 0, d).(*mat.Dense)
}

// apply returns where a map takes the queries and the gallery.
func apply(m *supervised.Map, t *evaluate.Task) (queries, gallery *mat.Dense, err error) {
	if gallery, err = m.Apply(t.Gallery.RawMatrix()); err != nil {
		return nil, nil, err
	}
	queries, err = m.Apply(t.Queries.RawMatrix())
	return queries, gallery, err
}
