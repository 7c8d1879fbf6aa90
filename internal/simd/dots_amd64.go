//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

var (
	dotsOfAVX2   = dotKernels[float32]{2, asm.Dot2x4F32AVX2, asm.Dot1x4F32AVX2, asm.Dot1x1F32AVX2}
	dotsOfAVX512 = dotKernels[float32]{4, asm.Dot4x4F32AVX512, asm.Dot1x4F32AVX512, asm.Dot1x1F32AVX512}
)

func dotsAVX2(dst, a, b Rows[float32], na, nb, d int) {
	dotsOfAVX2.run(dst, a, b, na, nb, d)
}

func dotsAVX512(dst, a, b Rows[float32], na, nb, d int) {
	dotsOfAVX512.run(dst, a, b, na, nb, d)
}
