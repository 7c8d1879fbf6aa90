// Command wideto writes squared distances, in float64, of a row from some of many.
//
// Sums are in 16 lanes, two registers of AVX-512 or four of AVX2. The columns that
// do not fill them go through masks.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var level = flag.String("level", "avx2", "avx2 or avx512")

const lanes = 16

func main() {
	flag.Parse()
	ConstraintExpr("gc,!noasm,!purego")
	suffix, bytes := "AVX2", 32
	if *level == "avx512" {
		suffix, bytes = "AVX512", 64
	}
	name := "wideDistsToF32" + suffix
	var window Mem
	if bytes == 32 {
		// 16 times all ones, then 16 times zero: the mask of a number of columns
		// begins so many before the zeros.
		window = GLOBL("wideDistsToWindow"+suffix, RODATA|NOPTR)
		for i := range lanes {
			ones := uint64(1<<64 - 1)
			if i >= lanes/2 {
				ones = 0
			}
			DATA(8*i, U64(ones))
		}
	}

	TEXT(name, NOSPLIT, "func(dst *float64, x *float32, d uintptr, rows *float32, stride uintptr, index *uint32, n uintptr)")
	Pragma("noescape")
	Doc(name + " is wideDistsToGo for d columns and n rows, n at least one.")
	dst, x, rows, index, n := load("dst"), load("x"), load("rows"), load("index"), load("n")
	stride := load("stride")
	SHLQ(U8(2), stride)
	blocks, tail := load("d"), load("d")
	SHRQ(U8(4), blocks)
	ANDQ(U8(lanes-1), tail)
	vectors := 8 * lanes / bytes
	// masked returns a load of the numbers of vector v that are in the tail.
	var masked func(v int, m Mem, r reg.VecVirtual)
	if bytes == 64 {
		bits := GP64()
		MOVQ(I32(-1), bits)
		BZHIQ(tail, bits, bits)
		masks := make([]reg.Register, vectors)
		for v := range masks {
			masks[v] = K()
			KMOVW(bits.As32(), masks[v])
			SHRQ(U8(8), bits)
		}
		masked = func(v int, m Mem, r reg.VecVirtual) { VCVTPS2PD_Z(m, masks[v], r) }
	} else {
		base := GP64()
		LEAQ(window.Offset(4*lanes), base)
		SHLQ(U8(2), tail)
		SUBQ(tail, base)
		masked = func(v int, m Mem, r reg.VecVirtual) {
			mask, single := XMM(), XMM()
			VMOVUPS(Mem{Base: base, Disp: v * 16}, mask)
			VMASKMOVPS(m, mask, single)
			VCVTPS2PD(single, r)
		}
	}

	Label("row")
	y := GP64()
	MOVL(Mem{Base: index}, y.As32())
	IMULQ(stride, y)
	ADDQ(rows, y)
	sums := make([]reg.VecVirtual, vectors)
	for v := range sums {
		sums[v] = vector(bytes)
		VXORPS(sums[v].AsX(), sums[v].AsX(), sums[v].AsX())
	}
	from, left := GP64(), GP64()
	MOVQ(x, from)
	MOVQ(blocks, left)
	TESTQ(left, left)
	JZ(LabelRef("tail"))

	Label("block")
	add := func(v int, read func(v int, m Mem, r reg.VecVirtual)) {
		e, f := vector(bytes), vector(bytes)
		read(v, Mem{Base: from, Disp: v * bytes / 2}, e)
		read(v, Mem{Base: y, Disp: v * bytes / 2}, f)
		VSUBPD(f, e, e)
		VMULPD(e, e, e)
		VADDPD(e, sums[v], sums[v])
	}
	for v := range sums {
		add(v, func(_ int, m Mem, r reg.VecVirtual) { VCVTPS2PD(m, r) })
	}
	ADDQ(U32(4*lanes), from)
	ADDQ(U32(4*lanes), y)
	DECQ(left)
	JNZ(LabelRef("block"))

	Label("tail")
	TESTQ(tail, tail)
	JZ(LabelRef("store"))
	for v := range sums {
		add(v, masked)
	}

	Label("store")
	VMOVSD(reduce(sums).AsX(), Mem{Base: dst})
	ADDQ(U8(8), dst)
	ADDQ(U8(4), index)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
	Generate()
}

func load(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func vector(bytes int) reg.VecVirtual {
	if bytes == 64 {
		return ZMM()
	}
	return YMM()
}

// reduce adds the lanes in halves.
func reduce(sums []reg.VecVirtual) reg.VecVirtual {
	bytes := 8 * lanes / len(sums)
	for ; len(sums) > 1; sums = sums[:len(sums)/2] {
		for v := range len(sums) / 2 {
			VADDPD(sums[v+len(sums)/2], sums[v], sums[v])
		}
	}
	t, u := sums[0], vector(bytes)
	if bytes == 64 {
		VEXTRACTF64X4(U8(1), t, u.AsY())
		VADDPD(u.AsY(), t.AsY(), t.AsY())
	}
	VEXTRACTF128(U8(1), t.AsY(), u.AsX())
	VADDPD(u.AsX(), t.AsX(), t.AsX())
	VPERMILPD(U8(1), t.AsX(), u.AsX())
	VADDPD(u.AsX(), t.AsX(), t.AsX())
	return t
}
