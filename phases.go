package privatemail

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/spectral"
)

// A call has two phases. First it builds its graph, with the copy of the features and the
// labels in memory. Then it takes steps: it holds the memory that the graph keeps, and makes
// iterates and a result. It reserves the larger of the two, not their sum.

// leastBytes is a lower bound on the memory of a call that takes s.stepBytes for its
// steps. It reads no feature.
func (e *Engine) leastBytes(features blas32.General, s *Settings) (float64, error) {
	always := s.copied(features)
	if _, err := pipeline.Reserve(e.pool.Whole(), always+s.stepBytes, s.what(features)); err != nil {
		return always + s.stepBytes, e.explain(err, e.pool.Whole())
	}
	o := e.graphOptions(s)
	o.StepBytes = mem.Saturate(s.stepBytes)
	if o.Neighbours, o.SelfTuned = s.Neighbours, s.Neighbours > 0; !s.full && s.Neighbours == 0 && s.weights().Truncated(s.Operator) {
		o.CutoffRadius = 1 // any number: the graph is truncated
	}
	graph, err := o.LeastBytes(features.Rows, features.Cols)
	return always + float64(graph), err
}

// what names the work in errors.
func (s *Settings) what(features blas32.General) string {
	return fmt.Sprintf("embedding of %d x %d", features.Rows, s.Dim)
}

// copies reports whether the rows of the graph are a copy of the features: with
// columns standardized, rows divided by their norms, or for a Kernel.
func (s *Settings) copies() bool { return s.Standardize || s.NormalizeRows || s.full }

// copied is the size of that copy in bytes.
func (s *Settings) copied(features blas32.General) float64 {
	if !s.copies() {
		return 0
	}
	return 4 * float64(features.Rows) * float64(features.Cols)
}

// pointBytes is the memory of the iterates and the returned points.
func (s *Settings) pointBytes(features blas32.General) float64 {
	return float64(features.Rows) * float64(s.Dim) * s.entryBytes(features)
}

// convergeBytes is the memory of eigenvectors and the points made from them.
func (s *Settings) convergeBytes(features blas32.General) float64 {
	return s.pointBytes(features) + spectral.ConvergeBytes(features.Rows, s.Dim, 0)
}

// mapBytes is the memory of a map: eigenvectors, their start, and the points.
func (s *Settings) mapBytes(features blas32.General) float64 {
	return s.convergeBytes(features) + s.mapStartBytes(features)
}

// mapStartBytes is the memory of the start of a large map; 0 for a random start.
func (s *Settings) mapStartBytes(features blas32.General) float64 {
	if !s.samplesStart(features.Rows) {
		return 0
	}
	return 4 * float64(features.Rows) * float64(s.Dim)
}
