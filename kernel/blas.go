//go:build !(netlib && cgo)

package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// dots sets dst = scale A B' for row-major matrices of na and nb rows of d
// values; row i of dst starts at i*ld.
//
// The product is split so that gonum computes each piece in the caller: above
// three of its pieces of 64 x 64 it would start goroutines of its own, beside the
// workers that call here.
func dots(dst []float64, ld int, scale float64, a []float64, na int, b []float64, nb, d int) {
	const tallest, widest = 64, 128
	for i := 0; i < na; i += tallest {
		for j := 0; j < nb; j += widest {
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans,
				min(tallest, na-i), min(widest, nb-j), d, scale, a[i*d:], d, b[j*d:], d, 0, dst[i*ld+j:], ld)
		}
	}
}
