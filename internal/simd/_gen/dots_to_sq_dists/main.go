// Command dots_to_sq_dists writes the loop from dot products to squared distances.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	l := vec.Named(level)
	name := "DotsToSqDistsF64" + l.Suffix
	TEXT(name, NOSPLIT, "func(dots *float64, norm2 float64, norms2 *float64, n uintptr)")
	Pragma("noescape")
	Doc(name + " is dotsToSqDists64Go for n numbers, n at least one.")
	dots, norms2, n := vec.Argument("dots"), vec.Argument("norms2"), vec.Argument("n")
	norm2, zero := l.Wide(), l.Wide()
	VBROADCASTSD(vec.Address("norm2"), norm2)
	l.Clear(zero)
	minusTwo := l.Constant("dotsToSqDistsFactor", -2)
	at := GP64()
	XORQ(at, at)
	distances := func(load func(m Mem, v reg.VecVirtual), store func(v reg.VecVirtual, m Mem)) {
		sum, dot := l.Wide(), l.Wide()
		load(Mem{Base: norms2, Index: at, Scale: 8}, sum)
		load(Mem{Base: dots, Index: at, Scale: 8}, dot)
		VADDPD(norm2, sum, sum)
		VFMADD231PD(dot, minusTwo, sum)
		VMAXPD(sum, zero, sum) // in this order of operands a NaN passes through
		store(sum, Mem{Base: dots, Index: at, Scale: 8})
	}
	SUBQ(U8(l.Lanes), n)
	JL(LabelRef("tail"))
	Label("loop")
	distances(func(m Mem, v reg.VecVirtual) { VMOVUPD(m, v) }, func(v reg.VecVirtual, m Mem) { VMOVUPD(v, m) })
	ADDQ(U8(l.Lanes), at)
	SUBQ(U8(l.Lanes), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(l.Lanes), n)
	JZ(LabelRef("done"))
	t := l.Tail("dotsToSqDists", n)
	distances(t.LoadWide, t.StoreWide)
	Label("done")
	VZEROUPPER()
	RET()
}
