// Package pca finds principal components. With the mean m = (1/n) sum_i x_i and the
// covariance
//
//	C = 1/(n-1) sum_i (x_i - m)(x_i - m)'
//
// [Fit] returns the leading eigenvectors v_1, v_2, .. of C and the variances
// lambda_1 >= lambda_2 >= .. along them, [Leading] a few of them to six digits where there are
// many columns, and [Project] the coordinates (x - m)'v_1, (x - m)'v_2, .. . An eigenvector
// is only defined up to its sign; here the entry of largest magnitude is positive, so that two
// runs and two machines agree.
//
// Others find such directions in their own way. The training of package supervised has a
// covariance of weighted rows already and asks internal/dense for eigenvectors on all workers:
// the bits of saved models are theirs. The filters of package kernel, for its search and for its
// polynomials, need directions that are nearly right after a few passes over a sample, the same for
// any number of workers.
//
// Jolliffe, "Principal Component Analysis" (2002), sections 1 and 3.
package pca

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Components describes the m directions in which a set of points varies most.
type Components struct {
	// Mean of the points, length d.
	Mean []float64
	// Vectors holds one direction per column, d x m. They are orthonormal and ordered
	// by descending variance, and the entry of largest magnitude is positive (the first
	// of those that agree to nine digits).
	Vectors *mat.Dense
	// Variances along the directions, with divisor n-1, length m. A single
	// point has variance 0.
	Variances []float64
}

// blockRows is how many rows are converted to centred float64 at a time: enough for the
// matrix products to run at full speed, but a million rows take no more memory than a
// few hundred.
const blockRows = 256

var errEigen = errors.New("eigenvalue iteration did not converge")

// Fit returns the m leading principal components of the rows of x, in float64
// throughout. Directions of equal variance, such as those beyond the rank of the
// points, are an orthonormal basis of their space, which is not unique.
//
// For d <= n it costs n d^2 for the covariance and about 9 d^3 for its
// eigenvectors, and 3 d^2 float64 of memory; otherwise it computes the singular value
// decomposition of the centred n x d matrix. Small variances have an absolute error of
// a few ulp of the largest one. Errors: points.ErrShape for m < 1, m > d or an empty x,
// *points.NonFiniteError for NaN and infinities.
func Fit[M points.Matrix](x M, m int) (*Components, error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, fmt.Errorf("pca: pca: %w", err)
	}
	if n == 0 || d == 0 {
		return nil, fmt.Errorf("pca: pca: %w: %d x %d is empty", points.ErrShape, n, d)
	}
	if m < 1 || m > d {
		return nil, fmt.Errorf("pca: pca: %w: %d components of %d dimensions", points.ErrShape, m, d)
	}
	if err := points.CheckFinite(x); err != nil {
		return nil, fmt.Errorf("pca: pca: %w", err)
	}

	c := &Components{Mean: mean(x, n, d)}
	if d <= n {
		err = c.fromCovariance(covariance(x, c.Mean, n), m)
	} else {
		centred := mat.NewDense(n, d, nil)
		readCentred(centred.RawMatrix(), x, 0, c.Mean)
		err = c.fromSingular(centred, m)
	}
	if err != nil {
		return nil, fmt.Errorf("pca: pca: %w", err)
	}
	c.orient()
	return c, nil
}

// Project returns the coordinates of the rows of x along the components: row i
// is (x_i - Mean)' Vectors. The error is points.ErrShape if x does not have the
// dimension of the components.
func Project[M points.Matrix](c *Components, x M) (*mat.Dense, error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, fmt.Errorf("pca: project: %w", err)
	}
	if n == 0 || d != len(c.Mean) {
		return nil, fmt.Errorf("pca: project: %w: %d x %d on components of dimension %d", points.ErrShape, n, d, len(c.Mean))
	}
	_, m := c.Vectors.Dims()
	out := mat.NewDense(n, m, nil)
	block := mat.NewDense(min(blockRows, n), d, nil)
	for first := 0; first < n; first += blockRows {
		rows := min(blockRows, n-first)
		b := block.Slice(0, rows, 0, d).(*mat.Dense)
		readCentred(b.RawMatrix(), x, first, c.Mean)
		out.Slice(first, first+rows, 0, m).(*mat.Dense).Mul(b, c.Vectors)
	}
	return out, nil
}

