//go:build gc && !noasm && !purego

package simd

var dotsOfNEON = dotKernels{2, dot2x4F32NEON, dot1x4F32NEON, dot1x1F32NEON}

func dotsNEON(dst []float32, dstStride int, a []float32, aStride, na int, b []float32, bStride, nb, d int) {
	dotsOfNEON.run(dst, dstStride, a, aStride, na, b, bStride, nb, d)
}

// The kernels multiply as many rows of a with as many of b as their names say.
//
//	for i := range 2 {
//		for j := range 4 {
//			dst[i*dstStride+j] = sum over c < d of a[i*aStride+c] * b[j*bStride+c]
//		}
//	}
//
// with c in 8 lanes and products fused with sums.

//go:noescape
func dot2x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)

//go:noescape
func dot1x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)

//go:noescape
func dot1x1F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
