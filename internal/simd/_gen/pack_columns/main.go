// Command pack_columns writes the kernel that turns columns into offsets of 16 bits.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(pack, "avx512") }

// pack takes 16 columns at a time. The next row overwrites numbers after a row, so only
// the last blocks need a mask.
func pack(string) {
	TEXT("PackColumnsAVX512", NOSPLIT, "func(off *uint16, ptr *uint64, rows uintptr, base, ind *uint32)")
	Pragma("noescape")
	Doc("PackColumnsAVX512 is packColumnsGo.")
	off, ptr, n, base, ind := vec.Argument("off"), vec.Argument("ptr"), vec.Argument("rows"), vec.Argument("base"), vec.Argument("ind")
	p, end, limit, next := GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: ptr}, p)
	MOVQ(Mem{Base: ptr, Index: n, Scale: 8}, limit)
	from, v := ZMM(), ZMM()

	Label("row")
	VPBROADCASTD(Mem{Base: base}, from)
	MOVQ(Mem{Base: ptr, Disp: 8}, end)
	ADDQ(U8(8), ptr)
	ADDQ(U8(4), base)
	CMPQ(p, end)
	JGE(LabelRef("done"))
	Label("block")
	LEAQ(Mem{Base: p, Disp: 16}, next)
	CMPQ(next, limit)
	JG(LabelRef("masked"))
	VMOVDQU32(Mem{Base: ind, Index: p, Scale: 4}, v)
	VPSUBD(from, v, v)
	VPMOVDW(v, Mem{Base: off, Index: p, Scale: 2})
	MOVQ(next, p)
	CMPQ(p, end)
	JLT(LabelRef("block"))
	Label("done")
	MOVQ(end, p)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()

	Label("masked")
	count, bits, there := GP64(), GP32(), K()
	MOVQ(end, count)
	SUBQ(p, count) // at most 15 are left of the last row, 16 and more of none
	MOVL(I32(-1), bits)
	BZHIL(count.As32(), bits, bits)
	KMOVW(bits, there)
	VMOVDQU32_Z(Mem{Base: ind, Index: p, Scale: 4}, there, v)
	VPSUBD(from, v, v)
	VPMOVDW(v, there, Mem{Base: off, Index: p, Scale: 2})
	JMP(LabelRef("done"))
}
