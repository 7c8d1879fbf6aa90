package poly

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A polyFrame is the points as poly sees them: moved to a centre and scaled,
//
//	y_i = sqrt(2 Gamma) (p_i - centre),   w_ij = f_i f_j exp(y_i.y_j),   f_i = exp(-|y_i|^2/2).
//
// They are not stored but made panel by panel from the points. In a single frame
// y is rounded to float32, and everything else follows from the rounded numbers;
// what that changes in a weight is bounded by move.
type polyFrame struct {
	p        *rows.Points
	single   bool
	centre   []float64 // nil when it is the origin
	scale    float64
	InPlace  bool    // panels of float64 are the points themselves; coefficients carry the scale
	square   float64 // of the scale, where it is needed
	centre32 []float32
	scale32  float32
	kernels  *simd.Kernels

	norm2  []float64 // |y_i|^2
	radius float64   // no |y_i| is larger
	move   float64   // relative error of a weight for rounding y and f
}

// newPolyFrame measures the points. The centre is their mean, which makes the
// inner products of the rows small; any would be right.
func newPolyFrame(ctx context.Context, p *rows.Points, b base.Bandwidth, single bool, o *base.Options) (*polyFrame, error) {
	fr := &polyFrame{p: p, single: single, scale: math.Sqrt(2 * b.Gamma()), kernels: o.Kernels}
	bounds := polyBounds(p.N, 1)
	sums := make([]float64, (len(bounds)-1)*p.D)
	if err := o.Share(ctx, len(bounds)-1, func(_, chunk int) {
		sum := sums[chunk*p.D:][:p.D]
		if p.Double.Data != nil {
			addRows(sum, p.Double, bounds[chunk], bounds[chunk+1])
		} else {
			addRows(sum, p.Single, bounds[chunk], bounds[chunk+1])
		}
	}); err != nil {
		return nil, err
	}
	if err := base.GatherPieces(ctx, o, sums, len(bounds)-1, func(chunk int) int { return chunk * p.D }); err != nil {
		return nil, err
	}
	fr.centre = make([]float64, p.D)
	for i, v := range sums {
		fr.centre[i%p.D] += v
	}
	for c := range fr.centre {
		// Within the box: equal points are then at the centre exactly.
		fr.centre[c] = min(max(fr.centre[c]/float64(p.N), p.Lo[c]), p.Hi[c])
	}
	if single {
		fr.scale32, fr.centre32 = float32(fr.scale), make([]float32, p.D)
		fr.scale = float64(fr.scale32)
		for c, v := range fr.centre {
			fr.centre32[c] = float32(v)
			fr.centre[c] = float64(fr.centre32[c])
		}
	}
	return fr, fr.measure(ctx, o)
}

// addRows adds the rows lo to hi-1 to sum, fours at a time.
func addRows[T rows.Float](sum []float64, b rows.View[T], lo, hi int) {
	i := lo
	for ; i+4 <= hi; i += 4 {
		r0, r1, r2, r3 := b.Row(i), b.Row(i+1), b.Row(i+2), b.Row(i+3)
		r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
		for c, v := range r0 {
			sum[c] += (float64(v) + float64(r1[c])) + (float64(r2[c]) + float64(r3[c]))
		}
	}
	for ; i < hi; i++ {
		for c, v := range b.Row(i) {
			sum[c] += float64(v)
		}
	}
}

// measure sets the norms and what follows from them.
func (fr *polyFrame) measure(ctx context.Context, o *base.Options) error {
	n, d := fr.p.N, fr.p.D
	fr.norm2 = make([]float64, n)
	scratch := make([][]float64, o.Workers.Count())
	bounds := polyBounds(n, 1)
	if err := o.Share(ctx, len(bounds)-1, func(worker, chunk int) {
		if scratch[worker] == nil {
			scratch[worker] = make([]float64, d)
		}
		y := scratch[worker]
		for i := bounds[chunk]; i < bounds[chunk+1]; i++ {
			fr.Load64(y, i, i+1)
			sum := 0.0
			for _, v := range y {
				sum += v * v
			}
			fr.norm2[i] = sum
		}
	}); err != nil {
		return err
	}
	if err := base.GatherRows(ctx, o, fr.norm2, bounds, 1); err != nil {
		return err
	}
	most := 0.0
	for _, v := range fr.norm2 {
		if !(v <= most) {
			most = v // and a NaN stays
		}
	}
	if math.IsNaN(most) {
		most = math.Inf(1)
	}
	fr.radius = math.Sqrt(most) * (1 + float64(d+4)*0x1p-53)
	// A coordinate is subtracted, multiplied, and the scale itself is rounded:
	// |dy| <= 3 units |y|. It changes |y_i - y_j|^2/2 by at most
	// |y_i - y_j| (|dy_i| + |dy_j|) + (|dy_i| + |dy_j|)^2/2. Then there are the
	// norm and the exponential of f_i and f_j.
	unit := 0x1p-53
	if fr.single {
		unit = 0x1p-24
	}
	reach := fr.radius * fr.radius
	fr.move = 0
	if reach > 0 {
		fr.move = math.Expm1(reach*(12.1*unit+float64(d+4)*0x1p-53)) + 0x1p-50
	}
	return nil
}

