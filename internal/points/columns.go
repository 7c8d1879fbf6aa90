package points

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// ColumnMoments returns the mean of each column of x and the mean of the squared deviations from
// it, its variance, in float64. It does not check that numbers are finite.
func ColumnMoments(x blas32.General) (mean, variance []float64) {
	mean, variance = make([]float64, x.Cols), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			mean[j] += float64(v)
		}
	}
	for j := range mean {
		mean[j] /= float64(max(x.Rows, 1))
	}
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			d := float64(v) - mean[j] // a mean far from zero does no harm
			variance[j] += float64(d * d)
		}
	}
	for j := range variance {
		variance[j] /= float64(max(x.Rows, 1))
	}
	return mean, variance
}

// StandardizeColumns writes to dst the columns of x, each minus its mean and divided by its
// standard deviation, in float64 and rounded once. A column whose numbers are all equal up to
// rounding becomes zero. dst may be x; a partial overlap is not allowed. On error dst is
// unchanged: ErrShape when the sizes differ, *NonFiniteError for the first NaN or infinity.
func StandardizeColumns(dst, x blas32.General) error {
	n, d, err := Dims(x)
	if err != nil {
		return fmt.Errorf("points: standardize columns: %w", err)
	}
	if err := CheckSize(dst, n, d); err != nil {
		return fmt.Errorf("points: standardize columns: destination: %w", err)
	}
	if err := CheckFinite(x); err != nil {
		return fmt.Errorf("points: standardize columns: %w", err)
	}
	mean, variance := ColumnMoments(x)
	inverse := make([]float64, d)
	for j, v := range variance {
		// The mean is off by n 2^-53 of it at most.
		if deviation := math.Sqrt(v); deviation > math.Abs(mean[j])*float64(n)*0x1p-53 {
			inverse[j] = 1 / deviation
		}
	}
	for i := range n {
		to := dst.Data[i*dst.Stride:][:d]
		for j, v := range x.Data[i*x.Stride:][:d] {
			to[j] = float32(float64(float64(v)-mean[j]) * inverse[j])
		}
	}
	return nil
}
