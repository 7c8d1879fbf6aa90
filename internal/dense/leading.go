package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

var errEigen = errors.New("eigenvalue iteration did not converge")

// small is the size up to which gonum's solver is fast enough.
const small = 48

// Leading returns the m largest eigenvalues of a symmetric d x d matrix, in descending
// order, and their eigenvectors, one per column. The entry of largest magnitude of a vector
// is positive (the first of those that agree to nine digits). With |s| the largest
// magnitude of an eigenvalue, |s v - value v| is at most 1e-11 |s| and products of vectors
// differ from those of orthonormal ones by at most 1e-9. Vectors of equal eigenvalues are
// an orthonormal basis of their space, which is not unique.
//
// It costs 2/3 d^3 products and as many additions for a tridiagonal matrix, and m d^2 for
// the vectors, in 2.5 d^2 + 2 m d numbers. If the vectors of the tridiagonal matrix do not
// converge, which no test has seen, gonum's solver computes them: that takes ten times as
// long and ignores the context.
//
// Errors: points.ErrShape for m outside 1..d, *points.NonFiniteError, and that of ctx.
func (c *Core) Leading(ctx context.Context, s *mat.SymDense, m int) (values []float64, vectors *mat.Dense, err error) {
	d := s.SymmetricDim()
	if m < 1 || m > d {
		return nil, nil, fmt.Errorf("dense: leading: %w: %d eigenvectors of %d dimensions", points.ErrShape, m, d)
	}
	a, scale, err := scaled(s)
	if err != nil {
		return nil, nil, fmt.Errorf("dense: leading: %w", err)
	}
	var z []float64
	done := false
	if d > small {
		values, z, done, err = c.byReduction(ctx, a, d, m)
	}
	if err == nil && !done {
		values, z, err = direct(s, d, m)
		scale = 1
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("dense: leading: %w", err)
	}
	for i := range values {
		values[i] /= scale
	}
	vectors = mat.NewDense(d, m, nil)
	for j := range m {
		vectors.SetCol(j, oriented(z[j*d:][:d]))
	}
	return values, vectors, nil
}

// scaled returns the upper triangle of s, times a power of two that keeps its squares far
// from the ends of the range of numbers.
func scaled(s *mat.SymDense) (a []float64, scale float64, err error) {
	d, size := s.SymmetricDim(), 0.0
	a = make([]float64, d*d)
	for i := range d {
		for j := i; j < d; j++ {
			v := s.At(i, j)
			if v-v != 0 {
				return nil, 0, &points.NonFiniteError{What: "matrix", Row: i, Col: j}
			}
			a[i*d+j] = v
			size = max(size, math.Abs(v))
		}
	}
	scale = downTo1(size)
	for i := range a {
		a[i] *= scale
	}
	return a, scale, nil
}

// byReduction computes eigenvectors as the rows of z, and overwrites a. ok is false where
// they did not converge.
func (c *Core) byReduction(ctx context.Context, a []float64, d, m int) (values, z []float64, ok bool, err error) {
	total := 2 * d
	t, err := c.reduce(ctx, a, d, func(done int) { c.report(done, total) })
	if err != nil {
		return nil, nil, false, err
	}
	all, off := slices.Clone(t.diagonal), slices.Clone(t.off)
	if !(gonum.Implementation{}).Dsterf(d, all, off) {
		return nil, nil, false, nil
	}
	slices.Reverse(all) // gonum sorts in ascending order
	values = all[:m:m]
	if z, ok, err = t.vectors(ctx, values); err != nil || !ok {
		return nil, nil, false, err
	}
	if err := t.back(ctx, z, m); err != nil {
		return nil, nil, false, err
	}
	c.report(total, total)
	return values, z, true, nil
}

// direct is gonum's solver.
func direct(s *mat.SymDense, d, m int) (values, z []float64, err error) {
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, errEigen
	}
	var all mat.Dense
	e.VectorsTo(&all)
	values = e.Values(nil)
	slices.Reverse(values)
	for j := range m {
		z = append(z, mat.Col(nil, d-1-j, &all)...)
	}
	return values[:m:m], z, nil
}

// oriented returns v or -v, whichever has a positive entry of largest magnitude. Among
// entries that agree to nine digits the first decides, so that in (1, -1)/sqrt(2)
// rounding does not choose the sign.
func oriented(v []float64) []float64 {
	largest := math.Abs(v[blas64.Iamax(vector(v))])
	for _, e := range v {
		if math.Abs(e) >= (1-1e-9)*largest {
			if e < 0 {
				blas64.Scal(-1, vector(v))
			}
			break
		}
	}
	return v
}
