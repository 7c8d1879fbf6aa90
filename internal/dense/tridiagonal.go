package dense

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed-64e14a55/privatemail/internal/split"
)

// panel is how many reflections are collected before they change the matrix.
const panel = 32

// A tridiagonal is Q'AQ of a symmetric A, and Q as reflections
//
//	Q = H_0 H_1 .. H_(d-2),  H_j = 1 - tau_j v_j v_j',
//
// where v_j is 0 up to place j and 1 in place j+1 (Golub and Van Loan, "Matrix
// Computations", sections 8.3.1 and 5.2.3).
type tridiagonal struct {
	*Core
	d        int
	a        []float64 // the upper triangle is the rest of A
	v        []float64 // row j is v_j
	tau      []float64
	diagonal []float64
	off      []float64 // d-1 numbers

	// V and W of a panel: A - V W' - W V' is the current A. Row i of left has the numbers
	// of row i of V and then of W, and row i of right has them in the opposite order.
	left, right []float64
	w           []float64   // A v, and then the next column of W
	parts       [][]float64 // parts of A v, one for each band of rows
	sums        [][]float64 // products of v with the columns of left, one per band
}

// reduce makes a tridiagonal of the upper triangle of a, d x d, which it overwrites.
func (c *Core) reduce(ctx context.Context, a []float64, d int, report func(done int)) (*tridiagonal, error) {
	t := &tridiagonal{
		Core: c, d: d, a: a, v: make([]float64, d*d), tau: make([]float64, d), diagonal: make([]float64, d), off: make([]float64, d-1),
		left: make([]float64, d*2*panel), right: make([]float64, d*2*panel), w: make([]float64, d),
	}
	for range split.Blocks(d, side) {
		t.parts = append(t.parts, make([]float64, d))
		t.sums = append(t.sums, make([]float64, 2*panel))
	}
	for first := 0; first < d; first += panel {
		last := min(first+panel, d)
		clear(t.left)
		clear(t.right)
		for j := first; j < last; j++ {
			if err := t.column(ctx, j, j-first); err != nil {
				return nil, err
			}
		}
		if err := t.update(ctx, last); err != nil {
			return nil, err
		}
		report(last)
	}
	return t, nil
}

// bands calls f for the bands of rows from row first on, on all workers.
func (t *tridiagonal) bands(ctx context.Context, first int, f func(band, lo, hi int)) error {
	skip := first / side
	return t.do(ctx, split.Blocks(t.d, side)-skip, func(_, piece int) {
		lo, hi := split.Block(skip+piece, t.d, side)
		f(skip+piece, max(lo, first), hi)
	})
}

// column computes reflection j, column at of its panel.
func (t *tridiagonal) column(ctx context.Context, j, at int) error {
	row := t.a[j*t.d:][:t.d] // row j of the triangle is column j below the diagonal
	own := t.right[j*2*panel:][:2*panel]
	for i := j; i < t.d && at > 0; i++ {
		row[i] -= dot(t.left[i*2*panel:][:2*panel], own)
	}
	t.diagonal[j] = row[j]
	if j+1 == t.d {
		return nil
	}
	v := t.v[j*t.d:][:t.d]
	copy(v[j+1:], row[j+1:])
	t.off[j], t.tau[j] = reflect(v[j+1:])
	if t.tau[j] == 0 {
		return nil // the column is already zero below: nothing changes
	}
	if err := t.bands(ctx, j+1, func(band, lo, hi int) { t.multiply(v, band, lo, hi) }); err != nil {
		return err
	}
	skip := (j + 1) / side
	sum := t.sums[skip]
	for _, other := range t.sums[skip+1:] {
		blas64.Axpy(1, vector(other), vector(sum))
	}
	if err := t.bands(ctx, j+1, func(band, lo, hi int) { t.gather(sum, skip, band, lo, hi) }); err != nil {
		return err
	}
	t.store(v, j, at)
	return nil
}

// multiply computes the part of A v from the rows lo to hi-1 of the triangle, and the
// products of v with the columns of left there.
func (t *tridiagonal) multiply(v []float64, band, lo, hi int) {
	part, sum := t.parts[band], t.sums[band]
	clear(part[lo:])
	clear(sum)
	for i := lo; i < hi; i++ {
		row := t.a[i*t.d:][:t.d]
		part[i] += dot(row[i:], v[i:])
		blas64.Axpy(v[i], vector(row[i+1:]), vector(part[i+1:]))
		blas64.Axpy(v[i], vector(t.left[i*2*panel:][:2*panel]), vector(sum))
	}
}

// gather adds up the numbers lo to hi-1 of A v, in the order of bands, and subtracts the
// changes by the reflections of the panel.
func (t *tridiagonal) gather(sum []float64, skip, band, lo, hi int) {
	w := t.w[lo:hi]
	copy(w, t.parts[skip][lo:hi])
	for _, part := range t.parts[skip+1 : band+1] {
		blas64.Axpy(1, vector(part[lo:hi]), vector(w))
	}
	for i := range w {
		w[i] -= dot(t.right[(lo+i)*2*panel:][:2*panel], sum)
	}
}

// store computes the column of W from A v, and puts it and v into the panel.
func (t *tridiagonal) store(v []float64, j, at int) {
	w, tau := t.w[j+1:], t.tau[j]
	blas64.Scal(tau, vector(w))
	blas64.Axpy(-tau/2*dot(w, v[j+1:]), vector(v[j+1:]), vector(w))
	for i := range w {
		row := (j + 1 + i) * 2 * panel
		t.left[row+at], t.left[row+panel+at] = v[j+1+i], w[i]
		t.right[row+at], t.right[row+panel+at] = w[i], v[j+1+i]
	}
}

// update subtracts the reflections of a panel from the triangle from row first on.
func (t *tridiagonal) update(ctx context.Context, first int) error {
	if first == t.d {
		return nil
	}
	return t.bands(ctx, first, func(_, lo, hi int) {
		for from := lo; from < t.d; from += side {
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, hi-lo, min(side, t.d-from), 2*panel,
				-1, t.left[lo*2*panel:], 2*panel, t.right[from*2*panel:], 2*panel, 1, t.a[lo*t.d+from:], t.d)
		}
	})
}

// reflect turns x into the v of a reflection 1 - tau v v' that makes all of x zero
// except for its first place, which becomes first. If there is nothing to do tau is 0.
func reflect(x []float64) (first, tau float64) {
	rest := blas64.Nrm2(vector(x[1:]))
	if rest == 0 {
		first = x[0]
		x[0] = 1
		return first, 0
	}
	first = -math.Copysign(math.Hypot(x[0], rest), x[0])
	tau = (first - x[0]) / first
	blas64.Scal(1/(x[0]-first), vector(x[1:]))
	x[0] = 1
	return first, tau
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func dot(a, b []float64) float64 {
	return blas64.Dot(vector(a), vector(b[:len(a)]))
}
