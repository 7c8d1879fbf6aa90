// Command sliding_window writes the kernel that moves windows over ascending numbers.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(slideWindows, "avx512") }

// slideWindows looks at 16 numbers at a time, which is mostly enough. The end of a loop
// over single numbers could not be predicted, and one misprediction costs more than the
// whole function.
func slideWindows(string) {
	TEXT("SlideWindowsAVX512", NOSPLIT, "func(windows *int, n uintptr, numbers *uint32, lo, hi int)")
	Pragma("noescape")
	Doc("SlideWindowsAVX512 is slideWindowsGo for n windows, at least one, four numbers each.")
	window := vec.Argument("windows")
	n := vec.Argument("n")
	numbers := vec.Argument("numbers")
	lo := vec.Argument("lo")
	hi := vec.Argument("hi")
	zero, most32 := GP64(), GP64()
	XORQ(zero, zero)
	MOVL(U32(1<<32-1), most32.As32())

	Label("window")
	half, end, from, to := GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: window, Disp: 24}, half)
	MOVQ(Mem{Base: window, Disp: 16}, end)
	MOVQ(Mem{Base: window}, from)
	MOVQ(Mem{Base: window, Disp: 8}, to)
	least, most := GP64(), GP64()
	MOVQ(lo, least)
	SUBQ(half, least)
	CMOVQLT(zero, least)
	MOVQ(hi, most)
	ADDQ(half, most)
	CMPQ(most, most32)
	CMOVQGT(most32, most)
	below, upTo := ZMM(), ZMM()
	VPBROADCASTD(least.As32(), below)
	VPBROADCASTD(most.As32(), upTo)

	// advance moves at past the numbers for which the comparison holds, up to the end.
	advance := func(name string, at reg.GPVirtual, bound reg.VecVirtual, order Constant) {
		Label(name)
		left, lanes, there, v, yes := GP64(), GP32(), K(), ZMM(), K()
		MOVQ(end, left)
		SUBQ(at, left)
		sixteen := GP64()
		MOVQ(U32(16), sixteen)
		CMPQ(left, sixteen)
		CMOVQGT(sixteen, left)
		MOVL(I32(-1), lanes)
		BZHIL(left.As32(), lanes, lanes)
		KMOVW(lanes, there)
		VMOVDQU32_Z(Mem{Base: numbers, Index: at, Scale: 4}, there, v)
		VPCMPUD(order, bound, v, there, yes)
		bits, count := GP32(), GP32()
		KMOVW(yes, bits)
		POPCNTL(bits, count)
		ADDQ(count.As64(), at)
		CMPL(count, U8(16))
		JE(LabelRef(name))
	}
	advance("from", from, below, U8(1)) // less
	CMPQ(to, from)
	CMOVQLT(from, to)
	advance("to", to, upTo, U8(2)) // less or equal
	MOVQ(from, Mem{Base: window})
	MOVQ(to, Mem{Base: window, Disp: 8})
	ADDQ(U8(32), window)
	DECQ(n)
	JNZ(LabelRef("window"))
	VZEROUPPER()
	RET()
}
