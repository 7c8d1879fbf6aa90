//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

var mulWordsOfAVX2 = mulWordsLoop{
	layout: wordLayout{most: 4, unit: 4, bits: 16, write: writeHalves},
	groups: 1,
	tall:   []mulWordsKernel{asm.MulWords1x2AVX2, asm.MulWords1x4AVX2},
}

var mulWordsOfAVX512 = mulWordsLoop{
	layout: wordLayout{most: 8, unit: 4, bits: 16, write: writeHalves},
	groups: 2,
	tall:   []mulWordsKernel{asm.MulWords2x2AVX512, asm.MulWords2x4AVX512, asm.MulWords2x6AVX512, asm.MulWords2x8AVX512},
	single: []mulWordsKernel{asm.MulWords1x2AVX512, asm.MulWords1x4AVX512, asm.MulWords1x6AVX512, asm.MulWords1x8AVX512},
}

var mulWordsOfAVX512VNNI = mulWordsLoop{
	layout: wordLayout{most: 6, unit: 64, bits: 8, write: writeBytes},
	groups: 4,
	tall:   []mulWordsKernel{asm.MulWords4x2AVX512VNNI, asm.MulWords4x4AVX512VNNI, asm.MulWords4x6AVX512VNNI},
	single: []mulWordsKernel{asm.MulWords1x2AVX512VNNI, asm.MulWords1x4AVX512VNNI, asm.MulWords1x6AVX512VNNI},
}

// layoutOfAMX has blocks of two tiles of pieces.
var layoutOfAMX = wordLayout{most: 32, unit: 64, bits: 8, write: writeBytes}

// writeHalves takes halves of words as signed numbers: a lower half that is negative borrows from
// the upper one. Nothing is borrowed from beyond the word, because products are modulo 2^32. In
// each group of four places the even ones come first.
func writeHalves(to []uint32, step int, column []uint32, shift uint32) {
	asm.PackWordHalvesAVX2(&to[0], uintptr(step), &column[0], uintptr(len(column)/4), uintptr(shift))
}

// writeBytes takes bytes of words as unsigned numbers.
func writeBytes(to []uint32, step int, column []uint32, shift uint32) {
	asm.PackWordBytesAVX512(&to[0], uintptr(step), &column[0], uintptr(len(column)/64), uintptr(shift))
}

func packWordsAVX2(w *Words, words []uint32) { mulWordsOfAVX2.layout.pack(w, words) }

func packWordsAVX512(w *Words, words []uint32) { mulWordsOfAVX512.layout.pack(w, words) }

func packWordsAVX512VNNI(w *Words, words []uint32) { mulWordsOfAVX512VNNI.layout.pack(w, words) }

func packWordsAMX(w *Words, words []uint32) { layoutOfAMX.pack(w, words) }

func mulWordsAVX2(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	mulWordsOfAVX2.run(sums, stride, panel, rows, w)
}

func mulWordsAVX512(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	mulWordsOfAVX512.run(sums, stride, panel, rows, w)
}

func mulWordsAVX512VNNI(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	mulWordsOfAVX512VNNI.run(sums, stride, panel, rows, w)
}

func mulWordsAMX(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	mulWordsDeepAMX(sums, stride, panel, rows, w, deepest)
}

// mulWordsDeepAMX takes up to deepest places of the panel at a time.
func mulWordsDeepAMX(sums []uint32, stride int, panel []int8, rows int, w *Words, deepest int) {
	most := layoutOfAMX.most
	whole := len(w.pieces) / most * most
	for t := 0; t < w.depth; t += deepest {
		depth := min(deepest, w.depth-t)
		run := func(first, pieces, blocks int) {
			asm.MulWordsAMX(&sums[0], uintptr(stride), &panel[16*t], uintptr(16*w.depth), uintptr(rows/16), uintptr(depth),
				&w.packed[layoutOfAMX.at(w, first, pieces, t)], uintptr(pieces*w.depth), uintptr(blocks), uintptr(pieces/2), &w.pieces[first])
		}
		if whole > 0 {
			run(0, most, whole/most)
		}
		if whole < len(w.pieces) {
			run(whole, len(w.pieces)-whole, 1)
		}
	}
}
