package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pairwise"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// Points are rows of float32 coordinates that Open has checked and measured. Their
// methods share one sample of distances: the first call that needs it takes it, and the
// calls after that find it there.
//
// Points are safe for concurrent use. The coordinates stay where they are: they are
// read during the life of the Points and must not change.
type Points struct {
	rows *rows.Points

	turn   chan struct{}    // has room for one: who puts a token there may touch sample
	sample *profile.Profile // nil until it has been taken
}

// Open checks the coordinates of points, one point a row, and finds their bounding box.
// Of the options it uses Workers and Kernels. Errors: ErrEmpty, ErrShape,
// *privatemail.NonFiniteError, and ErrOption for options out of range.
func Open(p blas32.General, opt *Options) (*Points, error) {
	o, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	alone := *o
	alone.Ranks = nil // they are not waited for without a context
	return openWith(context.Background(), &alone, p)
}

// openShared is Open for ranks, which share the work and call it together.
func openShared(ctx context.Context, p blas32.General, opt *Options) (*Points, error) {
	o, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	return openWith(ctx, o, p)
}

// openWith opens points. The options have every default filled in.
func openWith(ctx context.Context, o *base.Options, p blas32.General) (*Points, error) {
	pts, err := base.Points32(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return &Points{rows: pts, turn: make(chan struct{}, 1)}, nil
}

// options fills in the defaults of a call, and refuses a bandwidth that does not suit the
// points.
func (p *Points) options(ctx context.Context, b Bandwidth, opt *Options) (*base.Options, error) {
	o, err := opt.agreed(ctx)
	if err != nil {
		return nil, err
	}
	return o, base.CheckBandwidth(p.rows, b.own)
}

// profile returns the sample of distances. It is the same whatever the options are; only
// whether there is enough memory to take it depends on them. The caller gets a copy, which
// may remember what it was last asked.
func (p *Points) profile(ctx context.Context, o *base.Options) (*profile.Profile, error) {
	if err := profile.Refuse(p.rows, o); err != nil {
		return nil, err
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("kernel: sample of distances: %w", ctx.Err())
	}
	if p.sample == nil {
		sample, err := profile.Take(ctx, p.rows, o)
		if err != nil {
			return nil, err
		}
		p.sample = sample
	}
	pr := *p.sample
	return &pr, nil
}

// foreseenSample returns the sample of distances, nil where none was taken.
func (p *Points) foreseenSample(o *base.Options) *profile.Profile {
	if o.CutoffRadius == 0 {
		return nil
	}
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if p.sample == nil {
		return nil
	}
	pr := *p.sample
	return &pr
}

// open validates what a builder is given and fills in the defaults.
func open(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (*Points, *base.Options, error) {
	pts, err := openShared(ctx, p, opt)
	if err != nil {
		return nil, nil, err
	}
	o, err := pts.options(ctx, b, opt)
	return pts, o, err
}

// openEither opens points in either precision for one bandwidth.
func openEither[M points.Matrix](ctx context.Context, p M, b Bandwidth, opt *Options) (*rows.Points, *base.Options, error) {
	if single, ok := any(p).(blas32.General); ok {
		pts, o, err := open(ctx, single, b, opt)
		if err != nil {
			return nil, nil, err
		}
		return pts.rows, o, nil
	}
	o, err := opt.agreed(ctx)
	if err != nil {
		return nil, nil, err
	}
	pts, err := base.Points64(ctx, any(p).(blas64.General), o)
	if err != nil {
		return nil, nil, err
	}
	return pts, o, base.CheckBandwidth(pts, b.own)
}

// NewDense builds the operator dense of points in either precision: the Gaussian kernel of
// every pair, in float64. Building it takes one pass over all pairs, for the degrees. The
// operator reads the points as long as it lives; they must not change.
func NewDense[M points.Matrix](ctx context.Context, p M, b Bandwidth, opt *Options) (Operator64, error) {
	pts, o, err := openEither(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	return publicOr[Operator64](pairwise.NewDense(ctx, pts, nil, b.own, o))
}
