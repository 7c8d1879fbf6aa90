package privatemail

import (
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

// A SpectralMap is the result of Map.
type SpectralMap struct {
	// Points has a row for each row of the features and Settings.Columns columns. An
	// isolated row is zero. It is nil with Settings.Into.
	Points *mat.Dense
	// Graph describes the graph of the features.
	Graph iterate.Graph
	// Values has the eigenvalues from which the map is made, falling, and
	// Residuals their residuals, as Engine.Converge defines them.
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
// the graph (Engine.Converge), 18 more than the columns of the map, and arranges them
// (package internal/spectral). It uses no labels. The map has no scale: large distances say little.
//
// Of the settings it uses those of the graph, for which Neighbours 10 is a good start,
// Columns (default 2), StopTolerance for the residual of the eigenvectors (default
// 1e-5), and Into. Form must be kernel.Attract or the default, and Coefficient 0. Errors: those of
// Embed.
func (e *Engine) Map(ctx context.Context, features blas32.General, settings *Settings) (*SpectralMap, error) {
	return call(ctx, e, "map", func() (*SpectralMap, error) {
		s, columns, err := mapSettings(features, settings)
		if err != nil {
			return nil, err
		}
		return withGraph(ctx, e, features, &s, s.mapBytes(features), func(m *share, s *Settings) (*SpectralMap, error) {
			return e.spectralMap(ctx, m, features, columns, s)
		})
	})
}

// PlanMap returns what Map would do with the same arguments, as Plan does for Embed.
// Errors: those of Embed.
func (e *Engine) PlanMap(ctx context.Context, features blas32.General, settings *Settings) (*Plan, error) {
	return call(ctx, e, "plan", func() (*Plan, error) {
		s, _, err := mapSettings(features, settings)
		if err != nil {
			return nil, err
		}
		return e.plan(ctx, features, &s, s.mapBytes(features))
	})
}

func (e *Engine) spectralMap(ctx context.Context, m *share, features blas32.General, columns int, s *Settings) (*SpectralMap, error) {
	g, err := e.build(ctx, m, features, nil, s)
	if err != nil {
		return nil, err
	}
	defer g.op.Close()
	began := time.Now()
	components, err := pipeline.Components(ctx, g.op)
	if err != nil {
		return nil, err
	}
	if err := limitVectors(s, columns, components); err != nil {
		return nil, err
	}
	found, err := e.mapVectorsOf(ctx, g, s)
	if err != nil {
		return nil, err
	}
	arrangement, err := spectral.Arrange(ctx, found, e.arrangeSettings(ctx, columns, len(components)))
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
func limitVectors(s *Settings, columns int, components []int) error {
	connected := 0
	for _, size := range components {
		connected += size
	}
	if columns > connected-1 {
		return fmt.Errorf("%w: %d columns of %d rows with neighbours, which have %d eigenvectors besides the constant: a wider bandwidth or more neighbours connect rows", kernel.ErrShape, columns, connected, max(connected-1, 0))
	}
	s.Columns = min(s.Columns, connected-1)
	return nil
}

// mapVectorsOf returns the s.Columns leading eigenvectors of the graph.
func (e *Engine) mapVectorsOf(ctx context.Context, g *builtGraph, s *Settings) (*spectral.Eigenvectors, error) {
	var start blas32.General
	own := int64(s.pointBytes(g.x))
	if s.samplesStart(g.x.Rows) {
		var err error
		if start, err = e.sampledStart(ctx, g.x, s.Columns, g.beside(own)); err != nil {
			return nil, err
		}
	}
	run := e.convergeSettings(ctx, s, g.beside(own+4*int64(len(start.Data))))
	run.UnitRows, run.Start = false, start
	return spectral.Converge(ctx, g.op, kernel.Step{Form: kernel.Attract}, run)
}

// mapSettings returns the settings with their defaults, Columns set to the number of
// eigenvectors, and the number of columns of the map.
func mapSettings(features blas32.General, settings *Settings) (s Settings, columns int, err error) {
	if settings != nil && (settings.Coefficient != 0 || settings.Start.Data != nil) {
		return s, 0, fmt.Errorf("%w: a map has no label term and no start", ErrSettings)
	}
	if err := settings.refuseForEmbed(); err != nil {
		return s, 0, err
	}
	if s, err = settings.withDefaults(features); err != nil {
		return s, 0, err
	}
	if columns = settings.Columns; columns == 0 {
		columns = 2
	}
	if columns >= features.Rows {
		return s, 0, fmt.Errorf("%w: %d columns of %d rows, which have at most %d eigenvectors besides the constant", kernel.ErrShape, columns, features.Rows, features.Rows-1)
	}
	if err := s.checkInto(features, columns); err != nil {
		return s, 0, err
	}
	s.Form, s.Steps = kernel.Attract, plannedProducts
	s.Columns = min(columns+mapVectors, features.Rows-1)
	return s, columns, nil
}

// arrangeSettings returns the settings of spectral.Arrange.
func (e *Engine) arrangeSettings(ctx context.Context, columns, components int) *spectral.ArrangeSettings {
	run := &spectral.ArrangeSettings{Columns: columns, Components: components, Workers: e.workers}
	if report := e.report(ctx); report != nil {
		run.Progress = func(done, total int) { report("arrange", done, total) }
	}
	return run
}
