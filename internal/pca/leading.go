package pca

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Leading is Fit for few components of many columns, where the full problem takes far longer:
// it iterates on a block of columns (Golub and Van Loan, Matrix Computations, 2013, section 8.2.4)
// until the m variances move by less than a millionth of the first, which is enough for a picture.
// It returns the sum of all variances too, 0 where the rows differ by rounding alone. It takes the
// mean off x itself, whose numbers have to be finite. Errors: points.ErrShape as Fit has it, and
// that of ctx.
func Leading(ctx context.Context, x *mat.Dense, m int) (c *Components, total float64, err error) {
	const spare, most, settled = 6, 100, 1e-6
	n, d := x.Dims()
	if n == 0 || m < 1 || m > d {
		return nil, 0, fmt.Errorf("pca: leading: %w: %d components of %d x %d", points.ErrShape, m, n, d)
	}
	c = &Components{Mean: mean(x.RawMatrix(), n, d), Variances: make([]float64, m)}
	total = variance(x, c.Mean)
	basis := start(d, min(m+spare, d))
	var images, turned mat.Dense
	for range most {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		images.Mul(x, basis)
		var small mat.SymDense
		small.SymOuterK(1, images.T())
		turn := new(Components)
		if err := turn.fromCovariance(&small, small.SymmetricDim()); err != nil {
			return nil, 0, fmt.Errorf("pca: leading: %w", err)
		}
		turned.Mul(basis, turn.Vectors)
		change := 0.0
		for k := range c.Variances {
			change = max(change, math.Abs(turn.Variances[k]-c.Variances[k]))
		}
		copy(c.Variances, turn.Variances)
		c.Vectors = mat.DenseCopyOf(turned.Slice(0, d, 0, m))
		if change <= settled*c.Variances[0] {
			break
		}
		basis.Mul(x.T(), &images)
		orthonormal(basis)
	}
	c.orient()
	for k := range c.Variances {
		c.Variances[k] /= float64(max(n-1, 1))
	}
	return c, total, nil
}

// variance takes the mean off the rows of x and returns the sum of the variances of its columns.
func variance(x *mat.Dense, mean []float64) float64 {
	n, _ := x.Dims()
	squares := mat.Norm(x, 2)
	readCentred(x.RawMatrix(), x.RawMatrix(), 0, mean)
	left := mat.Norm(x, 2)
	if left <= 0x1p-45*squares {
		return 0
	}
	return left * left / float64(max(n-1, 1))
}

// start returns columns to begin with, the same in every run.
func start(d, columns int) *mat.Dense {
	rng := rand.New(rand.NewPCG(1, 1))
	m := mat.NewDense(d, columns, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = rng.NormFloat64()
	}
	orthonormal(m)
	return m
}

// orthonormal makes the columns of m orthonormal, each twice against those before it. A
// column that they span becomes zero.
func orthonormal(m *mat.Dense) {
	d, columns := m.Dims()
	for j := range columns {
		v := m.ColView(j).(*mat.VecDense)
		before := mat.Norm(v, 2)
		for range 2 {
			for i := range j {
				w := m.ColView(i)
				v.AddScaledVec(v, -mat.Dot(v, w), w)
			}
		}
		norm := mat.Norm(v, 2)
		if norm <= before*float64(d)*0x1p-50 {
			v.Zero()
			continue
		}
		v.ScaleVec(1/norm, v)
	}
}
