//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

var (
	wordDotsOfAVX2   = dotKernels[uint32]{2, asm.WordDot2x4AVX2, asm.WordDot1x4AVX2, asm.WordDot1x1AVX2}
	wordDotsOfAVX512 = dotKernels[uint32]{4, asm.WordDot4x4AVX512, asm.WordDot1x4AVX512, asm.WordDot1x1AVX512}
)

func wordDotsAVX2(dst, a, b []uint32, depth int) { runWords(&wordDotsOfAVX2, dst, a, b, depth) }

func wordDotsAVX512(dst, a, b []uint32, depth int) { runWords(&wordDotsOfAVX512, dst, a, b, depth) }
