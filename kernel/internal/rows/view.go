package rows

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Float is the type of the numbers of a point or of an iterate.
type Float interface{ float32 | float64 }

// A View is a row-major matrix of either precision, in memory that belongs to somebody
// else.
type View[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

// NewView returns the view of data as a matrix of the given numbers of rows and columns,
// with rows stride numbers apart.
func NewView[T Float](rows, cols, stride int, data []T) View[T] {
	return View[T]{Rows: rows, Cols: cols, Stride: stride, Data: data}
}

// View32 returns m as a view.
func View32(m blas32.General) View[float32] {
	return View[float32]{m.Rows, m.Cols, m.Stride, m.Data}
}

// View64 returns m as a view.
func View64(m blas64.General) View[float64] {
	return View[float64]{m.Rows, m.Cols, m.Stride, m.Data}
}

// Row returns row i.
func (v View[T]) Row(i int) []T { return v.Data[i*v.Stride:][:v.Cols] }
