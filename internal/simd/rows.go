package simd

import "math/bits"

// Rows are rows of numbers in one slice: row r begins at Data[r*Stride]. A kernel has
// other arguments that say how many rows it works on and how many numbers each of them
// has.
type Rows[T float32 | float64 | uint32] struct {
	Data   []T
	Stride int
}

// RowsOf returns the rows of data that begin stride numbers apart.
func RowsOf[T float32 | float64 | uint32](data []T, stride int) Rows[T] { return Rows[T]{data, stride} }

// from returns the rows from r on.
func (a Rows[T]) from(r int) Rows[T] { return Rows[T]{a.Data[r*a.Stride:], a.Stride} }

// row returns row r, of the given width.
func (a Rows[T]) row(r, width int) []T { return a.Data[r*a.Stride:][:width] }

// holds reports whether there are n rows of the given width.
func (a Rows[T]) holds(n, width int) bool {
	if len(a.Data) < width || n <= 1 {
		return len(a.Data) >= width
	}
	high, low := bits.Mul64(uint64(n-1), uint64(a.Stride)) // a division takes longer
	return high == 0 && low <= uint64(len(a.Data)-width)
}

// span returns the part of Data from the start to the end of n rows of the given width, n at
// least one.
func (a Rows[T]) span(n, width int) []T { return a.Data[:(n-1)*a.Stride+width] }
