//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

var wordDotsOfNEON = dotKernels[uint32]{2, asm.WordDot2x4NEON, asm.WordDot1x4NEON, asm.WordDot1x1NEON}

func wordDotsNEON(dst, a, b []uint32, depth int) { runWords(&wordDotsOfNEON, dst, a, b, depth) }
