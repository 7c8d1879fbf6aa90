package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
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

// packHalves writes the function that takes one half of each word, as a signed number.
func packHalves() {
	const name = "PackWordHalvesAVX2"
	order := GLOBL("packWordHalvesOrder", RODATA|NOPTR)
	for half := range 2 {
		for i, place := range []int{0, 2, 1, 3} {
			at := 4*place + 2*half // of the half in four words
			DATA(16*half+2*i, U16(at|(at+1)<<8))
		}
		DATA(16*half+8, U64(0x8080808080808080)) // nothing
	}
	TEXT(name, NOSPLIT, "func(to *uint32, step uintptr, words *uint32, lines, shift uintptr)")
	Pragma("noescape")
	Doc(name+" takes a half of each word: the lower one where shift is 0, the upper one where it is 16.", "",
		"\tfor l := range lines {",
		"\t\tfor i := range 4 {",
		"\t\t\thalf i%2*2+i/2 of to[l*step:] = uint16(((words[4*l+i] + 1<<15) ^ 1<<15) >> shift)",
		"\t\t}",
		"\t}", "",
		"step counts words. Halves are signed: a lower one that is negative borrows from the upper one.")
	to, step, words, lines, shift := vec.Argument("to"), vec.Stride("step"), vec.Argument("words"), vec.Argument("lines"), vec.Argument("shift")
	sign, shuffle, table := XMM(), XMM(), GP64()
	VPCMPEQD(sign, sign, sign)
	VPSRLD(U8(31), sign, sign)
	VPSLLD(U8(15), sign, sign)
	LEAQ(order, table)
	VMOVDQU(Mem{Base: table, Index: shift, Scale: 1}, shuffle)
	Label("lines")
	v := XMM()
	VPADDD(Mem{Base: words}, sign, v)
	VPXOR(sign, v, v)
	VPSHUFB(shuffle, v, v)
	VMOVQ(v, Mem{Base: to})
	ADDQ(U8(16), words)
	ADDQ(step, to)
	DECQ(lines)
	JNZ(LabelRef("lines"))
	RET()
}
