package pipeline

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// GraphSettings determine the weights of a graph: a bandwidth, or the mean number of
// neighbours of a row, and the weight at which the graph is truncated; or the radius at
// which it is truncated, with or without a bandwidth; or the number of nearest neighbours
// of each row, in a self-tuned graph.
type GraphSettings struct {
	Bandwidth      kernel.Bandwidth
	MeanNeighbours float64
	CutoffWeight   float64
	CutoffRadius   float64
	Neighbours     int
}

// Check refuses numbers outside their range; the error is kernel.ErrOption.
// It accepts settings without any number, since the caller may have a default.
func (s *GraphSettings) Check() error {
	switch {
	case s.Bandwidth != kernel.Bandwidth{} && s.MeanNeighbours != 0:
		return fmt.Errorf("%w: both a bandwidth and a mean number of neighbours are given", kernel.ErrOption)
	case s.Neighbours < 0:
		return fmt.Errorf("%w: %d nearest neighbours, want 1 or more", kernel.ErrOption, s.Neighbours)
	case s.Neighbours > 0 && (s.Bandwidth != kernel.Bandwidth{} || s.MeanNeighbours != 0 || s.CutoffWeight != 0):
		return fmt.Errorf("%w: a number of nearest neighbours excludes a bandwidth, a mean number of neighbours and a cutoff weight", kernel.ErrOption)
	case s.MeanNeighbours < 0 || math.IsNaN(s.MeanNeighbours):
		return fmt.Errorf("%w: a mean of %g neighbours, want a positive number", kernel.ErrOption, s.MeanNeighbours)
	case s.CutoffWeight != 0 && !(s.CutoffWeight > 0 && s.CutoffWeight < 1):
		return fmt.Errorf("%w: cutoff weight %g, want a number between 0 and 1", kernel.ErrOption, s.CutoffWeight)
	}
	return s.checkRadius()
}

// checkRadius refuses a radius outside its range, or together with another setting that
// truncates the graph.
func (s *GraphSettings) checkRadius() error {
	switch {
	case s.CutoffRadius == 0:
		return nil
	case !(s.CutoffRadius > 0) || math.IsInf(s.CutoffRadius, 0):
		return fmt.Errorf("%w: cutoff radius %g, want a positive number", kernel.ErrOption, s.CutoffRadius)
	case s.CutoffWeight != 0 || s.MeanNeighbours != 0 || s.Neighbours != 0:
		return fmt.Errorf("%w: a cutoff radius excludes a cutoff weight and a number of neighbours", kernel.ErrOption)
	}
	return nil
}

// Given reports whether a setting determines the weights of the graph.
func (s *GraphSettings) Given() bool {
	return s.Bandwidth != kernel.Bandwidth{} || s.MeanNeighbours != 0 || s.CutoffRadius != 0 || s.Neighbours != 0
}

// Truncated reports whether the operator of the given name truncates the graph at every
// tolerance.
func (s *GraphSettings) Truncated(operator string) bool {
	fixed := s.MeanNeighbours > 0 || s.CutoffWeight > 0 || s.CutoffRadius > 0
	return s.Neighbours > 0 || fixed && kernel.Truncates(operator)
}

// Settle returns the bandwidth and puts the cutoff into the options, unless they force
// an operator that does not truncate: then a mean number of neighbours decides only the
// bandwidth, and weights below the cutoff are part of the full kernel.
func (s *GraphSettings) Settle(ctx context.Context, p *kernel.Points, o *kernel.Options) (b kernel.Bandwidth, err error) {
	switch {
	case s.Neighbours > 0:
		o.Neighbours, o.SelfTuned = s.Neighbours, true
		return kernel.Gamma(1), nil // in units of the scales of the rows
	case s.MeanNeighbours > 0:
		b, radius, err := p.BandwidthForDegree(ctx, s.MeanNeighbours, s.CutoffWeight, o)
		if kernel.Truncates(o.Operator) {
			o.CutoffRadius = radius
		}
		return b, err
	case s.CutoffWeight > 0:
		if err := s.Bandwidth.Check(); err != nil {
			return b, err
		}
		o.CutoffRadius = s.Bandwidth.Radius(s.CutoffWeight)
	case s.CutoffRadius > 0:
		o.CutoffRadius = s.CutoffRadius
		if s.Bandwidth == (kernel.Bandwidth{}) {
			return kernel.Gamma(-math.Log(kernel.DegreeCutoff) / s.CutoffRadius / s.CutoffRadius), nil
		}
	}
	return s.Bandwidth, nil
}
