package kernel

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// maxDirect is the largest dimension in which all distances are differences. Above it a
// matrix product does most of the work of a distancer. It is also the largest dimension in
// which nearest neighbours are found by a tree and in which there is the operator pairs.
// Which search finds the pairs within a radius is chosen by its cost (search_choice.go).
const maxDirect = 8

// distancer computes squared distances between blocks of points.
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
type distancer struct {
	p       *rows.Points
	rows    []uint32 // rows of p that take part; nil for all of them
	n       int
	kernels *simd.Kernels
	direct  bool
	centre  []float64
	norm2   []float64 // |z_i|^2 of the rows that take part
	most    float64   // the largest of them
	slack   float64   // error of a squared distance, relative to |z_i|^2 + |z_j|^2
}

// blockRows is the number of rows of a block: 256 x 256 float64 distances are
// 512 KiB, which stays in a second-level cache.
const blockRows = 256

func newDistancer(ctx context.Context, p *rows.Points, rows []uint32, workers *par.Workers, kernels *simd.Kernels) (*distancer, error) {
	q := &distancer{p: p, rows: rows, n: p.N, kernels: kernels, direct: p.D <= maxDirect}
	if rows != nil {
		q.n = len(rows)
	}
	if q.direct {
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
	if d <= maxDirect {
		return 0
	}
	return (4*float64(d) + 24) * 0x1p-53
}

// newUnitDistancer is for rows of unit norm, with the origin as the centre: the
// middle of their box may be as far as sqrt(d) from them, and the error of the
// product form grows with the square of that. The weights of unit rows have an
// error bound of their own, so slack is not set.
func newUnitDistancer(ctx context.Context, p *rows.Points, workers *par.Workers, kernels *simd.Kernels) (*distancer, error) {
	q := &distancer{p: p, n: p.N, kernels: kernels, direct: p.D <= maxDirect}
	if q.direct {
		return q, nil
	}
	return q, q.setNorms(ctx, workers)
}

func (q *distancer) setNorms(ctx context.Context, workers *par.Workers) error {
	q.norm2 = make([]float64, q.n)
	const rowsPerPiece = 64
	err := workers.Do(ctx, split.Blocks(q.n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, q.n, rowsPerPiece)
		z := make([]float64, q.p.D)
		for i := lo; i < hi; i++ {
			q.load(z, i, i+1)
			for _, v := range z {
				q.norm2[i] = math.FMA(v, v, q.norm2[i])
			}
		}
	}))
	for _, v := range q.norm2 {
		q.most = max(q.most, v)
	}
	return err
}

// given returns the row of the points that row i stands for.
func (q *distancer) given(i int) int {
	if q.rows == nil {
		return i
	}
	return int(q.rows[i])
}

// exact returns the squared distance of rows i and j by differences.
func (q *distancer) exact(i, j int) float64 { return q.p.Dist2(q.given(i), q.given(j)) }

// load copies rows lo to hi-1 to dst: centred for the product form, as given
// (and so without rounding) for the difference form.
func (q *distancer) load(dst []float64, lo, hi int) {
	d := q.p.D
	for i := lo; i < hi; i++ {
		row := dst[(i-lo)*d:][:d]
		q.p.CopyRow(row, q.given(i))
		for c := range q.centre {
			row[c] -= q.centre[c]
		}
	}
}

// asGiven tells whether loaded rows are those of the points, in their place.
func (q *distancer) asGiven() bool {
	return q.rows == nil && q.centre == nil && q.p.Double.Data != nil && q.p.Double.Stride == q.p.D
}

// loaded returns rows lo to hi-1 as load copies them, in the scratch memory or where the
// points have them.
func (q *distancer) loaded(scratch []float64, lo, hi int) []float64 {
	if d := q.p.D; q.asGiven() {
		return q.p.Double.Data[lo*d : hi*d]
	}
	q.load(scratch, lo, hi)
	return scratch
}

// A distanceScratch is the scratch memory of a worker: two blocks of points and the
// distances between them.
type distanceScratch struct {
	a, b   []float64 // the points of the two blocks; nil where they are taken as given
	d2     []float64 // squared distances, row i of a at i*stride
	stride int
	axes   []float64 // by coordinate, the points of the second block, where distances are differences
}

