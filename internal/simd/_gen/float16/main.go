// Command float16 writes the conversion of values of 16 bits. Vectors of AVX-512 convert no
// faster, since the conversion waits for its stores, and they leave more values at the end.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2") }

func write(string) {
	const lanes = 8
	TEXT("Float32sAVX2", NOSPLIT, "func(dst *float32, val *uint16, n uintptr)")
	Pragma("noescape")
	Doc("Float32sAVX2 is float32sGo for n values.")
	dst, val, n := vec.Argument("dst"), vec.Argument("val"), vec.Argument("n")
	v, one := vec.Register(4*lanes), XMM()
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
