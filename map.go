package privatemail

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/spectral"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// MapSettings are the settings of Map. The zero value of every field except Graph means its
// default.
type MapSettings struct {
	Graph

	// Dim is the number of columns of the map. Default 2.
	Dim int
	// StopTolerance is the residual at which an eigenvector has converged. Default 1e-5.
	StopTolerance float64
	// Into, if set, gets the points in float32, and Points of the result is nil, as in Settings.
	// It has Dim columns.
	Into blas32.General
}

// A SpectralMap is the result of Map.
type SpectralMap struct {
	// Points has a row for each row of the features and MapSettings.Dim columns. An
	// isolated row is zero. It is nil with MapSettings.Into.
	Points *mat.Dense
	// Graph describes the graph of the features.
	Graph iterate.Graph
	// Values has the eigenvalues from which the map is made, falling, and
	// Residuals their residuals, as spectral.Converge defines them.
	Values, Residuals []float64
	// Coefficients has a row for each eigenvector: its contribution to each
	// column.
	Coefficients *mat.Dense
	// Products is the number of products of the graph with a block of columns.
	Products int
	// Isolated is the number of rows without neighbours or equal rows.
	Isolated int
	// Components has the sizes of the parts of the graph that no weight connects, without
	// isolated rows, the largest first. The places of the parts in the map say nothing
	// about each other.
	Components []int
	// Status is iterate.Converged, or iterate.StepLimit after 1000 products.
	Status iterate.Status
}

// mapVectors is the number of eigenvectors of a map beyond its columns.
const mapVectors = 18

// Map makes a map of the features for pictures: rows that are near in the graph are near,
// clusters are separate, a rolled-up sheet lies flat. It takes the leading eigenvectors of
// the graph (spectral.Converge), 18 more than the columns of the map, and arranges them
// (spectral.Arrange). It uses no labels. The map has no scale: large distances say little.
// Neighbours 10 is a good start. Errors: those of Embed.
func (e *Engine) Map(ctx context.Context, features blas32.General, settings *MapSettings) (out *SpectralMap, err error) {
	c, err := e.begin(ctx, "map")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	s, dim, err := settings.withDefaults(features)
	if err != nil {
		return nil, err
	}
	m, err := e.reserveGraph(ctx, features, &s, s.mapBytes(features))
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = e.spectralMap(ctx, m, features, dim, s)
	}
	return out, err
}

// PlanMap returns what Map would do with the same arguments, as Plan does for Embed.
// Errors: those of Embed.
func (e *Engine) PlanMap(ctx context.Context, features blas32.General, settings *MapSettings) (_ *Plan, err error) {
	c, err := e.begin(ctx, "plan")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	s, _, err := settings.withDefaults(features)
	if err != nil {
		return nil, err
	}
	return e.plan(ctx, features, s, s.mapBytes(features))
}

func (e *Engine) spectralMap(ctx context.Context, m *share, features blas32.General, dim int, s Settings) (*SpectralMap, error) {
	g, err := e.build(ctx, m, features, nil, &s)
	if err != nil {
		return nil, err
	}
	defer g.op.Close()
	began := time.Now()
	components, err := pipeline.Components(ctx, g.op)
	if err != nil {
		return nil, err
	}
	if err := limitVectors(&s, dim, components); err != nil {
		return nil, err
	}
	found, err := e.mapVectorsOf(ctx, g, &s)
	if err != nil {
		return nil, err
	}
	arrangement, err := spectral.Arrange(ctx, found, e.arrangeSettings(ctx, dim, len(components)))
	if err != nil {
		return nil, err
	}
	g.StepTime = time.Since(began)
	return &SpectralMap{
		Points: s.output(arrangement.Points), Graph: g.Graph, Values: found.Values, Residuals: found.Residuals, Coefficients: arrangement.Coefficients,
		Products: found.Products, Isolated: found.Isolated, Components: components, Status: found.Status,
	}, nil
}

// limitVectors limits the number of eigenvectors to those of the rows with neighbours,
// and refuses more columns.
func limitVectors(s *Settings, dim int, components []int) error {
	connected := 0
	for _, size := range components {
		connected += size
	}
	if dim > connected-1 {
		return fmt.Errorf("%w: %d columns of %d rows with neighbours, which have %d eigenvectors besides the constant: a wider bandwidth or more neighbours connect rows", kernel.ErrShape, dim, connected, max(connected-1, 0))
	}
	s.Dim = min(s.Dim, connected-1)
	return nil
}

// mapVectorsOf returns the s.Dim leading eigenvectors of the graph.
func (e *Engine) mapVectorsOf(ctx context.Context, g *builtGraph, s *Settings) (*spectral.Eigenvectors, error) {
	var start blas32.General
	own := int64(s.pointBytes(g.x))
	if s.samplesStart(g.x.Rows) {
		var err error
		if start, err = e.sampledStart(ctx, g.x, s.Dim, g.beside(own)); err != nil {
			return nil, err
		}
	}
	run := e.convergeSettings(ctx, s, g.beside(own+4*int64(len(start.Data))))
	run.UnitRows, run.Start = false, start
	return spectral.Converge(ctx, g.op, kernel.Step{Form: kernel.Attract}, run)
}

// withDefaults returns the settings of the eigenvectors, with all defaults, their number as
// Dim, and the number of columns of the map.
func (m *MapSettings) withDefaults(features blas32.General) (s Settings, dim int, err error) {
	if m == nil {
		s, err = (*Settings)(nil).withDefaults(features)
		return s, 0, err
	}
	given := Settings{Graph: m.Graph, Form: kernel.Attract, Dim: m.Dim, Steps: plannedProducts, StopTolerance: m.StopTolerance, Into: m.Into}
	if s, err = given.withDefaults(features); err != nil {
		return s, 0, err
	}
	dim = cmp.Or(m.Dim, 2)
	if dim >= features.Rows {
		return s, 0, fmt.Errorf("%w: %d columns of %d rows, which have at most %d eigenvectors besides the constant", kernel.ErrShape, dim, features.Rows, features.Rows-1)
	}
	s.Dim = min(dim+mapVectors, features.Rows-1)
	return s, dim, s.checkInto(features, dim)
}

// arrangeSettings returns the settings of spectral.Arrange.
func (e *Engine) arrangeSettings(ctx context.Context, dim, components int) *spectral.ArrangeSettings {
	run := &spectral.ArrangeSettings{Dim: dim, Components: components, Workers: e.workers}
	if report := e.report(ctx); report != nil {
		run.Progress = func(done, total int) { report("arrange", done, total) }
	}
	return run
}
