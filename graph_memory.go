package privatemail

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// withGraph runs work that builds a graph of the features, with a share of the budget that
// holds the least such work takes. Where that is more than the whole budget, nothing is
// read. Work gets a copy of the settings, which it may fill in.
func withGraph[T any](ctx context.Context, e *Engine, features blas32.General, settings *Settings, work func(m *share, s *Settings) (T, error)) (out T, err error) {
	least, err := e.leastBytes(features, settings)
	if err != nil {
		return out, err
	}
	give, err := e.takeTurn(ctx, least, settings.what(features))
	if err != nil {
		return out, err
	}
	defer give()
	found := new(foundBandwidth)
	return within(ctx, e, least, settings.what(features), func(m *share) (T, error) {
		s := *settings
		m.found = found
		return work(m, &s)
	})
}

// A foundBandwidth is the bandwidth and the radius that a sample has given for a number of
// neighbours. Work that begins anew takes them from here, and no second sample.
type foundBandwidth struct {
	bandwidth kernel.Bandwidth
	radius    float64
	known     bool
}

// settle fills in the bandwidth of the settings and the cutoff of the options.
func (s *Settings) settle(ctx context.Context, m *share, opened *kernel.Points, o *kernel.Options) (err error) {
	if m.found != nil && m.found.known {
		s.Bandwidth, o.CutoffRadius = m.found.bandwidth, m.found.radius
		return nil
	}
	s.Bandwidth, err = s.graph().Settle(ctx, opened, o)
	if m.found != nil && err == nil && s.MeanNeighbours > 0 {
		*m.found = foundBandwidth{s.Bandwidth, o.CutoffRadius, true}
	}
	return err
}

// leastBytes is a lower bound of what an embedding takes. It looks at no feature.
func (e *Engine) leastBytes(features blas32.General, s *Settings) (float64, error) {
	own := s.ownBytes(features)
	if _, err := pipeline.Reserve(e.pool.Whole(), own, s.what(features)); err != nil {
		return own, e.explain(err, e.pool.Whole())
	}
	o := e.graphOptions(s)
	if o.Neighbours, o.SelfTuned = s.Neighbours, s.Neighbours > 0; (s.MeanNeighbours > 0 || s.CutoffWeight > 0) && kernel.Truncates(s.Operator) {
		o.CutoffRadius = 1 // any: the graph is truncated
	}
	graph, err := kernel.LeastBytes(features.Rows, features.Cols, o)
	return own + float64(graph), err
}

// what names the work in errors.
func (s *Settings) what(features blas32.General) string {
	return fmt.Sprintf("embedding of %d x %d", features.Rows, s.Columns)
}

// ownBytes is what an embedding takes beside its graph, its labels and what those add to
// steps: its points, and the copy of the features.
func (s *Settings) ownBytes(features blas32.General) float64 {
	return float64(features.Rows)*float64(s.Columns)*s.entryBytes(features) + s.copied(features)
}

// copied is the bytes of the features that are divided by their norms.
func (s *Settings) copied(features blas32.General) float64 {
	if !s.NormalizeRows {
		return 0
	}
	return 4 * float64(features.Rows) * float64(features.Cols)
}
