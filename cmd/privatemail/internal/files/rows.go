package files

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// ZeroRows counts the rows of zeros.
func ZeroRows(x blas32.General) (count int) {
	for x.Rows > 0 {
		row := ZeroRow(x)
		if row < 0 {
			break
		}
		count++
		x.Rows -= row + 1
		x.Data = x.Data[min((row+1)*x.Stride, len(x.Data)):]
	}
	return count
}

// ZeroRow returns the number of the first row of zeros, -1 if there is none.
func ZeroRow(x blas32.General) int {
	for i := range x.Rows {
		if !slices.ContainsFunc(x.Data[i*x.Stride:][:x.Cols], func(v float32) bool { return v != 0 }) {
			return i
		}
	}
	return -1
}

// RowsOf returns rows from to to-1.
func RowsOf(x blas32.General, from, to int) blas32.General {
	return blas32.General{Rows: to - from, Cols: x.Cols, Stride: x.Stride, Data: x.Data[from*x.Stride:]}
}
