// Command grow_box writes the box around rows.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var level = flag.String("level", "avx2", "avx2")

const columns = 32 // at a time

func main() {
	flag.Parse()
	if *level != "avx2" {
		panic("no level " + *level)
	}
	ConstraintExpr("gc,!noasm,!purego")
	TEXT("GrowBoxF32AVX2", NOSPLIT, "func(lo, hi, x *float32, n uintptr)")
	Pragma("noescape")
	Doc("GrowBoxF32AVX2 is growBoxGo for n columns, a multiple of 32, not 0.")
	load := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	lo, hi, x, n := load("lo"), load("hi"), load("x"), load("n")
	at := GP64()
	XORQ(at, at)
	Label("columns")
	for v := range columns / 8 {
		in := func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: at, Scale: 4, Disp: 32 * v} }
		y, least, most := YMM(), YMM(), YMM()
		VMOVUPS(in(x), y)
		// Of numbers neither of which is less the second operand is taken, here the first.
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
	Generate()
}
