package dense

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed-64e14a55/privatemail/internal/split"
)

// A reflections combines side reflections, from first on:
//
//	H_first .. = 1 - V B V'
//
// with B upper triangular (Golub and Van Loan, section 5.1.7, in the form of Schreiber and
// Van Loan, 1989).
type reflections struct {
	first, count int
	b            []float64 // side x side, row-major
	columns      []float64 // V, count numbers per row, from row first on
}

// back replaces the m rows of z by their products with Q': eigenvectors of the
// tridiagonal matrix become those of A.
func (t *tridiagonal) back(ctx context.Context, z []float64, m int) error {
	groups := make([]*reflections, split.Blocks(t.d-1, side))
	if err := t.do(ctx, len(groups), func(_, piece int) { groups[piece] = t.group(piece) }); err != nil {
		return err
	}
	const rows = 32
	return t.do(ctx, split.Blocks(m, rows), func(_, piece int) {
		lo, hi := split.Block(piece, m, rows)
		work := make([]float64, 2*rows*side)
		for g := len(groups) - 1; g >= 0 && ctx.Err() == nil; g-- {
			t.apply(groups[g], z[lo*t.d:], hi-lo, work)
		}
	})
}

// group combines the reflections of a piece.
func (t *tridiagonal) group(piece int) *reflections {
	lo, hi := split.Block(piece, t.d-1, side)
	g := &reflections{first: lo, count: hi - lo, b: make([]float64, side*side), columns: make([]float64, (t.d-lo)*(hi-lo))}
	for r := range g.count {
		for i, v := range t.v[(lo+r)*t.d+lo:][:t.d-lo] {
			g.columns[i*g.count+r] = v
		}
	}
	products := make([]float64, side*side)
	rows := t.v[lo*t.d+lo:]
	gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, g.count, g.count, t.d-lo, 1, rows, t.d, rows, t.d, 0, products, side)
	// Column r of B is -tau_r B (V' v_r) above the diagonal.
	for r := range g.count {
		tau := t.tau[lo+r]
		for i := range r {
			sum := 0.0
			for k := i; k < r; k++ {
				sum += g.b[i*side+k] * products[k*side+r]
			}
			g.b[i*side+r] = -tau * sum
		}
		g.b[r*side+r] = tau
	}
	return g
}

// apply multiplies some rows of z by the reflections: z' becomes z' - z' V B' V'.
func (t *tridiagonal) apply(g *reflections, z []float64, rows int, work []float64) {
	lapack := gonum.Implementation{}
	first, second := work[:rows*side], work[rows*side:]
	lapack.Dgemm(blas.NoTrans, blas.Trans, rows, g.count, t.d-g.first, 1, z[g.first:], t.d, t.v[g.first*t.d+g.first:], t.d, 0, first, side)
	lapack.Dgemm(blas.NoTrans, blas.Trans, rows, g.count, g.count, 1, first, side, g.b, side, 0, second, side)
	for from := g.first; from < t.d; from += 2 * side {
		lapack.Dgemm(blas.NoTrans, blas.Trans, rows, min(2*side, t.d-from), g.count,
			-1, second, side, g.columns[(from-g.first)*g.count:], g.count, 1, z[from:], t.d)
	}
}
