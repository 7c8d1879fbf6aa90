package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// defaultDelta is the delta of all private modes.
const defaultDelta = 1e-5

// Gaussian sends the query's unit row with noise.
func Gaussian() evaluate.Mode {
	return evaluate.Mode{
		Name: "gaussian", Title: "Gaussian noise on the row",
		Protects: "The whole record of the query, (epsilon, delta), replace-one. The gallery is the server's own.",
		Bounded:  true, Uses: evaluate.UsesEpsilon, Defaults: evaluate.Params{Epsilon: 1, Delta: defaultDelta},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			return projected(ctx, t, t.Queries, t.Gallery, 1)
		},
	}
}

// PCA projects on components of the gallery that were computed with noise, and sends
// the projected query with noise.
func PCA() evaluate.Mode {
	return evaluate.Mode{
		Name: "pca", Title: "private PCA",
		Protects: "One gallery row in the published components, and the whole record of the query in what is sent: each (epsilon, delta), replace-one. A record in both pays twice.",
		Bounded:  true, Uses: evaluate.UsesEpsilon | evaluate.UsesColumns,
		Defaults: evaluate.Params{Epsilon: 1, Delta: defaultDelta, Dim: 16},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			if err := t.CheckDimensions(t.Dim); err != nil {
				return nil, err
			}
			v, err := privateComponents(t.Gallery, t.Dim, t.Epsilon, t.Delta)
			if err != nil {
				return nil, err
			}
			var queries, gallery mat.Dense
			queries.Mul(t.Queries, v)
			gallery.Mul(t.Gallery, v)
			return projected(ctx, t, &queries, &gallery, 1) // columns are orthonormal
		},
	}
}

// Projection sends a random projection of the query with noise. The projection
// is public.
func Projection() evaluate.Mode {
	return evaluate.Mode{
		Name: "projection", Title: "private random projection",
		Protects: "The whole record of the query, (epsilon, delta), replace-one. The gallery is the server's own.",
		Bounded:  true, Uses: evaluate.UsesEpsilon | evaluate.UsesColumns,
		Defaults: evaluate.Params{Epsilon: 1, Delta: defaultDelta, Dim: 16},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			_, d := t.Gallery.Dims()
			if t.Dim < 1 {
				return nil, fmt.Errorf("baseline: %w: %d columns", evaluate.ErrShape, t.Dim)
			}
			if err := t.CheckDimensions(t.Dim); err != nil {
				return nil, err
			}
			p, err := iterate.RandomStart(ctx, d, t.Dim, t.Seed, 1/math.Sqrt(float64(t.Dim)))
			if err != nil {
				return nil, err
			}
			matrix := mat.NewDense(p.Rows, p.Cols, p.Data)
			var queries, gallery mat.Dense
			queries.Mul(t.Queries, matrix)
			gallery.Mul(t.Gallery, matrix)
			radius, err := spectralNorm(matrix)
			if err != nil {
				return nil, err
			}
			return projected(ctx, t, &queries, &gallery, radius)
		},
	}
}

// projected releases the queries, which lie in a ball of the given radius, and
// searches with what was released.
func projected(ctx context.Context, t *evaluate.Task, queries, gallery *mat.Dense, radius float64) (*evaluate.Answer, error) {
	noisy, sigma, err := noisyRows(queries, radius, t.Epsilon, t.Delta)
	if err != nil {
		return nil, err
	}
	a, err := compare(ctx, t, noisy, queries, gallery)
	if err != nil {
		return nil, err
	}
	a.Facts = noiseFacts(queries, sigma)
	return a, nil
}

// spectralNorm returns the largest singular value, the radius of the image of
// the unit ball. That it is rounded does not matter: rows are clipped to it.
func spectralNorm(p *mat.Dense) (float64, error) {
	var svd mat.SVD
	if !svd.Factorize(p, mat.SVDNone) {
		return 0, errEigen
	}
	return svd.Values(nil)[0], nil
}

var errEigen = errors.New("baseline: eigenvalue iteration did not converge")

// privateComponents returns the k leading eigenvectors, as columns, of the sum
// of x x' over the unit rows of x with noise on its upper triangle.
func privateComponents(x *mat.Dense, k int, epsilon, delta float64) (*mat.Dense, error) {
	n, d := x.Dims()
	if k < 1 || k > d {
		return nil, fmt.Errorf("baseline: %w: %d components of %d dimensions", evaluate.ErrShape, k, d)
	}
	unit := mat.DenseCopyOf(x)
	for i := range n {
		clip(unit.RawRowView(i), 1)
	}
	var moment mat.SymDense
	moment.SymOuterK(1, unit.T())
	upper := make([]float64, 0, d*(d+1)/2)
	for i := range d {
		for j := i; j < d; j++ {
			upper = append(upper, moment.At(i, j))
		}
	}
	series, err := newSeries(mechanism.NoLedger, mechanism.Unit{Kind: release.UnitRecord, Name: "gallery"}, seriesSettings{
		Epsilon: epsilon, Delta: delta, L2Sensitivity: momentSensitivity(n), Vectors: 1, Coordinates: len(upper),
		Protects: mechanism.AnyRow(sensitivity.ReplaceOne, 1),
	})
	if err != nil {
		return nil, err
	}
	if upper, err = series.release(upper); err != nil {
		return nil, err
	}
	for i, at := 0, 0; i < d; i++ {
		for j := i; j < d; j++ {
			moment.SetSym(i, j, upper[at])
			at++
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(&moment, true) {
		return nil, errEigen
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return mat.DenseCopyOf(vectors.Slice(0, d, d-k, d)), nil // eigenvalues rise
}

// momentSensitivity is sqrt(2) for the exact sum, and twice a bound on the
// rounding error of the computed one: an entry of a sum of n products carries at
// most (n+2) u times the sum of their absolute values, whose Frobenius norm is
// at most n.
func momentSensitivity(n int) float64 {
	m := float64(n)
	return math.Sqrt2*(1+1e-12) + 2*m*(m+2)*0x1p-52
}
