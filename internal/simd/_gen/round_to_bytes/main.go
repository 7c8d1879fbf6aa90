// Command round_to_bytes writes the rounding of points to codes of bytes.
//
// Eight columns go at a time, one vector of float64 or two, whose sums are the lanes.
// Codes are words before they become bytes, and one instruction adds products of pairs
// of words.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	name, count, size := "RoundToBytesAVX2", 2, 32
	if level == "avx512" {
		name, count, size = "RoundToBytesAVX512", 1, 64
	}
	vector := func() reg.VecVirtual { return vec.Register(size) }
	TEXT(name, NOSPLIT, "func(code *int8, x, centre *float32, n uintptr, inverse float64, lanes *float64, counts *int32)")
	Pragma("noescape")
	Doc(name+" is roundToBytesGo for n columns, n a multiple of 8 and not zero. It leaves",
		"the 8 lanes, four parts of the sum of squares of codes, and four of the sum of codes.")
	code, x, centre, n := vec.Argument("code"), vec.Argument("x"), vec.Argument("centre"), vec.Argument("n")
	inverse, most, least := vector(), vector(), vector()
	VBROADCASTSD(NewParamAddr("inverse", 32), inverse)
	VBROADCASTSD(ConstData(name+"Most", F64(127)), most)
	VBROADCASTSD(ConstData(name+"Least", F64(-127)), least)
	ones := XMM()
	VPCMPEQW(ones, ones, ones)
	VPSRLW(U8(15), ones, ones)
	lanes := make([]reg.VecVirtual, count)
	squares, sums := XMM(), XMM()
	for v := range lanes {
		lanes[v] = vector()
		VPXOR(lanes[v].AsX(), lanes[v].AsX(), lanes[v].AsX())
	}
	VPXOR(squares, squares, squares)
	VPXOR(sums, sums, sums)

	Label("block")
	var words []reg.VecVirtual
	for v, lane := range lanes {
		e, c, q := vector(), vector(), vector()
		VCVTPS2PD(Mem{Base: x, Disp: size / 2 * v}, e)
		VCVTPS2PD(Mem{Base: centre, Disp: size / 2 * v}, c)
		VSUBPD(c, e, e)
		VMULPD(inverse, e, e)
		VMINPD(most, e, q)
		VMAXPD(least, q, q)
		if level == "avx512" {
			VRNDSCALEPD(U8(8), q, q) // to the nearest
		} else {
			VROUNDPD(U8(8), q, q)
		}
		VSUBPD(q, e, e)
		VMULPD(e, e, e)
		VADDPD(e, lane, lane)
		if level == "avx512" {
			words = append(words, YMM())
			VCVTPD2DQ(q, words[v])
		} else {
			words = append(words, XMM())
			VCVTPD2DQY(q, words[v])
		}
	}
	w, t := XMM(), XMM()
	if level == "avx512" {
		VEXTRACTI128(U8(1), words[0], t)
		VPACKSSDW(t, words[0].AsX(), w)
	} else {
		VPACKSSDW(words[1], words[0], w)
	}
	VPMADDWD(w, w, t)
	VPADDD(t, squares, squares)
	VPMADDWD(ones, w, t)
	VPADDD(t, sums, sums)
	VPACKSSWB(w, w, w)
	VMOVQ(w, Mem{Base: code})
	ADDQ(U8(32), x)
	ADDQ(U8(32), centre)
	ADDQ(U8(8), code)
	SUBQ(U8(8), n)
	JNZ(LabelRef("block"))

	to := vec.Argument("lanes")
	for v, lane := range lanes {
		VMOVUPD(lane, Mem{Base: to, Disp: size * v})
	}
	counts := vec.Argument("counts")
	VMOVDQU(squares, Mem{Base: counts})
	VMOVDQU(sums, Mem{Base: counts, Disp: 16})
	VZEROUPPER()
	RET()
}
