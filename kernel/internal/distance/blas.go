//go:build !(netlib && cgo)

package distance

import "github.com/seed-64e14a55/privatemail/internal/simd"

// Dots sets dst = A B' for row-major matrices of na and nb rows of d values; row i of dst
// starts at i*ld.
func Dots(kernels *simd.Kernels, dst []float64, ld int, a []float64, na int, b []float64, nb, d int) {
	kernels.Dots64(simd.RowsOf(dst, ld), simd.RowsOf(a, d), simd.RowsOf(b, d), na, nb, d)
}
