package privatemail

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// withGraph runs work that builds a graph of the features, with a share of the budget that
// holds the least memory of such work. steps is the number of bytes that work takes when the
// graph is built. Where the least is more than the whole budget, nothing is read. work gets
// a copy of the settings, which it may fill in.
func withGraph[T any](ctx context.Context, e *Engine, features blas32.General, settings *Settings, steps float64, work func(m *share, s *Settings) (T, error)) (out T, err error) {
	least, err := e.leastBytes(features, settings, steps)
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
		m.found, m.steps = found, steps
		return work(m, &s)
	})
}

// A foundBandwidth is the bandwidth and the radius found by sampling for a number of
// neighbours. Work that starts again takes them from here, without a second sample.
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
	s.Bandwidth, err = s.weights().Settle(ctx, opened, o)
	if s.full {
		o.CutoffRadius = 0 // a mean number of neighbours has decided only the bandwidth
	}
	if m.found != nil && err == nil && s.MeanNeighbours > 0 {
		*m.found = foundBandwidth{s.Bandwidth, o.CutoffRadius, true}
	}
	return err
}
