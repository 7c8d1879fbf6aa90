//go:build netlib && cgo

package distance

// Our workers call the BLAS each for a piece of its own; a BLAS that starts
// threads as well fights with them. OpenBLAS is told to stay in the calling
// thread; other libraries do not have the function, hence the weak reference.

// extern void openblas_set_num_threads(int) __attribute__((weak));
// static void pm_one_thread(void) {
//     if (openblas_set_num_threads) openblas_set_num_threads(1);
// }
import "C"

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/netlib/blas/netlib"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

func init() { C.pm_one_thread() }

// Dots sets dst = A B' for row-major matrices of na and nb rows of d values; row i of dst
// starts at i*ld.
func Dots(_ *simd.Kernels, dst []float64, ld int, a []float64, na int, b []float64, nb, d int) {
	netlib.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, na, nb, d, 1, a, d, b, d, 0, dst, ld)
}
