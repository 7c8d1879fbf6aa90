package points

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Normalize divides v by its Euclidean norm in place and returns the norm. A
// norm that is zero or not finite is returned and leaves v unchanged. Squares
// are summed without scaling: entries should lie well inside 1e-150..1e150, as
// all float32 numbers do.
func Normalize(v []float64) (norm float64) {
	norm = euclid(v)
	if norm == 0 || math.IsInf(norm, 0) || math.IsNaN(norm) {
		return norm
	}
	for j := range v {
		v[j] /= norm
	}
	return norm
}

// NormalizeRows writes to dst the rows of x, each divided by its Euclidean norm
// in float64 and rounded once, so that a row of dst has length 1 to about 6e-8.
// dst may be x; a partial overlap is not allowed. On error dst is unchanged:
// ErrShape when the sizes differ, *NonFiniteError for the first NaN or
// infinity, *ZeroRowError for the first zero row.
func NormalizeRows(dst, x blas32.General) error {
	n, d, err := Dims(x)
	if err != nil {
		return fmt.Errorf("points: normalize rows: %w", err)
	}
	if err := CheckSize(dst, n, d); err != nil {
		return fmt.Errorf("points: normalize rows: destination: %w", err)
	}

	// All norms are computed before the first write: an error must not leave
	// some rows scaled when dst is x.
	row := make([]float64, d)
	norms := make([]float64, n)
	for i := range norms {
		ReadRow(row, x, i)
		if j := firstNonFinite(row); j >= 0 {
			return fmt.Errorf("points: normalize rows: %w", &NonFiniteError{What: "points", Row: i, Col: j})
		}
		norms[i] = euclid(row)
		if norms[i] == 0 {
			return fmt.Errorf("points: normalize rows: %w", &ZeroRowError{Row: i})
		}
	}
	for i, norm := range norms {
		to := dst.Data[i*dst.Stride : i*dst.Stride+d]
		from := x.Data[i*x.Stride : i*x.Stride+d]
		for j, v := range from {
			to[j] = float32(float64(v) / norm)
		}
	}
	return nil
}

func euclid(v []float64) float64 {
	var s float64
	for _, e := range v {
		s += float64(e * e) // the conversion forbids a fused product: same bits everywhere
	}
	return math.Sqrt(s)
}
