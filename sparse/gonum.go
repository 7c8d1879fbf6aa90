package sparse

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// A CSR is a gonum matrix, so every function that takes a mat.Matrix takes it.
var _ mat.Matrix = (*CSR)(nil)

// Dims returns the number of rows and columns.
func (a *CSR) Dims() (rows, cols int) { return a.rows, a.cols }

// At returns entry (i, j), 0 where nothing is stored. It searches the row, which a
// compact layout decodes first. Like every gonum matrix it panics when the indices are
// out of range.
func (a *CSR) At(i, j int) float64 {
	if uint(i) >= uint(a.rows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(a.cols) {
		panic(mat.ErrColAccess)
	}
	if v, ok := a.find(i, j); ok {
		return float64(v)
	}
	return 0
}

// T returns the transpose as a view, as mat.Matrix requires.
func (a *CSR) T() mat.Matrix { return mat.Transpose{Matrix: a} }

// ToDense returns a dense copy, for functions of gonum that need dense matrices. It
// panics when there are no rows or no columns, since a mat.Dense needs both.
func (a *CSR) ToDense() *mat.Dense {
	dense := mat.NewDense(a.rows, a.cols, nil)
	var buffer RowBuffer
	for i := range a.rows {
		ind, val := a.Row(i, &buffer)
		for p, j := range ind {
			dense.Set(i, int(j), float64(val[p]))
		}
	}
	return dense
}

// FromMatrix returns a CSR of the entries of m that are not zero once they are rounded
// to float32. It takes any gonum matrix and reads it entry by entry. Errors: those of
// New.
func FromMatrix(m mat.Matrix) (*CSR, error) {
	rows, cols := m.Dims()
	ptr := make([]uint64, 1, rows+1)
	var ind []uint32
	var val []float32
	for i := range rows {
		for j := range cols {
			if v := float32(m.At(i, j)); v != 0 {
				ind, val = append(ind, uint32(j)), append(val, v)
			}
		}
		ptr = append(ptr, uint64(len(ind)))
	}
	a, err := New(rows, cols, ptr, ind, val)
	if err != nil {
		return nil, fmt.Errorf("from matrix: %w", err)
	}
	return a, nil
}
