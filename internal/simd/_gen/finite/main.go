// Command finite writes the search for numbers that are not finite.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2") }

func write(string) {
	TEXT("LargestBitsF32AVX2", NOSPLIT, "func(x *float32, n uintptr) uint32")
	Pragma("noescape")
	Doc("LargestBitsF32AVX2 returns the largest of the bits of n numbers without their signs,", "shifted left by one. n is a multiple of 32, not 0.")
	x, n := vec.Argument("x"), vec.Argument("n")
	var most [4]reg.VecVirtual
	for i := range most {
		most[i] = YMM()
		VPXOR(most[i], most[i], most[i])
	}
	Label("vectors")
	for i := range most {
		v := YMM()
		VMOVDQU(Mem{Base: x, Disp: 32 * i}, v)
		VPSLLD(U8(1), v, v)
		VPMAXUD(v, most[i], most[i])
	}
	ADDQ(U8(128), x)
	SUBQ(U8(32), n)
	JNZ(LabelRef("vectors"))
	VPMAXUD(most[1], most[0], most[0])
	VPMAXUD(most[3], most[2], most[2])
	VPMAXUD(most[2], most[0], most[0])
	m, t := most[0].AsX(), XMM()
	VEXTRACTI128(U8(1), most[0], t)
	VPMAXUD(t, m, m)
	VPSHUFD(U8(0x4e), m, t)
	VPMAXUD(t, m, m)
	VPSHUFD(U8(0xb1), m, t)
	VPMAXUD(t, m, m)
	out := GP32()
	VMOVD(m, out)
	Store(out, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