func newDistanceScratch(q *distancer) *distanceScratch {
	t := &distanceScratch{d2: make([]float64, blockRows*blockRows), stride: blockRows}
	if !q.asGiven() {
		t.a, t.b = make([]float64, blockRows*q.p.D), make([]float64, blockRows*q.p.D)
	}
	if q.direct {
		t.axes = make([]float64, blockRows*q.p.D)
	}
	return t
}

// distanceScratchBytes bounds its memory, with what the kernel of the products keeps.
func distanceScratchBytes(d int) int64 {
	const packed = 300 << 10
	return 8*(2*blockRows*int64(d)+blockRows*blockRows) + packed
}

// row returns the squared distances of row i of a to the first n rows of b.
func (t *distanceScratch) row(i, n int) []float64 { return t.d2[i*t.stride:][:n] }

// fill computes the squared distances of the rows alo.. to the rows blo.. .
func (q *distancer) fill(t *distanceScratch, alo, ahi, blo, bhi int) {
	a := q.loaded(t.a, alo, ahi)
	b := a
	if blo != alo {
		b = q.loaded(t.b, blo, bhi)
	}
	q.measure(t, a, q.norms(alo, ahi), ahi-alo, b, q.norms(blo, bhi), bhi-blo)
}

func (q *distancer) norms(lo, hi int) []float64 {
	if q.direct {
		return nil
	}
	return q.norm2[lo:hi]
}

// measure computes the squared distances of na loaded rows to nb loaded rows.
func (q *distancer) measure(t *distanceScratch, a, anorm2 []float64, na int, b, bnorm2 []float64, nb int) {
	d := q.p.D
	if q.direct {
		for j := range nb {
			for c, v := range b[j*d:][:d] {
				t.axes[c*blockRows+j] = v
			}
		}
		for i := range na {
			t.differences(t.row(i, nb), a[i*d:][:d])
		}
		return
	}
	dots(q.kernels, t.d2, t.stride, a, na, b, nb, d)
	for i, n2 := range anorm2 {
		q.kernels.DotsToSqDists64(t.row(i, nb), n2, bnorm2)
	}
}

// differences sets row to the squared distances of z to the rows whose coordinates are in
// axes, with the bits of rows.Dist2.
func (t *distanceScratch) differences(row, z []float64) {
	clear(row)
	for c, v := range z {
		for j, x := range t.axes[c*blockRows:][:len(row)] {
			e := v - x
			row[j] += float64(e * e)
		}
	}
}

// error2 bounds the error of the filled squared distance of rows i and j.
func (q *distancer) error2(i, j int) float64 {
	if q.direct {
		return 0
	}
	return q.slack * (q.norm2[i] + q.norm2[j])
}

// maxWeightError is the relative error of a weight up to which the product
// form of its distance is good enough; beyond it differences are taken. It is
// far below float32 and leaves ordinary features to the product form: the
// bound of unit rows in 1280 dimensions at sigma 0.35 is 5e-12.
const maxWeightError = 0x1p-34

// Weights below exp(-maxExponent), 1e-300, count as zero: next to the smallest
// float64 they would have no precision left. A row is isolated when its degree
// is below minDegree, so that all that any row drops is below n 1e-20 of its
// degree.
const (
	maxExponent = 690
	minDegree   = 1e-280
)

// weigh turns the filled squared distances of row i to the rows from lo on into weights
// exp(-gamma d2), within maxWeightError and a few units in the last place.
func (q *distancer) weigh(b Bandwidth, d2 []float64, i, lo int) {
	if !q.direct && b.gamma*q.slack*(q.norm2[i]+q.most) > maxWeightError {
		for j, v := range d2 {
			if e := b.gamma * q.error2(i, lo+j); e > maxWeightError && b.gamma*v-e < maxExponent {
				d2[j] = q.exact(i, lo+j)
			}
		}
	}
	q.kernels.Weights64(d2, d2, b.gamma, 0, maxExponent)
}

// weightRel bounds the relative error of a weight of weigh where no squared norm is above most:
// the distance, the product Gamma d2 (at most maxExponent) and the exponential.
func weightRel(b Bandwidth, d int, most float64) float64 {
	return min(b.gamma*productSlack(d)*2*most, maxWeightError) + directRel(d)
}

// directRel bounds the relative error of a weight whose distance was computed
// by differences.
func directRel(d int) float64 { return maxExponent*float64(d+4)*0x1p-53 + 0x1p-51 }
