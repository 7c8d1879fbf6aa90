package poly

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
)

// A polyProjection is the coordinates of the rows of a frame along a few
// orthonormal axes, v_i = A y_i, and the lengths of the rest, r_i = y_i - A'v_i. Terms of
// degree 2 and more are then made of v_i.v_j = u_ij - r_i.r_j in place of u_ij, of
// which there are far fewer in many dimensions, while the linear term stays whole.
// That changes p(u_ij) by at most
//
//	slope |r_i| |r_j|,   slope = sum over r >= 2 of r |a_r| t^(r-1),
//
// whatever the axes are; good ones make the rest short.
type polyProjection struct {
	m     int
	low   []float32 // v_i, n x m
	norm2 []float64 // |v_i|^2
	rest  []float64 // |r_i|, from above
	most  float64   // of rest
}

// polyAxes is the largest number of axes.
const polyAxes = 64

// principalAxes returns orthonormal axes, m x d, along which some rows vary most,
// those of the largest variance first: orthogonal iteration, begun with rows.
func principalAxes(kernels *simd.Kernels, rows []float64, count, d, m int) []float64 {
	axes := make([]float64, m*d)
	for a := range m {
		copy(axes[a*d:][:d], rows[a*count/m*d:][:d])
	}
	along := make([]float64, count*m)
	for range 6 {
		orthonormalize(axes, m, d)
		kernels.Dots64(simd.RowsOf(along, count), simd.RowsOf(axes, d), simd.RowsOf(rows, d), m, count, d)
		clear(axes)
		for a := range m {
			kernels.AddRows(axes[a*d:][:d], along[a*count:][:count], simd.RowsOf(rows, d))
		}
	}
	orthonormalize(axes, m, d)
	return axes
}

// orthonormalize makes m rows orthonormal, by Gram and Schmidt, twice. A row that
// the others span becomes zero, which is as good as any: it has no coordinates.
func orthonormalize(axes []float64, m, d int) {
	for a := range m {
		row := axes[a*d:][:d]
		before := norm(row)
		for range 2 {
			for b := range a {
				other := axes[b*d:][:d]
				along := 0.0
				for c, v := range other {
					along += v * row[c]
				}
				for c, v := range other {
					row[c] -= along * v
				}
			}
		}
		length := norm(row)
		if !(length > 1e-10*before) {
			clear(row)
			continue
		}
		for c := range row {
			row[c] /= length
		}
	}
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// project returns the coordinates of all rows along axes.
func (fr *polyFrame) project(ctx context.Context, axes []float64, m int, o *base.Options) (*polyProjection, error) {
	n, d := fr.p.N, fr.p.D
	p := &polyProjection{m: m, low: make([]float32, n*m), norm2: make([]float64, n), rest: make([]float64, n)}
	scratch := make([][]float64, o.Workers.Count())
	bounds := polyBounds(n, 1)
	progress := o.Stage("projection", o.OwnPieces(len(bounds)-1))
	if err := o.Share(ctx, len(bounds)-1, func(worker, chunk int) {
		if scratch[worker] == nil {
			scratch[worker] = make([]float64, polyPanel*(d+m))
		}
		y, v := scratch[worker][:polyPanel*d], scratch[worker][polyPanel*d:]
		for lo, end := bounds[chunk], bounds[chunk+1]; lo < end; lo += polyPanel {
			count := min(polyPanel, end-lo)
			fr.Load64(y, lo, lo+count)
			distance.Dots(o.Kernels, v, m, y, count, axes, m, d)
			for i := range count {
				sum := 0.0
				for a, x := range v[i*m:][:m] {
					single := float32(x)
					p.low[(lo+i)*m+a] = single
					sum += float64(single) * float64(single)
				}
				p.norm2[lo+i] = sum
				// Coordinates are rounded to float32; the axes are orthonormal to 1e-13.
				p.rest[lo+i] = math.Sqrt(max(fr.norm2[lo+i]-sum, 0) + 0x1p-22*fr.norm2[lo+i])
			}
		}
		progress.Add()
	}); err != nil {
		return nil, err
	}
	if err := base.GatherRows(ctx, o, p.low, bounds, m); err != nil {
		return nil, err
	}
	for _, lengths := range [][]float64{p.norm2, p.rest} {
		if err := base.GatherRows(ctx, o, lengths, bounds, 1); err != nil {
			return nil, err
		}
	}
	for _, v := range p.rest {
		p.most = max(p.most, v)
	}
	return p, nil
}

// polyLowSlack bounds how far v_i.v_j is off for coordinates in float32 and axes that
// are orthonormal to 1e-13, relative to the reach.
const polyLowSlack = 0x1p-22