func mean[M points.Matrix](x M, n, d int) []float64 {
	sum := make([]float64, d)
	row := make([]float64, d)
	for i := range n {
		points.ReadRow(row, x, i)
		for j, v := range row {
			sum[j] += v
		}
	}
	for j := range sum {
		sum[j] /= float64(n)
	}
	return sum
}

// readCentred fills dst with the rows of x from first on, less the mean. The
// difference is taken before any product: x'x - n m m' would cancel.
func readCentred[M points.Matrix](dst blas64.General, x M, first int, mean []float64) {
	for i := range dst.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+dst.Cols]
		points.ReadRow(row, x, first+i)
		for j, m := range mean {
			row[j] -= m
		}
	}
}

func covariance[M points.Matrix](x M, mean []float64, n int) *mat.SymDense {
	d := len(mean)
	cov := mat.NewSymDense(d, nil)
	block := blas64.General{Cols: d, Stride: d, Data: make([]float64, min(blockRows, n)*d)}
	weight := 1 / float64(max(n-1, 1))
	for first := 0; first < n; first += blockRows {
		block.Rows = min(blockRows, n-first)
		readCentred(block, x, first, mean)
		blas64.Syrk(blas.Trans, weight, block, 1, cov.RawSymmetric())
	}
	return cov
}

// fromCovariance takes the last m eigenvectors of cov, since gonum sorts eigenvalues in
// ascending order.
func (c *Components) fromCovariance(cov *mat.SymDense, m int) error {
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, true) {
		return errEigen
	}
	var all mat.Dense
	eigen.VectorsTo(&all)
	values := eigen.Values(nil)
	d := len(values)
	c.Vectors = mat.NewDense(d, m, nil)
	c.Variances = make([]float64, m)
	for k := range m {
		c.Variances[k] = max(values[d-1-k], 0) // rounding may leave -1e-17
		c.Vectors.ColView(k).(*mat.VecDense).CopyVec(all.ColView(d - 1 - k))
	}
	return nil
}

// fromSingular is for more dimensions than points, where the covariance would be a
// large matrix of low rank. Only m > n needs directions outside of the span of the
// points, and so the full set of right singular vectors.
func (c *Components) fromSingular(centred *mat.Dense, m int) error {
	n, d := centred.Dims()
	kind := mat.SVDThinV
	if m > n {
		kind = mat.SVDFullV
	}
	var svd mat.SVD
	if !svd.Factorize(centred, kind) {
		return errEigen
	}
	var v mat.Dense
	svd.VTo(&v)
	c.Vectors = mat.DenseCopyOf(v.Slice(0, d, 0, m))
	c.Variances = make([]float64, m)
	for k, s := range svd.Values(nil) {
		if k < m {
			c.Variances[k] = s * s / float64(max(n-1, 1))
		}
	}
	return nil
}

// orient makes the entry of largest magnitude of each direction positive. Among entries
// that agree to nine digits the first decides, so that in (1, -1)/sqrt(2) the rounding
// of a machine does not choose the sign.
func (c *Components) orient() {
	const same = 1 - 1e-9
	d, m := c.Vectors.Dims()
	for k := range m {
		v := c.Vectors.ColView(k).(*mat.VecDense)
		largest := mat.Norm(v, math.Inf(1))
		for j := range d {
			if e := v.AtVec(j); math.Abs(e) >= same*largest {
				if e < 0 {
					v.ScaleVec(-1, v)
				}
				break
			}
		}
	}
}
