//go:build gc && !noasm && !purego

package simd

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

// withDotProducts returns the kernels of s, and adds those that need dot products of bytes where
// the processor has them. Not every arm64 processor does, and cpuid detects them on some systems
// only.
func (s Kernels) withDotProducts() Kernels {
	switch runtime.GOOS {
	case "linux", "darwin":
		if cpuid.CPU.Supports(cpuid.ASIMDDP) {
			s.packWords, s.mulWords = packWordsNEON, mulWordsNEON
		}
	}
	return s
}

var mulWordsOfNEON = mulWordsLoop{
	layout: wordLayout{most: 4, unit: 16, bits: 8, write: writeSignedBytes},
	groups: 1,
	tall:   []mulWordsKernel{asm.MulWords1x2NEON, asm.MulWords1x4NEON},
}

// writeSignedBytes takes bytes of words as signed numbers: one that is negative borrows from the
// one above it. Nothing is borrowed from beyond the word, because products are modulo 2^32.
func writeSignedBytes(to []uint32, step int, column []uint32, shift uint32) {
	const signs = 0x80808080
	piece := func(x uint32) uint32 { return ((x + signs) ^ signs) >> (shift & 31) & 0xff }
	for at := 0; len(column) > 0; at += step {
		for i := range (*[4]uint32)(to[at:]) {
			x := (*[4]uint32)(column)
			to[at+i] = piece(x[0]) | piece(x[1])<<8 | piece(x[2])<<16 | piece(x[3])<<24
			column = column[4:]
		}
	}
}

func packWordsNEON(w *Words, words []uint32) { mulWordsOfNEON.layout.pack(w, words) }

func mulWordsNEON(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	mulWordsOfNEON.run(sums, stride, panel, rows, w)
}
