package privatemail

import (
	"context"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/spectral"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// An Eigenmap is the result of Converge.
type Eigenmap struct {
	// Points has a row for each row of the features and Settings.Columns
	// columns. It is nil with Settings.Into.
	Points *mat.Dense
	// Graph describes the graph of the features.
	Graph iterate.Graph
	// Values has the eigenvalue lambda of each column, falling.
	Values []float64
	// Residuals has the |M u - lambda u| of each column, M as in Engine.Converge.
	Residuals []float64
	// Products is the number of products of the graph with a block of columns.
	Products int
	// Isolated is the number of rows without neighbours or equal rows. They are zero
	// in Points.
	Isolated int
	// Status is iterate.Converged, or iterate.StepLimit after 1000 products.
	Status iterate.Status
}

// plannedProducts is the number of products for which the operator is chosen. Between
// 30 and 250 are common: too many for an operator that is quick to build and slow to
// multiply with.
const plannedProducts = 50

// Converge returns the limit of the steps of form Attract: the leading eigenvectors of
// the graph of features and labels. They are the eigenvectors of the largest eigenvalues of
//
//	M = D^(-1/2) (W/dbar + beta W_Y) D^(-1/2),   D = Diag(L), L as in iterate.Run,
//
// without the constant one. With M u = lambda u, |u| = 1, column j of the result is
// lambda_j D^(-1/2) u_j, before rows are divided by their length; its entry of largest magnitude
// is positive. A row without neighbours is zero. Where parts of the graph are not connected,
// lambda = 1 is repeated and its eigenvectors tell the parts apart.
//
// The result is for clusters; for maps see Map, and for search stop early (Embed). It takes long
// where the wanted eigenvalues belong to a larger cluster of eigenvalues, and then ends with
// iterate.StepLimit and the residuals reached.
//
// Of the settings it uses those of the graph, Form, which must be kernel.Attract,
// Coefficient, Table and AllowUnlabelled for the labels, Columns (default 2),
// StopTolerance for the residual (default 1e-5), and Into. Labels may be nil when
// Coefficient is 0. Errors: those of Embed.
func (e *Engine) Converge(ctx context.Context, features blas32.General, labels []int32, settings *Settings) (*Eigenmap, error) {
	return call(ctx, e, "converge", func() (*Eigenmap, error) {
		if err := settings.refuseForEmbed(); err != nil {
			return nil, err
		}
		s, err := settings.withDefaults(features)
		if err != nil {
			return nil, err
		}
		if s.Columns = settings.Columns; s.Columns == 0 { // not the columns of a start: there is none
			s.Columns = 2
		}
		if err := s.checkInto(features, s.Columns); err != nil {
			return nil, err
		}
		s.Steps = plannedProducts
		return withGraph(ctx, e, features, &s, s.convergeBytes(features), func(m *share, s *Settings) (*Eigenmap, error) {
			return e.converge(ctx, m, features, labels, s)
		})
	})
}

func (e *Engine) converge(ctx context.Context, m *share, features blas32.General, labels []int32, s *Settings) (*Eigenmap, error) {
	step, err := s.step(features.Rows, labels)
	if err != nil {
		return nil, err
	}
	if step.Labels != nil {
		m.steps += spectral.ConvergeBytes(0, s.Columns, step.Labels.Classes())
	}
	g, err := e.build(ctx, m, features, step.Labels, s)
	if err != nil {
		return nil, err
	}
	defer g.op.Close()
	began := time.Now()
	found, err := spectral.Converge(ctx, g.op, step, e.convergeSettings(ctx, s, g.beside(int64(s.pointBytes(features)))))
	if err != nil {
		return nil, err
	}
	g.StepTime = time.Since(began)
	return &Eigenmap{
		Points: s.output(found.Points), Graph: g.Graph, Values: found.Values, Residuals: found.Residuals,
		Products: found.Products, Isolated: found.Isolated, Status: found.Status,
	}, nil
}

// convergeSettings returns the settings of spectral.Converge with the memory of the options.
func (e *Engine) convergeSettings(ctx context.Context, s *Settings, o *kernel.Options) *spectral.ConvergeSettings {
	run := &spectral.ConvergeSettings{
		Columns: s.Columns, Tolerance: s.StopTolerance, UnitRows: true,
		BudgetBytes: o.BudgetBytes, Reserve: o.Reserve, Workers: e.workers, Kernels: e.kernels,
	}
	if report := e.report(ctx); report != nil {
		run.Progress = func(r spectral.ConvergeRecord) { report("eigenvectors", r.Converged, s.Columns) }
	}
	return run
}
