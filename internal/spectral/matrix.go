package spectral

import "gonum.org/v1/gonum/blas/blas32"

func newMatrix(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

func row(m blas32.General, i int) []float32 { return m.Data[i*m.Stride:][:m.Cols] }
