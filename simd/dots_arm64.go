//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/simd/internal/asm"

var dotsOfNEON = dotKernels{2, asm.Dot2x4F32NEON, asm.Dot1x4F32NEON, asm.Dot1x1F32NEON}

func dotsNEON(dst []float32, dstStride int, a []float32, aStride, na int, b []float32, bStride, nb, d int) {
	dotsOfNEON.run(dst, dstStride, a, aStride, na, b, bStride, nb, d)
}
