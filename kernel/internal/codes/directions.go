package codes

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

const (
	// directionSteps is how often sampled points are multiplied by their covariance. With
	// points to begin with, two steps are enough: directions with half the variance of
	// other directions then play no part.
	directionSteps = 2
	// directionNorm is the largest norm of sampled points as vectors of integers.
	directionNorm = 4096
)

// A covariance multiplies vectors by the covariance of a sample of points. It works with
// integers so small that all sums are exact in float32 (see projection): the products do
// not depend on the level of the kernels. Directions need no more than the first few bits
// of the points.
type covariance struct {
	n, d      int       // points and dimensions
	rows      []float32 // the points: n rows of d integers
	columns   []float32 // the same transposed: d rows of n integers
	rowNorm   float64   // largest norm of a row
	columnMax float64   // largest norm of a column
	k         *simd.Kernels
	workers   *par.Workers
}

// newCovariance returns the covariance of some rows as points. It also returns a distance
// from the centre that few points exceed.
func newCovariance(row func(i int) []float32, rows []int, centre []float32, req *rows.Request) (*covariance, float64) {
	n, d := len(rows), len(centre)
	u, norms := mat.NewDense(n, d, nil), make([]float64, n)
	for i, r := range rows {
		to := u.RawRowView(i)
		for c, v := range row(r) {
			to[c] = float64(v) - float64(centre[c])
		}
		norms[i] = mat.Norm(u.RowView(i), 2)
	}
	size := 1.25 * positive(quantile(norms, 0.99), slices.Max(norms))
	c := &covariance{n: n, d: d, rows: make([]float32, n*d), columns: make([]float32, n*d), k: req.Kernels, workers: req.Workers}
	sums := make([]float64, d)
	for i, norm := range norms {
		c.rowNorm = max(c.rowNorm, integers(c.rows[i*d:][:d], u.RawRowView(i), directionNorm/max(size, norm)))
		for t, v := range c.rows[i*d:][:d] {
			c.columns[t*n+i] = v
			sums[t] += float64(v) * float64(v)
		}
	}
	for _, sum := range sums {
		c.columnMax = max(c.columnMax, math.Sqrt(sum))
	}
	return c, size
}

// integers sets dst to a row times a factor, rounded to integers, and returns the norm of
// the integers.
func integers(dst []float32, row []float64, factor float64) float64 {
	sum := 0.0
	for c, v := range row {
		v = math.RoundToEven(v * factor)
		dst[c] = float32(v)
		sum += v * v
	}
	return math.Sqrt(sum)
}

// shortened sets the rows of dst to integers in the directions of the rows of z. They are
// so short that products with vectors of the given norm are exact.
func shortened(dst []float32, z *mat.Dense, norm float64) {
	m, d := z.Dims()
	most := mostExact/max(norm, 1)*(1-0x1p-40) - math.Sqrt(float64(d))
	for t := range m {
		row := z.RawRowView(t)
		integers(dst[t*d:][:d], row, max(most, 0)/positive(blas64.Nrm2(blas64.Vector{N: d, Inc: 1, Data: row}), 1))
	}
}

// mul replaces the rows of z by their products with the covariance, each product times
// some factor.
func (c *covariance) mul(ctx context.Context, z *mat.Dense) error {
	m, _ := z.Dims()
	y := mat.NewDense(m, c.n, nil)
	if err := c.products(ctx, y, z, c.rows, c.rowNorm); err != nil {
		return err
	}
	return c.products(ctx, z, y, c.columns, c.columnMax)
}

// products sets dst to the products of the rows of z with the rows of b, up to a factor
// for each row of z. The norm of the rows of b is at most the given norm.
func (c *covariance) products(ctx context.Context, dst, z *mat.Dense, b []float32, norm float64) error {
	m, width := z.Dims()
	count := len(b) / width
	a, out := make([]float32, m*width), make([]float32, m*count)
	shortened(a, z, norm)
	const rows = 16
	return c.workers.Do(ctx, split.Blocks(m, rows), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, m, rows)
		c.k.Dots(simd.RowsOf(out[lo*count:], count), simd.RowsOf(a[lo*width:], width), simd.RowsOf(b, width), hi-lo, count, width)
		for t := lo; t < hi; t++ {
			to := dst.RawRowView(t)
			for i, v := range out[t*count:][:count] {
				to[i] = float64(v)
			}
		}
	}))
}

// principal returns m orthonormal rows that span nearly the directions in which the points
// vary most, by orthogonal iteration. A filter needs rows that hold most of what is in the
// points, and no more. They cost a small part of what principal components cost.
func (c *covariance) principal(ctx context.Context, m int) (*mat.Dense, error) {
	words := random.NewSplitMix64(uint64(m))
	z := mat.NewDense(m, c.d, nil)
	for t := range min(m, c.n) {
		to := z.RawRowView(t)
		for i, v := range c.rows[t*c.n/min(m, c.n)*c.d:][:c.d] {
			to[i] = float64(v)
		}
	}
	for step := range directionSteps {
		if step > 0 {
			orthonormalize(z, 1, words)
		}
		if err := c.mul(ctx, z); err != nil {
			return nil, err
		}
	}
	orthonormalize(z, 2, words) // once is not enough for rows that nearly depend on others
	return z, nil
}

// orthonormalize replaces the rows of z by orthonormal rows that span as much, by the
// method of Gram and Schmidt. Each row is made orthogonal to the rows before it the given
// number of times. A row that depends on the rows before it becomes a random row.
func orthonormalize(z *mat.Dense, times int, words *random.SplitMix64) {
	m, d := z.Dims()
	row := func(t int) blas64.Vector { return blas64.Vector{N: d, Inc: 1, Data: z.RawRowView(t)} }
	for t := range m {
		v := row(t)
		for {
			before := blas64.Nrm2(v)
			for range times {
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
