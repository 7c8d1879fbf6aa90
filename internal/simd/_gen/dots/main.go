// Command dots writes dot products between rows of float32 numbers, and between rows of 32-bit
// words.
//
// A pair of rows is summed in the lanes of one register, whichever
// function computes it, so its bits do not depend on how pairs are put into
// tiles. A tile of 4 by 4 rows (2 by 4 on AVX2, which has half the registers)
// loads 8 vectors for 16 products; one row against 4 and one pair are for the
// edges and for single queries.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	l := vec.SinglesNamed(level, "dots")
	tall := l.Lanes / 4
	for _, shape := range [][2]int{{tall, 4}, {1, 4}, {1, 1}} {
		generate(l, singles(l), shape[0], shape[1])
	}
	for _, shape := range [][2]int{{tall, 4}, {1, 4}, {1, 1}} {
		generate(l, words(l), shape[0], shape[1])
	}
}

// A kind is a kind of numbers.
type kind struct {
	name, number string
	// multiply adds the products of two vectors to a third, and add adds two vectors.
	multiply func(x, y, sum reg.VecVirtual)
	add      func(ops ...Op)
}

func singles(l *vec.Singles) kind {
	return kind{"Dot%dx%dF32" + l.Suffix, "float32", func(x, y, sum reg.VecVirtual) { VFMADD231PS(x, y, sum) }, VADDPS}
}

// words are multiplied modulo 2^32.
func words(l *vec.Singles) kind {
	return kind{"WordDot%dx%d" + l.Suffix, "uint32", func(x, y, sum reg.VecVirtual) {
		product := l.Vector()
		VPMULLD(x, y, product)
		VPADDD(product, sum, sum)
	}, VPADDD}
}

func generate(l *vec.Singles, k kind, na, nb int) {
	name := fmt.Sprintf(k.name, na, nb)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *%[1]s, dstStride uintptr, a *%[1]s, aStride uintptr, b *%[1]s, bStride uintptr, d uintptr)", k.number))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s multiplies %s of a with %d of b.", name, vec.Count(na, "row"), nb),
		"",
		fmt.Sprintf("\tfor i := range %d {", na),
		fmt.Sprintf("\t\tfor j := range %d {", nb),
		"\t\t\tdst[i*dstStride+j] = sum over c < d of a[i*aStride+c] * b[j*bStride+c]",
		"\t\t}",
		"\t}",
		"",
		fmt.Sprintf("with c in %d lanes.", l.Lanes))
	rows := func(base, strideName string, n int) (at []reg.GPVirtual) {
		at = append(at, vec.Argument(base))
		if n == 1 {
			return at
		}
		s := vec.Stride(strideName)
		for i := 1; i < n; i++ {
			next := GP64()
			LEAQ(Mem{Base: at[i-1], Index: s, Scale: 1}, next)
			at = append(at, next)
		}
		return at
	}
	a, b := rows("a", "aStride", na), rows("b", "bStride", nb)
	sums := make([][]reg.VecVirtual, na)
	for i := range sums {
		for range nb {
			sums[i] = append(sums[i], l.Zero())
		}
	}
	d, at := vec.Argument("d"), GP64()
	XORQ(at, at)
	columns := func(load func(m Mem, v reg.VecVirtual)) {
		left := make([]reg.VecVirtual, na)
		for i := range left {
			left[i] = l.Vector()
			load(Mem{Base: a[i], Index: at, Scale: 4}, left[i])
		}
		for j := range nb {
			right := l.Vector()
			load(Mem{Base: b[j], Index: at, Scale: 4}, right)
			for i := range left {
				k.multiply(right, left[i], sums[i][j])
			}
		}
	}
	SUBQ(U8(l.Lanes), d)
	JL(LabelRef("tail"))
	Label("loop")
	columns(func(m Mem, v reg.VecVirtual) { VMOVUPS(m, v) })
	ADDQ(U8(l.Lanes), at)
	SUBQ(U8(l.Lanes), d)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(l.Lanes), d)
	JZ(LabelRef("reduce"))
	columns(l.First(d).Load)
	Label("reduce")
	dst := vec.Argument("dst")
	dstStride := vec.Stride("dstStride")
	if na == 4 && nb == 4 && l.Lanes == 16 {
		storeSums(k, sums, dst, dstStride)
		VZEROUPPER()
		RET()
		return
	}
	for i := range sums {
		for j, v := range sums[i] {
			l.Sum(v, k.add)
			VMOVSS(v.AsX(), Mem{Base: dst, Disp: 4 * j})
		}
		if i+1 < na {
			ADDQ(dstStride, dst)
		}
	}
	VZEROUPPER()
	RET()
}

// storeSums adds the lanes of 4 by 4 vectors in halves, as Singles.Sum does with one, and stores
// the sums. Every addition handles several vectors: the halves of two, then the quarters of
// four, are put side by side before they are added.
func storeSums(k kind, sums [][]reg.VecVirtual, dst, stride reg.Register) {
	// pair puts the parts of a and b that low and high choose side by side, and adds them.
	pair := func(shuffle func(ops ...Op), low, high uint8, a, b reg.VecVirtual) reg.VecVirtual {
		first, second := ZMM(), ZMM()
		shuffle(U8(low), b, a, first)
		shuffle(U8(high), b, a, second)
		k.add(second, first, first)
		return first
	}
	var columns []reg.VecVirtual
	for j := range sums[0] { // one number of each row in each quarter
		upper := pair(VSHUFF64X2, 0x44, 0xee, sums[0][j], sums[1][j])
		lower := pair(VSHUFF64X2, 0x44, 0xee, sums[2][j], sums[3][j])
		columns = append(columns, pair(VSHUFF32X4, 0x88, 0xdd, upper, lower))
	}
	left := pair(VSHUFPS, 0x44, 0xee, columns[0], columns[1])
	right := pair(VSHUFPS, 0x44, 0xee, columns[2], columns[3])
	all := pair(VSHUFPS, 0x88, 0xdd, left, right)
	VMOVUPS(all.AsX(), Mem{Base: dst})
	for i := 1; i < len(sums); i++ {
		ADDQ(stride, dst)
		VEXTRACTF32X4(U8(i), all, Mem{Base: dst})
	}
}
