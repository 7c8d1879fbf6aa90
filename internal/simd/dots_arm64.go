//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

var dotsOfNEON = dotKernels[float32]{2, asm.Dot2x4F32NEON, asm.Dot1x4F32NEON, asm.Dot1x1F32NEON}

func dotsNEON(dst, a, b Rows[float32], na, nb, d int) {
	dotsOfNEON.run(dst, a, b, na, nb, d)
}
