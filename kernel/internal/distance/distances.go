// Package distance measures squared distances between blocks of points, with a bound of their
// error, and makes weights of them: of any points, and of unit rows. A tournament lets every
// block meet every other.
package distance

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Distancer computes squared distances between blocks of points.
//
// In few dimensions it takes differences. In many it uses
//
//	|z_i - z_j|^2 = |z_i|^2 + |z_j|^2 - 2 z_i.z_j,   z = p - centre,
//
// whose products are a matrix product. That form cancels where points are
// close against their distance from the centre, so every value comes with a
// rigorous bound and the callers ask for differences where it does not do:
// with u = 2^-53, the sums contribute 2 d u, centring and the last additions
// at most 10 u, each times |z_i|^2 + |z_j|^2, in any order of summation.
//
// Squared norms are summed as products are (simd.Kernels.Dots64), so that equal rows are at
// distance 0. With the build tag netlib a system's library sums the products, in an order
// of its own, and equal rows are within the bound of 0.
type Distancer struct {
	P       *rows.Points
	rows    []uint32 // rows of p that take part; nil for all of them
	N       int
	kernels *simd.Kernels
	Direct  bool
	centre  []float64
	Norm2   []float64 // |z_i|^2 of the rows that take part
	Most    float64   // the largest of them
	slack   float64   // error of a squared distance, relative to |z_i|^2 + |z_j|^2
}

// BlockRows is the number of rows of a block: 256 x 256 float64 distances are
// 512 KiB, which stays in a second-level cache.
const BlockRows = 256

// NewDistancer returns a distancer of the given rows of p, of all where there are none given.
func NewDistancer(ctx context.Context, p *rows.Points, rows []uint32, workers *par.Workers, kernels *simd.Kernels) (*Distancer, error) {
	q := &Distancer{P: p, rows: rows, N: p.N, kernels: kernels, Direct: p.D <= base.MaxDirect}
	if rows != nil {
		q.N = len(rows)
	}
	if q.Direct {
		return q, nil
	}
	q.centre = make([]float64, p.D)
	for c := range q.centre {
		q.centre[c] = p.Lo[c] + (p.Hi[c]-p.Lo[c])/2
	}
	q.slack = productSlack(p.D)
	return q, q.setNorms(ctx, workers)
}

// productSlack is the error of a squared distance by products: twice their sums and
// those of the differences it is compared with. Where they may disagree, differences
// decide.
func productSlack(d int) float64 {
	if d <= base.MaxDirect {
		return 0
	}
	return (4*float64(d) + 24) * 0x1p-53
}

// NewUnitDistancer is for rows of unit norm, with the origin as the centre: the
// middle of their box may be as far as sqrt(d) from them, and the error of the
// product form grows with the square of that. The weights of unit rows have an
// error bound of their own, so slack is not set.
func NewUnitDistancer(ctx context.Context, p *rows.Points, workers *par.Workers, kernels *simd.Kernels) (*Distancer, error) {
	q := &Distancer{P: p, N: p.N, kernels: kernels, Direct: p.D <= base.MaxDirect}
	if q.Direct {
		return q, nil
	}
	return q, q.setNorms(ctx, workers)
}

func (q *Distancer) setNorms(ctx context.Context, workers *par.Workers) error {
	q.Norm2 = make([]float64, q.N)
	const rowsPerPiece = 64
	err := workers.Do(ctx, split.Blocks(q.N, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, q.N, rowsPerPiece)
		z := make([]float64, q.P.D)
		for i := lo; i < hi; i++ {
			q.Load(z, i, i+1)
			for _, v := range z {
				q.Norm2[i] = math.FMA(v, v, q.Norm2[i])
			}
		}
	}))
	for _, v := range q.Norm2 {
		q.Most = max(q.Most, v)
	}
	return err
}

// given returns the row of the points that row i stands for.
func (q *Distancer) given(i int) int {
	if q.rows == nil {
		return i
	}
	return int(q.rows[i])
}

// Exact returns the squared distance of rows i and j by differences.
func (q *Distancer) Exact(i, j int) float64 { return q.P.Dist2(q.given(i), q.given(j)) }

// Load copies rows lo to hi-1 to dst: centred for the product form, as given
// (and so without rounding) for the difference form.
func (q *Distancer) Load(dst []float64, lo, hi int) {
	d := q.P.D
	for i := lo; i < hi; i++ {
		row := dst[(i-lo)*d:][:d]
		q.P.CopyRow(row, q.given(i))
		for c := range q.centre {
			row[c] -= q.centre[c]
		}
	}
}

// asGiven reports whether loaded rows are those of the points, in their place.
func (q *Distancer) asGiven() bool {
	return q.rows == nil && q.centre == nil && q.P.Double.Data != nil && q.P.Double.Stride == q.P.D
}

// loaded returns rows lo to hi-1 as load copies them, in the scratch memory or where the
// points have them.
func (q *Distancer) loaded(scratch []float64, lo, hi int) []float64 {
	if d := q.P.D; q.asGiven() {
		return q.P.Double.Data[lo*d : hi*d]
	}
	q.Load(scratch, lo, hi)
	return scratch
}

