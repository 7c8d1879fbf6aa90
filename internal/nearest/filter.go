package nearest

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// A filter has the gallery in float32 and a bound of the error.
//
// Rows x become y = s (x - c) in float32. Here c is about the middle of the gallery, so that
// a middle far from zero does no harm, and s is a power of two that brings every row to a
// length of at most 1, so that nothing overflows. With D the true distance of a query from a
// row, y and z their images, and e, f the lengths of their rounding errors,
//
//	| s D - |y - z| | <= e + f.
//
// From the inner product p of y and z that simd.Dots computes,
//
//	| |y - z|^2 - (|y|^2 + |z|^2 - 2p) | <= b (|y|^2 + |z|^2) + tiny,  b = (d/4 + 6) 2^-24,
//
// as the error of p is at most b |y| |z| <= b (|y|^2 + |z|^2) / 2 where nothing underflows,
// and d 2^-149 more where it does. The squared distance S that decides is a float64 sum:
//
//	(1 - r) D^2 - u <= S <= (1 + r) D^2 + u,  r = (d + 4) 2^-53, u = d 2^-1074.
//
// So each p gives an upper and a lower bound of s^2 S. A row whose lower bound is above the
// upper bounds of k others is not among the k nearest, whatever its number. The float64
// arithmetic of the bounds is itself rounded; b, r and lengths are increased a little, by
// far more than that.
type filter[M points.Matrix] struct {
	*search[M]
	kernels     *simd.Kernels
	centre      []float64 // c
	scale       float64   // s
	b, tiny     float64
	r, u        float64   // u in units of s^2
	image       []float32 // z, row after row
	norm        []float64 // |z|^2
	missed      []float64 // f
	galleryTile int       // rows multiplied at a time
}

// Rows are not filtered if their largest number, less the centre, is outside of this
// range: squares of float64 would overflow or underflow.
const smallest, largest = 1e-140, 1e140

// newFilter returns nil if the numbers are too large or too small.
func newFilter[M points.Matrix](ctx context.Context, s *search[M], settings Settings) (*filter[M], error) {
	f := &filter[M]{search: s, kernels: settings.Kernels}
	if f.kernels == nil {
		f.kernels = simd.At(simd.Best())
	}
	f.setCentre()
	size, err := f.size(ctx, settings.Workers)
	if err != nil || !(size == 0 || size >= smallest && size <= largest) {
		return nil, err
	}
	d := float64(s.d)
	f.scale = 1
	if size > 0 {
		_, exponent := math.Frexp(size * math.Sqrt(d) * (1 + 1e-9))
		f.scale = math.Ldexp(1, -exponent)
	}
	f.b = (d/4+6)*0x1p-24*(1+1e-6) + (d+100)*0x1p-51
	f.tiny = d * 0x1p-148
	f.r = (d + 8) * 0x1p-52
	f.u = 2 * d * (f.scale * 0x1p-537) * (f.scale * 0x1p-537)
	f.galleryTile = min(max(96*1024/s.d, 8), tileQueries)
	return f, f.load(ctx, settings.Workers)
}

// setCentre takes the median of some rows spread over the gallery, column by column. Any
// centre is correct, one near most of the rows is good, and single rows far from the others
// must not move it.
func (f *filter[M]) setCentre() {
	const most = 33
	rows := f.galleryRows
	count := min(most, len(rows))
	f.centre = make([]float64, f.d)
	sample, column := make([]float64, count*f.d), make([]float64, count)
	for i := range count {
		points.ReadRow(sample[i*f.d:][:f.d], f.gallery, rows[split.Part(len(rows), i, count)])
	}
	for j := range f.centre {
		for i := range column {
			column[i] = sample[i*f.d+j]
		}
		slices.Sort(column)
		f.centre[j] = column[count/2]
	}
}

// size returns the largest magnitude of a coordinate of all rows, less the centre.
func (f *filter[M]) size(ctx context.Context, workers *par.Workers) (float64, error) {
	const rows = 256
	of := func(x M, list []int) (float64, error) {
		sizes := make([]float64, split.Blocks(len(list), rows))
		err := workers.Do(ctx, len(sizes), par.Func(func(_, piece int) {
			lo, hi := split.Block(piece, len(list), rows)
			row := make([]float64, f.d)
			for _, i := range list[lo:hi] {
				points.ReadRow(row, x, i)
				for j, v := range row {
					sizes[piece] = max(sizes[piece], math.Abs(v-f.centre[j]))
				}
			}
		}))
		size := 0.0
		for _, v := range sizes {
			size = max(size, v) // also a NaN
		}
		return size, err
	}
	gallery, err := of(f.gallery, f.galleryRows)
	if err != nil {
		return 0, err
	}
	queries, err := of(f.queries, f.queryRows)
	return max(gallery, queries), err
}

// load computes the images of the gallery.
func (f *filter[M]) load(ctx context.Context, workers *par.Workers) error {
	n := len(f.galleryRows)
	f.image = make([]float32, n*f.d)
	f.norm, f.missed = make([]float64, n), make([]float64, n)
	const rows = 256
	return workers.Do(ctx, split.Blocks(n, rows), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, rows)
		row := make([]float64, f.d)
		for i := lo; i < hi; i++ {
			points.ReadRow(row, f.gallery, f.galleryRows[i])
			f.norm[i], f.missed[i] = f.round(f.image[i*f.d:][:f.d], row)
		}
	}))
}

// round sets y to the image of a row. It returns the squared length of y and a bound of the
// length of its rounding error.
func (f *filter[M]) round(y []float32, row []float64) (norm, missed float64) {
	length, off := 0.0, 0.0
	for j, v := range row {
		v = (v - f.centre[j]) * f.scale
		y[j] = float32(v)
		rounded := float64(y[j])
		norm += rounded * rounded
		length += v * v
		off += (v - rounded) * (v - rounded)
	}
	// The difference from the centre was also rounded, by 2^-53 of it.
	return norm, (math.Sqrt(off)+0x1p-52*math.Sqrt(length))*(1+1e-9) + 0x1p-400
}

// A limit is the value that the inner product of a query with a row must reach.
type limit struct{ base, slope float64 }

// limitOf returns the limit of a query if k rows have squared distances of at most upper,
// in units of s^2. Row i stays if
//
//	2p >= base + (1 - b) |z_i|^2 - f_i^2 - slope f_i.
func (f *filter[M]) limitOf(norm, missed, upper float64) limit {
	reach := (math.Sqrt((upper+f.u)*(1+2*f.r))+missed)*(1+0x1p-40) + 0x1p-400
	return limit{base: (1-f.b)*norm - f.tiny - reach*reach, slope: 2 * reach}
}

// need returns the part of the condition for row i that is the same for all queries.
func (f *filter[M]) need(i int) float64 { return (1-f.b)*f.norm[i] - f.missed[i]*f.missed[i] }

// stays reports whether row i, with inner product p, reaches the limit.
func (f *filter[M]) stays(l limit, i int, p float32) bool {
	return !(2*float64(p) < l.base+f.need(i)-l.slope*f.missed[i])
}

// upper returns a bound of the squared distance of a query from row i, in units of s^2.
func (f *filter[M]) upper(norm, missed float64, i int, p float32) float64 {
	square := (1+f.b)*(norm+f.norm[i]) - 2*float64(p) + f.tiny
	length := (math.Sqrt(max(square, 0)) + missed + f.missed[i]) * (1 + 0x1p-40)
	return length*length*(1+f.r) + f.u
}
