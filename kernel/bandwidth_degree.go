package kernel

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/par"
)

// DegreeCutoff is the least weight of a pair that BandwidthForDegree counts as neighbours,
// by default.
const DegreeCutoff = 1e-3

// BandwidthForDegree returns the bandwidth at which points have the given mean number of
// neighbours, and the radius within which these are. A neighbour is a point with a weight
// of cutoff or more; a cutoff of 0 means DegreeCutoff. The distances of a sample of points
// decide: of 256 points, of fewer where points are many or have many columns, and of 64 at
// least. On uniform points of 2 to 10,000 columns the mean is off by less than a tenth where
// 256 are sampled. Where some points have many times the neighbours of others it is off by
// more, since the sample may have more or fewer of these: with clusters of different sizes
// and densities by a tenth to a third, with heavy tails by half. Of a few points no radius
// may give the mean exactly. MeanNeighbours says what a graph has. A given sigma is a poor
// control: on unit features a factor of two of sigma leads from a graph in which every row
// is isolated to one that has nearly every pair.
func (p *Points) BandwidthForDegree(ctx context.Context, degree, cutoff float64, opt *Options) (_ Bandwidth, _ float64, err error) {
	defer par.Catch(&err)
	o, err := opt.agreed(ctx)
	if err != nil {
		return Bandwidth{}, 0, err
	}
	pts := p.rows
	if cutoff == 0 {
		cutoff = DegreeCutoff
	}
	if !(cutoff > 0 && cutoff < 1) {
		return Bandwidth{}, 0, fmt.Errorf("kernel: %w: cutoff weight %g, want a number between 0 and 1", ErrOption, cutoff)
	}
	if pts.N == 1 {
		return Bandwidth{}, 0, fmt.Errorf("kernel: %w: a single point has no neighbours to find a bandwidth by", ErrOption)
	}
	if !(degree > 0) || degree > float64(pts.N-1) {
		return Bandwidth{}, 0, fmt.Errorf("kernel: %w: mean degree %g, want more than 0 and at most %d, the number of other points", ErrOption, degree, pts.N-1)
	}
	pr, err := p.profile(ctx, o)
	if err != nil {
		return Bandwidth{}, 0, err
	}
	if equal := pr.Equals(); equal >= degree {
		return Bandwidth{}, 0, fmt.Errorf("kernel: %w: a point is equal to %.4g others on average, so no radius gives a mean degree of %g", ErrBandwidth, equal, degree)
	}
	radius := pr.RadiusFor(degree)
	b := Gamma(-math.Log(cutoff) / (radius * radius))
	return b, radius, base.CheckBandwidth(pts, b.own)
}
