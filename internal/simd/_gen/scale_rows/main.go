// Command scale_rows writes the loops that scale rows of float32 in float64.
//
// Eight columns go at a time, one vector of float64 or two. Every number is rounded as the
// plain loop rounds it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	l := loops{suffix: "AVX2", count: 2, size: 32}
	if level == "avx512" {
		l = loops{suffix: "AVX512", count: 1, size: 64}
	}
	l.largestDifference()
	l.scaleDifferences()
	l.scaleProducts()
	l.scaleRow()
}

// loops are those of one level: count vectors of size bytes are eight columns.
type loops struct {
	suffix      string
	count, size int
}

func (l loops) vector() reg.VecVirtual { return vec.Register(l.size) }

// begin starts a function.
func (l loops) begin(name, signature, doc string) {
	TEXT(name+l.suffix, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name+l.suffix+" "+doc, "for n columns, a multiple of 8 and not zero.")
}

// widen loads the columns of vector v of eight as float64.
func (l loops) widen(x reg.Register, v int) reg.VecVirtual {
	out := l.vector()
	VCVTPS2PD(Mem{Base: x, Disp: l.size / 2 * v}, out)
	return out
}

// narrow stores the columns of vector v of eight as float32.
func (l loops) narrow(wide reg.VecVirtual, dst reg.Register, v int) {
	if l.size == 64 {
		short := YMM()
		VCVTPD2PS(wide, short)
		VMOVUPS(short, Mem{Base: dst, Disp: l.size / 2 * v})
		return
	}
	short := XMM()
	VCVTPD2PSY(wide, short)
	VMOVUPS(short, Mem{Base: dst, Disp: l.size / 2 * v})
}

// wide is the place of vector v of eight float64 columns.
func (l loops) wide(base reg.Register, v int) Mem { return Mem{Base: base, Disp: l.size * v} }

// next ends a round: it moves pointers to float32 and float64 by eight columns.
func (l loops) next(n reg.Register, singles, doubles []reg.Register) {
	for _, p := range singles {
		ADDQ(U8(32), p)
	}
	for _, p := range doubles {
		ADDQ(U8(64), p)
	}
	SUBQ(U8(8), n)
	JNZ(LabelRef("columns"))
}

func end() {
	VZEROUPPER()
	RET()
}

func (l loops) largestDifference() {
	l.begin("LargestDifference", "func(x *float32, mean *float64, n uintptr) float64", "is largestDifferenceGo")
	x, mean, n := vec.Argument("x"), vec.Argument("mean"), vec.Argument("n")
	sign := l.vector()
	VPBROADCASTQ(ConstData("LargestDifferenceMask"+l.suffix, U64(1<<63-1)), sign)
	most := make([]reg.VecVirtual, l.count)
	for v := range most {
		most[v] = l.vector()
		VPXOR(most[v].AsX(), most[v].AsX(), most[v].AsX())
	}
	Label("columns")
	for v := range most {
		e := l.widen(x, v)
		VSUBPD(l.wide(mean, v), e, e)
		if l.size == 64 {
			VPANDQ(sign, e, e)
		} else {
			VPAND(sign, e, e)
		}
		VMAXPD(e, most[v], most[v])
	}
	l.next(n, []reg.Register{x}, []reg.Register{mean})
	all := most[0].AsY()
	if l.size == 64 {
		half := YMM()
		VEXTRACTF64X4(U8(1), most[0], half)
		VMAXPD(half, all, all)
	} else {
		VMAXPD(most[1], all, all)
	}
	m, t := most[0].AsX(), XMM()
	VEXTRACTF128(U8(1), all, t)
	VMAXPD(t, m, m)
	VPERMILPD(U8(1), m, t)
	VMAXPD(t, m, m)
	Store(m, ReturnIndex(0))
	end()
}

func (l loops) scaleDifferences() {
	l.begin("ScaleDifferences", "func(dst, x *float32, mean *float64, n uintptr, scale float64)", "is scaleDifferencesGo")
	dst, x, mean, n := vec.Argument("dst"), vec.Argument("x"), vec.Argument("mean"), vec.Argument("n")
	scale := l.vector()
	VBROADCASTSD(NewParamAddr("scale", 32), scale)
	Label("columns")
	for v := range l.count {
		e := l.widen(x, v)
		VSUBPD(l.wide(mean, v), e, e)
		VMULPD(scale, e, e)
		l.narrow(e, dst, v)
	}
	l.next(n, []reg.Register{dst, x}, []reg.Register{mean})
	end()
}

func (l loops) scaleProducts() {
	l.begin("ScaleProducts", "func(dst, x *float32, columns *float64, n uintptr, scale float64)", "is scaleProductsGo")
	dst, x, columns, n := vec.Argument("dst"), vec.Argument("x"), vec.Argument("columns"), vec.Argument("n")
	scale, zero := l.vector(), l.vector()
	VBROADCASTSD(NewParamAddr("scale", 32), scale)
	VPXOR(zero.AsX(), zero.AsX(), zero.AsX())
	Label("columns")
	for v := range l.count {
		e := l.widen(x, v)
		VADDPD(zero, e, e)
		VMULPD(scale, e, e)
		VMULPD(l.wide(columns, v), e, e)
		l.narrow(e, dst, v)
	}
	l.next(n, []reg.Register{dst, x}, []reg.Register{columns})
	end()
}

func (l loops) scaleRow() {
	l.begin("ScaleRow", "func(dst, x *float32, n uintptr, scale float64)", "is scaleRowGo")
	dst, x, n := vec.Argument("dst"), vec.Argument("x"), vec.Argument("n")
	scale := l.vector()
	VBROADCASTSD(NewParamAddr("scale", 24), scale)
	Label("columns")
	for v := range l.count {
		e := l.widen(x, v)
		VMULPD(scale, e, e)
		l.narrow(e, dst, v)
	}
	l.next(n, []reg.Register{dst, x}, nil)
	end()
}
