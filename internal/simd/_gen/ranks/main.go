// Command ranks writes the ranks of numbers: for each, how many of them are less.
//
// Several vectors of numbers are compared with one number at a time. There are no
// branches to predict, unlike in a sort, so for few numbers this is faster than a sort.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

// atOnce is how many numbers get their ranks at once.
const atOnce = 32

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	l := vec.SinglesNamed(level, "ranks")
	name := "RanksF64" + l.Suffix
	upper, count := newUpper(l), newCounter(l)
	TEXT(name, NOSPLIT, "func(rank *uint32, x *float64, n uintptr)")
	Pragma("noescape")
	Doc(name+" is ranksGo, for n > 0. It reads and writes 32 numbers at a time, so up to 31", "after the last.")
	rank, x, n := vec.Argument("rank"), vec.Argument("x"), vec.Argument("n")
	own, sum := make([]reg.VecVirtual, atOnce/l.Lanes), make([]reg.VecVirtual, atOnce/l.Lanes)
	from, left := GP64(), GP64()
	MOVQ(x, from)
	MOVQ(n, left)
	pick, add := upper(), count()

	Label("numbers")
	for v := range own {
		own[v] = pick(Mem{Base: from, Disp: 8 * l.Lanes * v})
		sum[v] = l.Zero()
	}
	j, other := GP64(), l.Vector()
	XORQ(j, j)
	Label("other")
	VPBROADCASTD(Mem{Base: x, Index: j, Scale: 8, Disp: 4}, other)
	for v := range own {
		add(other, own[v], sum[v])
	}
	INCQ(j)
	CMPQ(j, n)
	JNE(LabelRef("other"))
	for v := range sum {
		VMOVUPS(sum[v], Mem{Base: rank, Disp: 4 * l.Lanes * v})
	}
	ADDQ(U32(8*atOnce), from)
	ADDQ(U32(4*atOnce), rank)
	SUBQ(U8(atOnce), left)
	JG(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}

// An upper loads the upper halves of a vector of numbers.
type upper func(m Mem) reg.VecVirtual

// newUpper returns a function that makes an upper within an assembly function.
func newUpper(l *vec.Singles) func() upper {
	if l.Lanes == 8 {
		return func() upper {
			return func(m Mem) reg.VecVirtual {
				v := YMM()
				VMOVUPS(m, v)
				VSHUFPS(U8(0xdd), m.Offset(32), v, v) // 1 3 9 11 5 7 13 15
				VPERMQ(U8(0xd8), v, v)
				return v
			}
		}
	}
	odd := GLOBL("ranksOdd"+l.Suffix, RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(2*i+1))
	}
	return func() upper {
		lanes := ZMM()
		VMOVDQU32(odd, lanes)
		return func(m Mem) reg.VecVirtual {
			v := ZMM()
			VMOVDQU32(m, v)
			VPERMT2D(m.Offset(64), lanes, v)
			return v
		}
	}
}

// A counter adds 1 to the lanes of sum whose number is greater than the other.
type counter func(other, own, sum reg.VecVirtual)

// newCounter returns a function that makes a counter within an assembly function.
func newCounter(l *vec.Singles) func() counter {
	if l.Lanes == 8 {
		return func() counter {
			return func(other, own, sum reg.VecVirtual) {
				more := YMM()
				VPCMPGTD(other, own, more)
				VPSUBD(more, sum, sum) // all ones are -1
			}
		}
	}
	ones := GLOBL("ranksOne"+l.Suffix, RODATA|NOPTR)
	DATA(0, U32(1))
	return func() counter {
		one := ZMM()
		VPBROADCASTD(ones, one)
		return func(other, own, sum reg.VecVirtual) {
			more := K()
			VPCMPGTD(other, own, more)
			VPADDD(one, sum, more, sum)
		}
	}
}
