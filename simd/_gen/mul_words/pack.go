package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/seed-64e14a55/privatemail/simd/_gen/vec"
)

// packBytes writes the function that takes one byte of each word.
func packBytes() {
	const name = "PackWordBytesAVX512"
	TEXT(name, NOSPLIT, "func(to *uint32, step uintptr, words *uint32, units, shift uintptr)")
	Pragma("noescape")
	Doc(name+" takes a byte of each word.", "",
		"\tfor u := range units {",
		"\t\tfor i := range 64 {",
		"\t\t\tbyte i of to[u*step:] = uint8(words[64*u+i] >> shift)",
		"\t\t}",
		"\t}", "",
		"step counts words.")
	to, step, words, units := vec.Argument("to"), vec.Stride("step"), vec.Argument("words"), vec.Argument("units")
	shift := XMM()
	VMOVQ(vec.Address("shift"), shift)
	Label("units")
	for i := range 4 {
		v := ZMM()
		VMOVDQU32(Mem{Base: words, Disp: 64 * i}, v)
		VPSRLD(shift, v, v)
		VPMOVDB(v, Mem{Base: to, Disp: 16 * i})
	}
	ADDQ(step, to)
	ADDQ(U32(256), words)
	DECQ(units)
	JNZ(LabelRef("units"))
	VZEROUPPER()
	RET()
}
