package main

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// zeroRows counts the rows of zeros.
func zeroRows(x blas32.General) (count int) {
	for x.Rows > 0 {
		row := zeroRow(x)
		if row < 0 {
			break
		}
		count++
		x.Rows -= row + 1
		x.Data = x.Data[min((row+1)*x.Stride, len(x.Data)):]
	}
	return count
}

// zeroRow returns the number of the first row of zeros, -1 if there is none.
func zeroRow(x blas32.General) int {
	for i := range x.Rows {
		if !slices.ContainsFunc(x.Data[i*x.Stride:][:x.Cols], func(v float32) bool { return v != 0 }) {
			return i
		}
	}
	return -1
}

// wide returns a row in float64.
func wide(x blas32.General, i int) []float64 {
	row := make([]float64, x.Cols)
	for j, v := range x.Data[i*x.Stride:][:x.Cols] {
		row[j] = float64(v)
	}
	return row
}

// wideRows returns some rows in float64.
func wideRows(x blas32.General, from, to int) blas64.General {
	out := blas64.General{Rows: to - from, Cols: x.Cols, Stride: x.Cols}
	for i := from; i < to; i++ {
		out.Data = append(out.Data, wide(x, i)...)
	}
	return out
}

// rowsOf returns rows from to to-1.
func rowsOf(x blas32.General, from, to int) blas32.General {
	return blas32.General{Rows: to - from, Cols: x.Cols, Stride: x.Stride, Data: x.Data[from*x.Stride:]}
}
