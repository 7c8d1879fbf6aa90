package dense

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/points"
)

var errEigen = errors.New("eigenvalue iteration did not converge")

// Leading returns the m largest eigenvalues of a symmetric matrix, falling, and their
// eigenvectors, one a column: orthonormal, the entry of largest magnitude positive.
func (c *Core) Leading(ctx context.Context, s *mat.SymDense, m int) ([]float64, *mat.Dense, error) {
	d := s.SymmetricDim()
	if m < 1 || m > d {
		return nil, nil, fmt.Errorf("dense: leading: %w: %d eigenvectors of %d dimensions", points.ErrShape, m, d)
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, fmt.Errorf("dense: leading: %w", errEigen)
	}
	var all mat.Dense
	e.VectorsTo(&all)
	up := e.Values(nil)
	values, vectors := make([]float64, m), mat.NewDense(d, m, nil)
	for j := range m {
		values[j] = up[d-1-j]
		vectors.ColView(j).(*mat.VecDense).CopyVec(all.ColView(d - 1 - j))
	}
	return values, vectors, ctx.Err()
}
