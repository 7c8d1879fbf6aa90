package kernel

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// directionSteps is how often sampled points are multiplied by their covariance.
// Beginning with points, two are enough for directions whose variance is half as
// large as that of others to play no part.
const directionSteps = 2

// principalDirections returns m orthonormal rows that span nearly the directions in
// which the rows of u vary most, by orthogonal iteration: all that a filter asks for
// is that they hold most of the points, at a small part of the cost of principal
// components.
func principalDirections(u *mat.Dense, m int) *mat.Dense {
	n, d := u.Dims()
	words := points.NewSplitMix64(uint64(m))
	z := mat.NewDense(m, d, nil)
	for t := range m {
		if t < n {
			z.SetRow(t, u.RawRowView(t*n/min(m, n)))
		}
	}
	var y mat.Dense
	for step := range directionSteps {
		if step > 0 {
			y.Reset()
		}
		orthonormalise(z, words)
		y.Mul(z, u.T())
		z.Mul(&y, u)
	}
	orthonormalise(z, words)
	return z
}

// orthonormalise replaces rows by orthonormal ones that span as much, by the method
// of Gram and Schmidt. A row that depends on those before it becomes a random one.
func orthonormalise(z *mat.Dense, words *points.SplitMix64) {
	m, d := z.Dims()
	row := func(t int) blas64.Vector { return blas64.Vector{N: d, Inc: 1, Data: z.RawRowView(t)} }
	for t := range m {
		v := row(t)
		for {
			before := blas64.Nrm2(v)
			for range 2 { // once is not enough for rows that nearly depend
				for s := range t {
					blas64.Axpy(-blas64.Dot(row(s), v), row(s), v)
				}
			}
			if after := blas64.Nrm2(v); after > 1e-6*before {
				blas64.Scal(1/after, v)
				break
			}
			for c := range v.Data {
				v.Data[c] = float64(words.Uint64()>>11)*0x1p-52 - 1
			}
		}
	}
}
