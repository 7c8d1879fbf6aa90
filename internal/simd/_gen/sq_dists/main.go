// Command sq_dists writes squared distances of a row from chosen rows. A sum stops
// early when it exceeds a limit.
//
// Sums are in 64 float32 lanes, four registers of AVX-512 or eight of AVX2, so
// additions do not wait for each other. The columns that do not fill them go
// through masks.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

const (
	lanes = 64
	ahead = 8 // rows to prefetch: they may lie anywhere
)

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	suffix, bytes := "AVX2", 32
	if level == "avx512" {
		suffix, bytes = "AVX512", 64
	}
	name := "SqDistsF32" + suffix
	var window Mem
	if bytes == 32 {
		window = vec.Window("sqDistsWindow"+suffix, 4*lanes)
	}

	TEXT(name, NOSPLIT, "func(dst, x *float32, d uintptr, rows *float32, stride uintptr, index *uint32, n uintptr, limit float32)")
	Pragma("noescape")
	Doc(name + " is sqDistsGo for d columns and n rows, n at least one.")
	dst, x, rows, index, n := vec.Argument("dst"), vec.Argument("x"), vec.Argument("rows"), vec.Argument("index"), vec.Argument("n")
	stride := vec.Stride("stride")
	limit := XMM()
	Load(Param("limit"), limit)

	// Columns are whole blocks of 64 and a tail.
	blocks, tail := vec.Argument("d"), vec.Argument("d")
	SHRQ(U8(6), blocks)
	ANDQ(U8(lanes-1), tail)
	vectors := 4 * lanes / bytes
	// masked returns a load of the numbers of vector v that are in the tail.
	var masked func(v int) func(Mem, reg.VecVirtual)
	if bytes == 64 {
		bits := GP64()
		MOVQ(I32(-1), bits)
		BZHIQ(tail, bits, bits)
		masks := make([]reg.Register, vectors)
		for v := range masks {
			masks[v] = K()
			KMOVW(bits.As32(), masks[v])
			SHRQ(U8(16), bits)
		}
		masked = func(v int) func(Mem, reg.VecVirtual) {
			return func(m Mem, r reg.VecVirtual) { VMOVUPS_Z(m, masks[v], r) }
		}
	} else {
		base := GP64()
		LEAQ(window, base)
		SHLQ(U8(2), tail)
		SUBQ(tail, base)
		masked = func(v int) func(Mem, reg.VecVirtual) {
			mask := YMM()
			VMOVUPS(Mem{Base: base, Disp: v * bytes}, mask)
			return func(m Mem, r reg.VecVirtual) { VMASKMOVPS(m, mask, r) }
		}
	}

	Label("row")
	y, next := GP64(), GP64()
	CMPQ(n, U8(ahead))
	JLE(LabelRef("fetched"))
	MOVL(Mem{Base: index, Disp: 4 * ahead}, next.As32())
	IMULQ(stride, next)
	for line := range 4 {
		PREFETCHT0(Mem{Base: rows, Index: next, Scale: 1, Disp: 64 * line})
	}
	Label("fetched")
	MOVL(Mem{Base: index}, y.As32())
	IMULQ(stride, y)
	ADDQ(rows, y)
	sums := make([]reg.VecVirtual, vectors)
	for v := range sums {
		sums[v] = vec.Register(bytes)
		VXORPS(sums[v].AsX(), sums[v].AsX(), sums[v].AsX())
	}
	from, left, sum := GP64(), GP64(), XMM()
	VXORPS(sum, sum, sum)
	MOVQ(x, from)
	MOVQ(blocks, left)
	TESTQ(left, left)
	JZ(LabelRef("tail"))

	Label("block")
	for v := range sums {
		e := vec.Register(bytes)
		VMOVUPS(Mem{Base: from, Disp: v * bytes}, e)
		VSUBPS(Mem{Base: y, Disp: v * bytes}, e, e)
		VMULPS(e, e, e)
		VADDPS(e, sums[v], sums[v])
	}
	ADDQ(U32(4*lanes), from)
	ADDQ(U32(4*lanes), y)
	reduce(sums, sum)
	VUCOMISS(limit, sum)
	JA(LabelRef("store"))
	DECQ(left)
	JNZ(LabelRef("block"))

	Label("tail")
	TESTQ(tail, tail)
	JZ(LabelRef("store"))
	for v := range sums {
		read := masked(v)
		e, f := vec.Register(bytes), vec.Register(bytes)
		read(Mem{Base: from, Disp: v * bytes}, e)
		read(Mem{Base: y, Disp: v * bytes}, f)
		VSUBPS(f, e, e)
		VMULPS(e, e, e)
		VADDPS(e, sums[v], sums[v])
	}
	reduce(sums, sum)

	Label("store")
	VMOVSS(sum, Mem{Base: dst})
	ADDQ(U8(4), dst)
	ADDQ(U8(4), index)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// reduce adds the lanes in halves and does not change them.
func reduce(sums []reg.VecVirtual, sum reg.VecVirtual) {
	bytes := 4 * lanes / len(sums)
	for len(sums) > 1 {
		half := make([]reg.VecVirtual, len(sums)/2)
		for v := range half {
			half[v] = vec.Register(bytes)
			VADDPS(sums[v+len(half)], sums[v], half[v])
		}
		sums = half
	}
	t, u := sums[0], vec.Register(bytes)
	if bytes == 64 {
		VEXTRACTF64X4(U8(1), t, u.AsY())
		VADDPS(u.AsY(), t.AsY(), t.AsY())
		VEXTRACTF32X4(U8(1), t.AsY(), u.AsX())
	} else {
		VEXTRACTF128(U8(1), t, u.AsX())
	}
	VADDPS(u.AsX(), t.AsX(), t.AsX())
	VPERMILPS(U8(0x4e), t.AsX(), u.AsX())
	VADDPS(u.AsX(), t.AsX(), t.AsX())
	VPERMILPS(U8(0xb1), t.AsX(), u.AsX())
	VADDPS(u.AsX(), t.AsX(), sum)
}
