package points

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Matrix is one of the two types of rows: float32 for features, float64 for
// embeddings ((*mat.Dense).RawMatrix) and wherever rounding would show.
type Matrix interface {
	blas32.General | blas64.General
}

// Dims returns the size of x and checks that its storage holds that many
// entries. The error is ErrShape.
func Dims[M Matrix](x M) (rows, cols int, err error) {
	var stride, length int
	switch x := any(x).(type) {
	case blas32.General:
		rows, cols, stride, length = x.Rows, x.Cols, x.Stride, len(x.Data)
	case blas64.General:
		rows, cols, stride, length = x.Rows, x.Cols, x.Stride, len(x.Data)
	}
	switch {
	case rows < 0 || cols < 0 || stride < cols:
		return 0, 0, fmt.Errorf("%w: %d x %d with stride %d", ErrShape, rows, cols, stride)
	case rows == 0 || cols == 0:
		return rows, cols, nil
	// Without the division the product could wrap round.
	case length < cols || rows-1 > (length-cols)/stride:
		return 0, 0, fmt.Errorf("%w: %d x %d with stride %d in %d entries", ErrShape, rows, cols, stride, length)
	}
	return rows, cols, nil
}

// CheckSize returns ErrShape unless x is rows x cols and its storage holds that many entries.
func CheckSize[M Matrix](x M, rows, cols int) error {
	n, d, err := Dims(x)
	if err == nil && (n != rows || d != cols) {
		err = fmt.Errorf("%w: %d x %d, want %d x %d", ErrShape, n, d, rows, cols)
	}
	return err
}

// CheckFinite returns a *NonFiniteError for the first NaN or infinity of x in
// row-major order, ErrShape if x is malformed, and nil otherwise.
func CheckFinite[M Matrix](x M) error {
	rows, cols, err := Dims(x)
	if err != nil || cols == 0 { // a matrix without columns may have no memory
		return err
	}
	row := make([]float64, cols)
	for i := range rows {
		ReadRow(row, x, i)
		if j := firstNonFinite(row); j >= 0 {
			return &NonFiniteError{What: "points", Row: i, Col: j}
		}
	}
	return nil
}

// ReadRow copies row i of x to dst as float64. It panics when the row or dst is
// out of range: callers have checked x with Dims.
func ReadRow[M Matrix](dst []float64, x M, i int) {
	switch x := any(x).(type) {
	case blas32.General:
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		dst = dst[:len(row)]
		for j, v := range row {
			dst[j] = float64(v)
		}
	case blas64.General:
		copy(dst[:x.Cols], x.Data[i*x.Stride:i*x.Stride+x.Cols])
	}
}

// Single returns a copy of x in float32, each entry rounded.
func Single(x blas64.General) blas32.General {
	out := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float32, 0, x.Rows*x.Cols)}
	for i := range x.Rows {
		for _, v := range x.Data[i*x.Stride:][:x.Cols] {
			out.Data = append(out.Data, float32(v))
		}
	}
	return out
}

func firstNonFinite(v []float64) int {
	for j, e := range v {
		// e-e is 0 for every finite e and NaN for the rest.
		if e-e != 0 {
			return j
		}
	}
	return -1
}
