// Command grow_box writes the box around rows.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

const columns = 32 // at a time

func main() { vec.Write(write, "avx2") }

func write(string) {
	TEXT("GrowBoxF32AVX2", NOSPLIT, "func(lo, hi, x *float32, n uintptr)")
	Pragma("noescape")
	Doc("GrowBoxF32AVX2 is growBoxGo for n columns, a multiple of 32, not 0.")
	lo, hi, x, n := vec.Argument("lo"), vec.Argument("hi"), vec.Argument("x"), vec.Argument("n")
	at := GP64()
	XORQ(at, at)
	Label("columns")
	for v := range columns / 8 {
		in := func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: at, Scale: 4, Disp: 32 * v} }
		y, least, most := YMM(), YMM(), YMM()
		VMOVUPS(in(x), y)
		// If neither number is less, the result is the second operand; avo lists it first.
		VMINPS(in(lo), y, least)
		VMAXPS(in(hi), y, most)
		VMOVUPS(least, in(lo))
		VMOVUPS(most, in(hi))
	}
	ADDQ(U8(columns), at)
	CMPQ(at, n)
	JNE(LabelRef("columns"))
	VZEROUPPER()
	RET()
}
