package simd_test

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// A sparse matrix of two rows times a matrix of two columns.
func Example() {
	s := simd.At(simd.Best())
	ptr, ind, val := []uint64{0, 2, 3}, []uint32{0, 2, 1}, []float32{1, 2, 3}
	x := []float32{
		1, 10,
		2, 20,
		3, 30,
	}
	dst := make([]float32, 4)
	s.MulSparse(simd.RowsOf(dst, 2), 2, ptr, ind, val, simd.RowsOf(x, 2))
	fmt.Println(dst)
	// Output: [7 70 6 60]
}

// The neighbours of the first of four points and their weights.
func ExampleKernels_FindNear() {
	s := simd.At(simd.Best())
	coords := []float32{
		0, 1, 0, 3, // first coordinates
		0, 0, 2, 4, // second coordinates
		8 + simd.CoordinatePad - 1: 0,
	}
	candidates := simd.NewCandidates(2, 4)
	s.Collect(candidates, simd.RowsOf(coords, 4), []uint32{0, 4})
	ind, d2, weights := make([]uint32, 20), make([]float64, 20), make([]float32, 4)
	n := s.FindNear(ind, d2, make([]uint32, 1), candidates, simd.RowsOf(coords, 4), 0, 4) // of the first point
	s.Weights(weights[:n], d2[:n], 0.5)
	fmt.Println(ind[:n], d2[:n], weights[:n])
	// Output: [1 2] [1 4] [0.60653067 0.13533528]
}
