// Command float16 writes the conversion of values of 16 bits.
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
		float32s("AVX2", 8)
	case "avx512":
		float32s("AVX512", 16)
	}
	Generate()
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// float32s writes the conversion of values.
func float32s(suffix string, lanes int) {
	TEXT("Float32s"+suffix, NOSPLIT, "func(dst *float32, val *uint16, n uintptr)")
	Pragma("noescape")
	Doc("Float32s" + suffix + " is float32sGo for n values.")
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
