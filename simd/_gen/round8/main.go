// Command round8 writes the rounding of points to codes of bytes.
//
// Eight columns go at a time, two vectors of float64, whose sums are the lanes. Codes
// are words on their way to bytes, and an instruction adds products of pairs of them.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var level = flag.String("level", "avx2", "avx2")

func main() {
	flag.Parse()
	ConstraintExpr("gc,!noasm,!purego")
	TEXT("round8BlocksAVX2", NOSPLIT, "func(code *int8, x, centre *float32, n uintptr, inverse float64, lanes *float64, counts *int32)")
	Pragma("noescape")
	Doc("round8BlocksAVX2 is round8Go for n columns, n a multiple of 8 and not zero. It leaves",
		"the 8 lanes, four parts of the sum of squares of codes, and four of that of codes.")
	code, x, centre, n := pointer("code"), pointer("x"), pointer("centre"), pointer("n")
	inverse, most, least := YMM(), YMM(), YMM()
	VBROADCASTSD(NewParamAddr("inverse", 32), inverse)
	VBROADCASTSD(ConstData("round8Most", F64(127)), most)
	VBROADCASTSD(ConstData("round8Least", F64(-127)), least)
	ones := XMM()
	VPCMPEQW(ones, ones, ones)
	VPSRLW(U8(15), ones, ones)
	lanes := []reg.VecVirtual{YMM(), YMM()}
	squares, sums := XMM(), XMM()
	for _, r := range []reg.VecVirtual{lanes[0], lanes[1], squares, sums} {
		VPXOR(r.AsX(), r.AsX(), r.AsX())
	}

	Label("block")
	words := []reg.VecVirtual{XMM(), XMM()}
	for v, lane := range lanes {
		e, c, q := YMM(), YMM(), YMM()
		VCVTPS2PD(Mem{Base: x, Disp: 16 * v}, e)
		VCVTPS2PD(Mem{Base: centre, Disp: 16 * v}, c)
		VSUBPD(c, e, e)
		VMULPD(inverse, e, e)
		VMINPD(most, e, q)
		VMAXPD(least, q, q)
		VROUNDPD(U8(8), q, q) // to the nearest
		VSUBPD(q, e, e)
		VMULPD(e, e, e)
		VADDPD(e, lane, lane)
		VCVTPD2DQY(q, words[v])
	}
	w, t := XMM(), XMM()
	VPACKSSDW(words[1], words[0], w)
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

	to := pointer("lanes")
	for v, lane := range lanes {
		VMOVUPD(lane, Mem{Base: to, Disp: 32 * v})
	}
	counts := pointer("counts")
	VMOVDQU(squares, Mem{Base: counts})
	VMOVDQU(sums, Mem{Base: counts, Disp: 16})
	VZEROUPPER()
	RET()
	Generate()
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