// A DistanceScratch is the scratch memory of a worker: two blocks of points and the
// distances between them.
type DistanceScratch struct {
	A, B   []float64 // the points of the two blocks; nil where they are taken as given
	D2     []float64 // squared distances, row i of a at i*stride
	Stride int
	axes   []float64 // by coordinate, the points of the second block, where distances are differences
}

// NewDistanceScratch makes the scratch memory of a worker.
func NewDistanceScratch(q *Distancer) *DistanceScratch {
	t := &DistanceScratch{D2: make([]float64, BlockRows*BlockRows), Stride: BlockRows}
	if !q.asGiven() {
		t.A, t.B = make([]float64, BlockRows*q.P.D), make([]float64, BlockRows*q.P.D)
	}
	if q.Direct {
		t.axes = make([]float64, BlockRows*q.P.D)
	}
	return t
}

// DistanceScratchBytes bounds its memory, with what the kernel of the products keeps.
func DistanceScratchBytes(d int) int64 {
	const packed = 300 << 10
	return 8*(2*BlockRows*int64(d)+BlockRows*BlockRows) + packed
}

// Row returns the squared distances of row i of a to the first n rows of b.
func (t *DistanceScratch) Row(i, n int) []float64 { return t.D2[i*t.Stride:][:n] }

// Fill computes the squared distances of the rows alo.. to the rows blo.. .
func (q *Distancer) Fill(t *DistanceScratch, alo, ahi, blo, bhi int) {
	a := q.loaded(t.A, alo, ahi)
	b := a
	if blo != alo {
		b = q.loaded(t.B, blo, bhi)
	}
	q.Measure(t, a, q.Norms(alo, ahi), ahi-alo, b, q.Norms(blo, bhi), bhi-blo)
}

// Norms returns the squared norms of rows lo to hi-1; nil where distances are differences.
func (q *Distancer) Norms(lo, hi int) []float64 {
	if q.Direct {
		return nil
	}
	return q.Norm2[lo:hi]
}

// Measure computes the squared distances of na loaded rows to nb loaded rows.
func (q *Distancer) Measure(t *DistanceScratch, a, anorm2 []float64, na int, b, bnorm2 []float64, nb int) {
	d := q.P.D
	if q.Direct {
		for j := range nb {
			for c, v := range b[j*d:][:d] {
				t.axes[c*BlockRows+j] = v
			}
		}
		for i := range na {
			t.differences(t.Row(i, nb), a[i*d:][:d])
		}
		return
	}
	Dots(q.kernels, t.D2, t.Stride, a, na, b, nb, d)
	for i, n2 := range anorm2 {
		q.kernels.DotsToSqDists64(t.Row(i, nb), n2, bnorm2)
	}
}

// differences sets row to the squared distances of z to the rows whose coordinates are in
// axes, with the bits of rows.Dist2.
func (t *DistanceScratch) differences(row, z []float64) {
	clear(row)
	for c, v := range z {
		for j, x := range t.axes[c*BlockRows:][:len(row)] {
			e := v - x
			row[j] += float64(e * e)
		}
	}
}

// Error2 bounds the error of the filled squared distance of rows i and j.
func (q *Distancer) Error2(i, j int) float64 {
	if q.Direct {
		return 0
	}
	return q.slack * (q.Norm2[i] + q.Norm2[j])
}

// maxWeightError is the relative error of a weight up to which the product
// form of its distance is good enough; beyond it differences are taken. It is
// far below float32 and leaves ordinary features to the product form: the
// bound of unit rows in 1280 dimensions at sigma 0.35 is 5e-12.
const maxWeightError = 0x1p-34

// Weights below exp(-maxExponent), 1e-300, count as zero: next to the smallest
// float64 they would have no precision left. A row is isolated when its degree
// is below MinDegree, so that all that any row drops is below n 1e-20 of its
// degree.
const (
	maxExponent = 690
	MinDegree   = 1e-280
)

// Weigh turns the filled squared distances of row i to the rows from lo on into weights
// exp(-gamma d2), within maxWeightError and a few units in the last place.
func (q *Distancer) Weigh(b base.Bandwidth, d2 []float64, i, lo int) {
	if !q.Direct && b.Gamma()*q.slack*(q.Norm2[i]+q.Most) > maxWeightError {
		for j, v := range d2 {
			if e := b.Gamma() * q.Error2(i, lo+j); e > maxWeightError && b.Gamma()*v-e < maxExponent {
				d2[j] = q.Exact(i, lo+j)
			}
		}
	}
	q.kernels.Weights64(d2, d2, b.Gamma(), 0, maxExponent)
}

// WeightRel bounds the relative error of a weight of weigh where no squared norm is above most:
// the distance, the product Gamma d2 (at most maxExponent) and the exponential.
func WeightRel(b base.Bandwidth, d int, most float64) float64 {
	return min(b.Gamma()*productSlack(d)*2*most, maxWeightError) + DirectRel(d)
}

// DirectRel bounds the relative error of a weight whose distance was computed
// by differences.
func DirectRel(d int) float64 { return maxExponent*float64(d+4)*0x1p-53 + 0x1p-51 }

// FoundRel bounds the relative error of a weight by simd.Weights whose distance was
// computed by differences.
func FoundRel(d int) float64 { return DirectRel(d) + 1.18*0x1p-24 }
