package privatemail

import (
	"cmp"
	"context"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/spectral"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// ConvergeSettings are the settings of Converge. The zero value of every field except Graph
// means its default.
type ConvergeSettings struct {
	Graph

	// Coefficient, Table and AllowUnlabelled describe the label term, as in Settings with form
	// kernel.Attract.
	Coefficient     float64
	Table           kernel.Table
	AllowUnlabelled bool

	// Dim is the number of eigenvectors. Default 2.
	Dim int
	// StopTolerance is the residual at which an eigenvector has converged. Default 1e-5.
	StopTolerance float64
	// Into, if set, gets the points in float32, and Points of the result is nil, as in Settings.
	// It has Dim columns.
	Into blas32.General
}

// withDefaults returns the settings of the steps, with all defaults.
func (c *ConvergeSettings) withDefaults(features blas32.General) (s Settings, err error) {
	if c == nil {
		return (*Settings)(nil).withDefaults(features)
	}
	given := Settings{
		Graph: c.Graph, Form: kernel.Attract, Coefficient: c.Coefficient, Table: c.Table, AllowUnlabelled: c.AllowUnlabelled,
		Dim: c.Dim, Steps: plannedProducts, StopTolerance: c.StopTolerance, Into: c.Into,
	}
	if s, err = given.withDefaults(features); err != nil {
		return s, err
	}
	s.Dim = cmp.Or(c.Dim, 2) // not that of a start: there is none
	return s, s.checkInto(features, s.Dim)
}

// An Eigenmap is the result of Converge.
type Eigenmap struct {
	// Points has a row for each row of the features and ConvergeSettings.Dim
	// columns. It is nil with ConvergeSettings.Into.
	Points *mat.Dense
	// Graph describes the graph of the features.
	Graph iterate.Graph
	// Values has the eigenvalue lambda of each column, falling.
	Values []float64
	// Residuals has the |M u - lambda u| of each column, M as in spectral.Converge.
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
// the graph of features and labels, as spectral.Converge defines them, with rows of
// unit length. It is for clusters; for maps see Map, and for search stop early
// (Embed). Labels may be nil when Coefficient is 0. Errors: those of Embed.
func (e *Engine) Converge(ctx context.Context, features blas32.General, labels []int32, settings *ConvergeSettings) (out *Eigenmap, err error) {
	c, err := e.begin(ctx, "converge")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	s, err := settings.withDefaults(features)
	if err != nil {
		return nil, err
	}
	m, err := e.reserveGraph(ctx, features, &s, s.convergeBytes(features))
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = e.converge(ctx, m, features, labels, s)
	}
	return out, err
}

func (e *Engine) converge(ctx context.Context, m *share, features blas32.General, labels []int32, s Settings) (*Eigenmap, error) {
	step, err := s.step(features.Rows, labels)
	if err != nil {
		return nil, err
	}
	if step.Labels != nil {
		s.stepBytes += spectral.ConvergeBytes(0, s.Dim, step.Labels.Classes())
	}
	g, err := e.build(ctx, m, features, step.Labels, &s)
	if err != nil {
		return nil, err
	}
	defer g.op.Close()
	began := time.Now()
	found, err := spectral.Converge(ctx, g.op, step, e.convergeSettings(ctx, &s, g.beside(int64(s.pointBytes(features)))))
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
		Dim: s.Dim, Tolerance: s.StopTolerance, UnitRows: true,
		MaxMemory: o.MaxMemory, Reserve: o.Reserve, Workers: e.workers, Kernels: e.kernels,
	}
	if report := e.report(ctx); report != nil {
		run.Progress = func(r spectral.ConvergeRecord) { report("eigenvectors", r.Converged, s.Dim) }
	}
	return run
}
