// Package ablation takes mode supervised of package retrieval apart: what the
// map does, what the step does, what labels do when fewer rows have them, and
// what becomes of it all when the iteration is not stopped.
//
// A [Row] is a line of that table. It places the queries and the gallery in one
// space, from which the figures of package evaluate follow:
//
//	queries, gallery, err := row.Place(ctx, engine, set)
//	r, err := evaluate.Nearest(ctx, queries.RawMatrix(), gallery.RawMatrix(), 8, nil)
//	figures, err := r.Score(queryLabels, galleryLabels, 1, 8)
//
// The labels of queries are no part of a [Set].
package ablation

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A Set is a data set after evaluate.Features: unit rows, public, to be searched
// and to be searched for, and the labels a server has.
type Set struct {
	Public, Gallery, Queries    *mat.Dense
	PublicLabels, GalleryLabels []int32
}

// A Row is a line of the table.
type Row struct {
	Name string
	// Place returns the queries and the gallery in the space of the row.
	Place func(ctx context.Context, e *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error)
}

// Rows returns the table.
func Rows() []Row {
	return []Row{
		{"raw features", func(_ context.Context, _ *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error) {
			return s.Queries, s.Gallery, nil
		}},
		{"map only", mapOnly},
		{"recipe", fitted(allLabels, nil)},
		{"labels on half of the gallery", fitted(halfLabels, nil)},
		{"labels on public rows only", fitted(publicLabels, nil)},
		{"no labels", noLabels},
		{"two steps", fitted(allLabels, &supervised.Settings{Steps: 2})},
		{"labels only", labelsOnly},
		{"8 dimensions", dimensions(8)},
		{"16 dimensions", dimensions(16)},
		{"32 dimensions", dimensions(32)},
		{"converged, all labels", converged(1)},
		{"converged, no labels", converged(0)},
	}
}

// rows returns public rows and gallery as one matrix, public rows first.
func (s *Set) rows() *mat.Dense {
	var all mat.Dense
	all.Stack(s.Public, s.Gallery)
	return &all
}

// gallery returns the rows of x that belong to the gallery.
func (s *Set) gallery(x *mat.Dense) *mat.Dense {
	n, k := x.Dims()
	public, _ := s.Public.Dims()
	return x.Slice(public, n, 0, k).(*mat.Dense)
}

func allLabels(s *Set) []int32 {
	return append(append([]int32(nil), s.PublicLabels...), s.GalleryLabels...)
}

// halfLabels forgets the labels of the second half of the gallery, whose order
// is that of a shuffle.
func halfLabels(s *Set) []int32 {
	labels := allLabels(s)
	for i := len(s.PublicLabels) + len(s.GalleryLabels)/2; i < len(labels); i++ {
		labels[i] = kernel.Unlabelled
	}
	return labels
}

func publicLabels(s *Set) []int32 {
	labels := allLabels(s)
	for i := len(s.PublicLabels); i < len(labels); i++ {
		labels[i] = kernel.Unlabelled
	}
	return labels
}

func mapOnly(_ context.Context, _ *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error) {
	m, err := supervised.NewMap(s.rows().RawMatrix(), allLabels(s), 0)
	if err != nil {
		return nil, nil, err
	}
	if gallery, err = m.Apply(s.Gallery.RawMatrix()); err != nil {
		return nil, nil, err
	}
	queries, err = m.Apply(s.Queries.RawMatrix())
	return queries, gallery, err
}

// fitted returns mode supervised with some of the labels.
func fitted(labels func(*Set) []int32, settings *supervised.Settings) func(context.Context, *privatemail.Engine, *Set) (queries, gallery *mat.Dense, err error) {
	return func(ctx context.Context, e *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error) {
		fit, err := supervised.Fit(ctx, e, s.rows().RawMatrix(), labels(s), settings)
		if err != nil {
			return nil, nil, err
		}
		queries, err = fit.Map.Apply(s.Queries.RawMatrix())
		return queries, s.gallery(fit.X), err
	}
}

// dimensions returns mode supervised with at most k of them.
func dimensions(k int) func(context.Context, *privatemail.Engine, *Set) (queries, gallery *mat.Dense, err error) {
	return func(ctx context.Context, e *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error) {
		_, d := s.Gallery.Dims()
		return fitted(allLabels, &supervised.Settings{Columns: min(k, d)})(ctx, e, s)
	}
}

// noLabels takes one step over the graph of the features.
func noLabels(ctx context.Context, e *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error) {
	out, err := e.Embed(ctx, points.Single(s.rows().RawMatrix()), nil, &privatemail.Settings{MeanDegree: 20, Form: kernel.Attract})
	if err != nil {
		return nil, nil, err
	}
	return s.Queries, unit(s.gallery(out.Points)), nil
}

// labelsOnly takes the step without the graph of the rows, x - 1/2 D^+ L_same x
// with D = 1: half-way to the mean of the others of the class.
func labelsOnly(_ context.Context, _ *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error) {
	m, err := supervised.NewMap(s.rows().RawMatrix(), allLabels(s), 0)
	if err != nil {
		return nil, nil, err
	}
	z, err := m.Apply(s.rows().RawMatrix())
	if err != nil {
		return nil, nil, err
	}
	labels, err := kernel.NewLabels(allLabels(s), kernel.BalancedTable(), true)
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
	queries, err = m.Apply(s.Queries.RawMatrix())
	return queries, unit(s.gallery(&step)), err
}

// converged takes the eigenvectors of the graph of the features, and of equal
// labels with weight beta. Queries are placed among their ten neighbours.
func converged(beta float64) func(context.Context, *privatemail.Engine, *Set) (queries, gallery *mat.Dense, err error) {
	return func(ctx context.Context, e *privatemail.Engine, s *Set) (queries, gallery *mat.Dense, err error) {
		rows := s.rows()
		out, err := e.Converge(ctx, points.Single(rows.RawMatrix()), allLabels(s), &privatemail.Settings{
			MeanDegree: 20, Form: kernel.Attract, Coefficient: beta, AllowUnlabelled: true, Columns: 64, StopTolerance: 1e-3, Isolated: kernel.Repair,
		})
		if err != nil {
			return nil, nil, err
		}
		near, err := evaluate.Nearest(ctx, s.Queries.RawMatrix(), rows.RawMatrix(), 10, &evaluate.SearchSettings{Workers: e.Workers()})
		if err != nil {
			return nil, nil, err
		}
		queries, err = supervised.Extend(out.Points, near.Index, near.SquaredDistance, near.K)
		if err != nil {
			return nil, nil, err
		}
		return unit(queries), s.gallery(out.Points), nil
	}
}

// unit divides the rows of x by their norm, in place; rows of zeros stay.
func unit(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	for i := range n {
		v := mat.NewVecDense(x.RawMatrix().Cols, x.RawRowView(i))
		if norm := v.Norm(2); norm > 0 {
			v.ScaleVec(1/norm, v)
		}
	}
	return x
}