// fits reports whether the numbers of a single frame are in the range of float32.
func (fr *polyFrame) fits() bool {
	return !fr.single || (fr.scale32 >= 0x1p-100 && fr.scale32 <= 0x1p100 && !math.IsInf(fr.radius, 0))
}

// load32 writes the rows lo to hi-1 to dst.
func (fr *polyFrame) load32(dst []float32, lo, hi int) {
	p := fr.p.Single
	fr.kernels.Centre(simd.RowsOf(dst, p.Cols), simd.RowsOf(p.Data[lo*p.Stride:], p.Stride), hi-lo, fr.centre32, fr.scale32)
}

// sums32 and products32 are MulTrans and Dots of the rows lo to hi-1.
func (fr *polyFrame) sums32(dst, w simd.Rows[float32], k, lo, hi int) {
	p := fr.p.Single
	fr.kernels.CentredMulTrans(dst, w, simd.RowsOf(p.Data[lo*p.Stride:], p.Stride), k, hi-lo, fr.centre32, fr.scale32)
}

func (fr *polyFrame) products32(dst, b simd.Rows[float32], k, lo, hi int) {
	p := fr.p.Single
	fr.kernels.CentredDots(dst, b, simd.RowsOf(p.Data[lo*p.Stride:], p.Stride), k, hi-lo, fr.centre32, fr.scale32)
}

// Load64 writes the rows lo to hi-1 to dst: the same numbers as load32 in a
// single frame.
func (fr *polyFrame) Load64(dst []float64, lo, hi int) {
	d := fr.p.D
	for i := lo; i < hi; i++ {
		row := dst[(i-lo)*d:][:d]
		switch {
		case fr.single:
			for c, v := range fr.p.Single.Row(i) {
				row[c] = float64(float32(v-fr.centre32[c]) * fr.scale32)
			}
		case fr.centre == nil:
			for c, v := range fr.p.Double.Row(i) {
				row[c] = v * fr.scale
			}
		case fr.p.Double.Data != nil:
			for c, v := range fr.p.Double.Row(i) {
				row[c] = (v - fr.centre[c]) * fr.scale
			}
		default:
			for c, v := range fr.p.Single.Row(i) {
				row[c] = (float64(v) - fr.centre[c]) * fr.scale
			}
		}
	}
}

// panel64 returns the rows lo to hi-1 for a pass in float64, where they are or in dst.
func (fr *polyFrame) panel64(dst []float64, lo, hi int) simd.Rows[float64] {
	if fr.InPlace {
		return simd.RowsOf(fr.p.Double.Data[lo*fr.p.Double.Stride:], fr.p.Double.Stride)
	}
	fr.Load64(dst, lo, hi)
	return simd.RowsOf(dst, fr.p.D)
}

// coefficients returns those of a series in u for the products of rows of panel64: where
// the scale is not in the rows, that of degree r is multiplied by the scale squared, r times.
func (fr *polyFrame) coefficients(s Series) []float64 {
	if !fr.InPlace {
		return s.A
	}
	a, power := slices.Clone(s.A), 1.0
	for r := range a {
		a[r] *= power
		power *= fr.square
	}
	return a
}

// polyBounds splits n rows into chunks, the same for any number of workers: many,
// to share them out, but few where each has sums of many terms.
func polyBounds(n, terms int) []int {
	chunks := max(8, min(256, 1<<22/terms))
	rows := max(4*polyPanel, split.Blocks(split.Blocks(n, chunks), polyPanel)*polyPanel)
	return base.ChunkBounds(n, rows)
}

// polyPanel is the number of rows that are made and used together. Sums over a
// panel may be float32; sums over panels are float64.
const polyPanel = 64
