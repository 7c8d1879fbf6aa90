// Command delta writes the kernels that decode columns kept as differences of 16
// bits, and values of 16 bits.
//
// Differences are added up in vectors: 8 or 16 of them take 3 or 4 shifts and
// additions, where one by one they take three instructions each. Those that do
// not fit 16 bits are rare. AVX-512 expands them from their list into place,
// without a branch; AVX2 branches and adds them one by one.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var level = flag.String("level", "avx2", "avx2 or avx512")

func main() {
	flag.Parse()
	ConstraintExpr("gc,!noasm,!purego")
	switch *level {
	case "avx2":
		columns256()
		singles("AVX2", 8)
	case "avx512":
		columns512()
		singles("AVX512", 16)
	}
	Generate()
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func signature(suffix string) {
	TEXT("columns"+suffix, NOSPLIT, "func(dst *uint32, words *int16, n uintptr, far *uint32, column uint32)")
	Pragma("noescape")
	Doc("columns"+suffix+" is columnsGo: it writes n columns, given the one before the first.",
		"It may write up to 16 numbers more, and reads no others.")
}

func columns512() {
	signature("AVX512")
	dst, words, n, far := pointer("dst"), pointer("words"), pointer("n"), pointer("far")
	column, escape, last, zero, base := GP32(), ZMM(), ZMM(), ZMM(), ZMM()
	Load(Param("column"), column)
	VPBROADCASTD(column, base)
	MOVL(I32(-1<<15), column)
	VPBROADCASTD(column, escape)
	MOVL(U32(15), column)
	VPBROADCASTD(column, last)
	VPXORQ(zero, zero, zero)
	sixteen := GP64()
	MOVQ(U32(16), sixteen)
	Label("block")
	// The last block is masked.
	count, bits, there := GP64(), GP32(), K()
	MOVQ(n, count)
	CMPQ(count, sixteen)
	CMOVQGT(sixteen, count)
	MOVL(I32(-1), bits)
	BZHIL(count.As32(), bits, bits)
	KMOVW(bits, there)
	c, t, rare, rest := ZMM(), ZMM(), K(), GP64()
	VPMOVSXWD_Z(Mem{Base: words}, there, c)
	VPCMPEQD(escape, c, rare)
	VPEXPANDD_Z(Mem{Base: far}, rare, t)
	KMOVW(rare, rest.As32())
	POPCNTL(rest.As32(), rest.As32())
	LEAQ(Mem{Base: far, Index: rest, Scale: 4}, far)
	VPADDD(t, c, c)
	for s := 1; s < 16; s *= 2 {
		VALIGND(U8(16-s), zero, c, t)
		VPADDD(t, c, c)
	}
	VPADDD(base, c, c)
	VPERMD(c, last, base)
	VMOVDQU32(c, Mem{Base: dst})
	ADDQ(U8(32), words)
	ADDQ(U8(64), dst)
	SUBQ(U8(16), n)
	JG(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func columns256() {
	signature("AVX2")
	dst, words, n, far := pointer("dst"), pointer("words"), pointer("n"), pointer("far")
	column, base, escape := GP32(), YMM(), XMM()
	Load(Param("column"), column)
	VMOVD(column, base.AsX())
	VPBROADCASTD(base.AsX(), base)
	VPCMPEQW(escape, escape, escape)
	VPSLLW(U8(15), escape, escape)
	room := AllocLocal(32)
	SUBQ(U8(8), n)
	JL(LabelRef("tail"))
	Label("block")
	w, c, t, rare := XMM(), YMM(), YMM(), GP32()
	VMOVDQU(Mem{Base: words}, w)
	VPMOVSXWD(w, c)
	VPCMPEQW(escape, w, w)
	VPMOVMSKB(w, rare)
	TESTL(rare, rare)
	JNZ(LabelRef("far"))
	Label("near")
	// Sums within halves, then that of the low half goes to the high one.
	for _, s := range []int{4, 8} {
		VPSLLDQ(U8(s), c, t)
		VPADDD(t, c, c)
	}
	VPERM2I128(U8(0x08), c, c, t)
	VPSHUFD(U8(0xff), t, t)
	VPADDD(t, c, c)
	VPADDD(base, c, c)
	VPERM2I128(U8(0x11), c, c, base)
	VPSHUFD(U8(0xff), base, base)
	VMOVDQU(c, Mem{Base: dst})
	ADDQ(U8(16), words)
	ADDQ(U8(32), dst)
	SUBQ(U8(8), n)
	JGE(LabelRef("block"))
	Label("tail")
	VMOVD(base.AsX(), column)
	ADDQ(U8(8), n)
	JZ(LabelRef("end"))
	Label("one")
	d := GP32()
	MOVWLSX(Mem{Base: words}, d)
	ADDL(d, column)
	CMPL(d, I32(-1<<15))
	JNE(LabelRef("put"))
	ADDL(Mem{Base: far}, column)
	ADDQ(U8(4), far)
	Label("put")
	MOVL(column, Mem{Base: dst})
	ADDQ(U8(2), words)
	ADDQ(U8(4), dst)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("end")
	VZEROUPPER()
	RET()

	Label("far")
	VMOVDQU(c, room)
	at, lane := GP64(), GP64()
	LEAQ(room, at)
	Label("next")
	TZCNTL(rare, lane.As32())
	MOVL(Mem{Base: far}, d)
	ADDQ(U8(4), far)
	ADDL(d, Mem{Base: at, Index: lane, Scale: 2}) // two bits a lane
	BLSRL(rare, rare)
	BLSRL(rare, rare)
	JNZ(LabelRef("next"))
	VMOVDQU(room, c)
	JMP(LabelRef("near"))
}

// singles writes the conversion of values.
func singles(suffix string, lanes int) {
	TEXT("singles"+suffix, NOSPLIT, "func(dst *float32, val *uint16, n uintptr)")
	Pragma("noescape")
	Doc("singles" + suffix + " is singlesGo for n values.")
	dst, val, n := pointer("dst"), pointer("val"), pointer("n")
	var v, one reg.VecVirtual = YMM(), XMM()
	if lanes == 16 {
		v = ZMM()
	}
	SUBQ(U8(lanes), n)
	JL(LabelRef("tail"))
	Label("block")
	VCVTPH2PS(Mem{Base: val}, v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(U8(2*lanes), val)
	ADDQ(U8(4*lanes), dst)
	SUBQ(U8(lanes), n)
	JGE(LabelRef("block"))
	Label("tail")
	ADDQ(U8(lanes), n)
	JZ(LabelRef("end"))
	Label("one")
	t := GP32()
	MOVWLZX(Mem{Base: val}, t)
	VMOVD(t, one)
	VCVTPH2PS(one, one)
	VMOVSS(one, Mem{Base: dst})
	ADDQ(U8(2), val)
	ADDQ(U8(4), dst)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("end")
	VZEROUPPER()
	RET()
}
