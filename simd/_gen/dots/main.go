// Command dots writes dot products between rows.
//
// A pair of rows is summed in the float32 lanes of one register, whichever
// function computes it, so its bits do not depend on how pairs are put into
// tiles. A tile of 4 by 4 rows (2 by 4 on AVX2, which has half the registers)
// loads 8 vectors for 16 products; one row against 4 and one pair are for the
// edges and for single queries.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/simd/_gen/vec"
)

var level = flag.String("level", "avx2", "avx2 or avx512")

func main() {
	flag.Parse()
	ConstraintExpr("gc,!noasm,!purego")
	l := lanes{8, "AVX2"}
	tall := 2
	if *level == "avx512" {
		l, tall = lanes{16, "AVX512"}, 4
	} else {
		// Eight times all ones, then eight times zero.
		window = GLOBL("dotsWindow"+l.suffix, RODATA|NOPTR)
		for i := range 8 {
			ones := uint64(1<<64 - 1)
			if i >= 4 {
				ones = 0
			}
			DATA(8*i, U64(ones))
		}
	}
	for _, shape := range [][2]int{{tall, 4}, {1, 4}, {1, 1}} {
		generate(l, shape[0], shape[1])
	}
	Generate()
}

var window Mem

type lanes struct {
	n      int
	suffix string
}

func (l lanes) vector() reg.VecVirtual {
	if l.n == 16 {
		return ZMM()
	}
	return YMM()
}

func generate(l lanes, na, nb int) {
	name := fmt.Sprintf("Dot%dx%dF32%s", na, nb, l.suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s multiplies %s of a with %d of b.", name, vec.Count(na, "row"), nb),
		"",
		fmt.Sprintf("\tfor i := range %d {", na),
		fmt.Sprintf("\t\tfor j := range %d {", nb),
		"\t\t\tdst[i*dstStride+j] = sum over c < d of a[i*aStride+c] * b[j*bStride+c]",
		"\t\t}",
		"\t}",
		"",
		fmt.Sprintf("with c in %d lanes.", l.n))
	stride := func(name string) reg.GPVirtual {
		s := Load(Param(name), GP64()).(reg.GPVirtual)
		SHLQ(U8(2), s)
		return s
	}
	rows := func(base, strideName string, n int) (at []reg.GPVirtual) {
		at = append(at, Load(Param(base), GP64()).(reg.GPVirtual))
		if n == 1 {
			return at
		}
		s := stride(strideName)
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
			v := l.vector()
			if l.n == 16 {
				VPXORQ(v, v, v)
			} else {
				VXORPS(v, v, v)
			}
			sums[i] = append(sums[i], v)
		}
	}
	d, at := Load(Param("d"), GP64()).(reg.GPVirtual), GP64()
	XORQ(at, at)
	columns := func(load func(m Mem, v reg.VecVirtual)) {
		left := make([]reg.VecVirtual, na)
		for i := range left {
			left[i] = l.vector()
			load(Mem{Base: a[i], Index: at, Scale: 4}, left[i])
		}
		for j := range nb {
			right := l.vector()
			load(Mem{Base: b[j], Index: at, Scale: 4}, right)
			for i := range left {
				VFMADD231PS(right, left[i], sums[i][j])
			}
		}
	}
	SUBQ(U8(l.n), d)
	JL(LabelRef("tail"))
	Label("loop")
	columns(func(m Mem, v reg.VecVirtual) { VMOVUPS(m, v) })
	ADDQ(U8(l.n), at)
	SUBQ(U8(l.n), d)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(l.n), d)
	JZ(LabelRef("reduce"))
	if l.n == 16 {
		mask, k := GP32(), K()
		MOVL(U32(0xffff), mask)
		BZHIL(d.As32(), mask, mask)
		KMOVW(mask, k)
		columns(func(m Mem, v reg.VecVirtual) { VMOVUPS_Z(m, k, v) })
	} else {
		base, mask := GP64(), YMM()
		LEAQ(window.Offset(32), base)
		NEGQ(d)
		VMOVUPS(Mem{Base: base, Index: d, Scale: 4}, mask)
		columns(func(m Mem, v reg.VecVirtual) { VMASKMOVPS(m, mask, v) })
	}
	Label("reduce")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	dstStride := stride("dstStride")
	for i := range sums {
		for j, v := range sums[i] {
			half, quarter := YMM(), XMM()
			if l.n == 16 {
				VEXTRACTF64X4(U8(1), v, half)
				VADDPS(half, v.AsY(), v.AsY())
				VEXTRACTF32X4(U8(1), v.AsY(), quarter)
			} else {
				VEXTRACTF128(U8(1), v.AsY(), quarter)
			}
			VADDPS(quarter, v.AsX(), v.AsX())
			VPERMILPS(U8(0x4e), v.AsX(), quarter)
			VADDPS(quarter, v.AsX(), v.AsX())
			VPERMILPS(U8(0xb1), v.AsX(), quarter)
			VADDPS(quarter, v.AsX(), v.AsX())
			VMOVSS(v.AsX(), Mem{Base: dst, Disp: 4 * j})
		}
		if i+1 < na {
			ADDQ(dstStride, dst)
		}
	}
	VZEROUPPER()
	RET()
}
