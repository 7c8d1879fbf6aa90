package privatemail

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// reserveGraph reserves the least memory of work that builds a graph of the features and takes
// that many bytes for its steps when the graph is built. Where the least is more than the whole
// limit, nothing is read.
func (e *Engine) reserveGraph(ctx context.Context, features blas32.General, s *Settings, steps float64) (*share, error) {
	s.stepBytes = steps
	least, err := e.leastBytes(features, s)
	if err != nil {
		return nil, err
	}
	return e.reserveInTurn(ctx, least, s.what(features))
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
	if m.found.known {
		s.Bandwidth, o.CutoffRadius = m.found.bandwidth, m.found.radius
		return nil
	}
	s.Bandwidth, err = s.weights().Settle(ctx, opened, o)
	if s.full {
		o.CutoffRadius = 0 // a mean number of neighbours has decided only the bandwidth
	}
	if err == nil && s.MeanNeighbours > 0 {
		m.found = foundBandwidth{s.Bandwidth, o.CutoffRadius, true}
	}
	return err
}
