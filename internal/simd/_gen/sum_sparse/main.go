// Command sum_sparse writes the sums of the values of sparse rows, in four float64
// chains: one lane each.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2") }

func write(string) {
	masks := GLOBL("sumSparseMasks", RODATA|NOPTR) // of the lanes below 0, 1, 2 and 3
	for lane := range 16 {
		on := uint32(0)
		if lane%4 < lane/4 {
			on = 1<<32 - 1
		}
		DATA(4*lane, U32(on))
	}
	TEXT("SumSparseF32AVX2", NOSPLIT, "func(dst *float64, ptr *uint64, rows uintptr, val *float32)")
	Pragma("noescape")
	Doc("SumSparseF32AVX2 is sumSparseGo.")
	dst, ptr, n, val := vec.Argument("dst"), vec.Argument("ptr"), vec.Argument("rows"), vec.Argument("val")
	p, end := GP64(), GP64()
	MOVQ(Mem{Base: ptr}, p)

	Label("row")
	ADDQ(U8(8), ptr)
	MOVQ(Mem{Base: ptr}, end)
	sum := YMM()
	VXORPD(sum, sum, sum)
	SUBQ(U8(4), end)
	CMPQ(p, end)
	JG(LabelRef("tail"))
	Label("four")
	v := YMM()
	VCVTPS2PD(Mem{Base: val, Index: p, Scale: 4}, v)
	VADDPD(v, sum, sum)
	ADDQ(U8(4), p)
	CMPQ(p, end)
	JLE(LabelRef("four"))
	Label("tail")
	ADDQ(U8(4), end)
	// Up to three more, in lanes 0, 1 and 2; the others get zeros. Their number is hard
	// to predict, so there is no branch.
	rest, table, mask, few := GP64(), GP64(), XMM(), XMM()
	MOVQ(end, rest)
	SUBQ(p, rest)
	SHLQ(U8(4), rest)
	LEAQ(masks, table)
	VMOVDQU(Mem{Base: table, Index: rest, Scale: 1}, mask)
	VMASKMOVPS(Mem{Base: val, Index: p, Scale: 4}, mask, few)
	MOVQ(end, p)
	wide := YMM()
	VCVTPS2PD(few, wide)
	VADDPD(wide, sum, sum)
	high := XMM()
	VEXTRACTF128(U8(1), sum, high)
	VADDPD(high, sum.AsX(), sum.AsX()) // c0 + c2, c1 + c3
	VPERMILPD(U8(1), sum.AsX(), high)
	VADDSD(high, sum.AsX(), sum.AsX())
	VMOVSD(sum.AsX(), Mem{Base: dst})
	ADDQ(U8(8), dst)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
