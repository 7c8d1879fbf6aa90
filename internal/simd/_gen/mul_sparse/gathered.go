package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

// A gatheredRows is the state of a kernel for one or two columns with AVX-512, which
// takes 16 entries at a time by gathers.
type gatheredRows struct {
	k           int
	short, half bool // columns are offsets of 16 bits; values of 16 bits

	ind, val, x, base, end reg.GPVirtual // x moved to a row's base if short
	p, sixteen             reg.GPVirtual // the next entry; 16
	stride, order          reg.VecVirtual
	odd                    reg.Register   // mask of odd lanes, with one column
	block, sum             reg.VecVirtual // the sums of a block, even before odd; the row's
}

// gathered writes a kernel for one or two columns with AVX-512. Rows of x fit a lane of a
// gather, and masks end a row without a branch.
func gathered(k int, v variant) {
	sign(k, v, "AVX512")
	r := &gatheredRows{k: k, short: v != plain, half: v == shortHalf}
	dst, ptr := vec.Argument("dst"), vec.Argument("ptr")
	r.load(ptr, fmt.Sprintf(v.name, k))
	Label("row")
	MOVQ(Mem{Base: ptr, Disp: 8}, r.end)
	ADDQ(U8(8), ptr)
	VXORPD(r.sum, r.sum, r.sum)
	if r.short {
		j := GP64()
		stride := vec.Stride("stride")
		MOVL(Mem{Base: r.base}, j.As32())
		ADDQ(U8(4), r.base)
		IMULQ(stride, j)
		MOVQ(vec.Address("x"), r.x)
		ADDQ(j, r.x)
	}
	CMPQ(r.p, r.end)
	JGE(LabelRef("store"))
	Label("block")
	VXORPS(r.block, r.block, r.block)
	for half := range block / 16 {
		r.sixteenEntries()
		CMPQ(r.p, r.end)
		if half < block/16-1 {
			JGE(LabelRef("added"))
		}
	}
	Label("added")
	r.widen()
	CMPQ(r.p, r.end)
	JLT(LabelRef("block"))
	Label("store")
	single, dstStride := XMM(), GP64()
	if k == 1 {
		VCVTSD2SS(r.sum, r.sum, single)
		VMOVSS(single, Mem{Base: dst})
	} else {
		VCVTPD2PSX(r.sum, single)
		VMOVSD(single, Mem{Base: dst})
	}
	MOVQ(vec.Address("dstStride"), dstStride)
	LEAQ(Mem{Base: dst, Index: dstStride, Scale: 4}, dst)
	DECQ(vec.Address("rows"))
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

func (r *gatheredRows) load(ptr reg.GPVirtual, name string) {
	if r.short {
		r.base, r.x = vec.Argument("base"), GP64()
		r.ind = vec.Argument("off")
	} else {
		r.ind = vec.Argument("ind")
		r.x = vec.Argument("x")
	}
	r.val = vec.Argument("val")
	r.p, r.end, r.sixteen = GP64(), GP64(), GP64()
	MOVQ(Mem{Base: ptr}, r.p)
	MOVQ(U32(16), r.sixteen)
	r.stride, r.block, r.sum = ZMM(), XMM(), XMM()
	stride := vec.Stride("stride")
	VPBROADCASTQ(stride, r.stride)
	if r.k == 2 {
		return
	}
	// This order puts the values of even entries before those of odd ones.
	table := GLOBL("order"+name, RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(2*i%16+i/8))
	}
	r.order = ZMM()
	VMOVDQU64(table, r.order)
	odd, bits := K(), GP32()
	MOVL(U32(0xaa), bits)
	KMOVW(bits, odd)
	r.odd = odd
}

// sixteenEntries adds the products of up to 16 entries to the sums of the block.
func (r *gatheredRows) sixteenEntries() {
	count, bits, there := GP64(), GP32(), K()
	MOVQ(r.end, count)
	SUBQ(r.p, count)
	CMPQ(count, r.sixteen)
	CMOVQGT(r.sixteen, count)
	MOVL(I32(-1), bits)
	BZHIL(count.As32(), bits, bits)
	KMOVW(bits, there)
	r.stream()
	w, odd := ZMM(), ZMM()
	if r.short {
		VPMOVZXWD_Z(Mem{Base: r.ind, Index: r.p, Scale: 2}, there, odd)
	} else {
		VMOVDQU32_Z(Mem{Base: r.ind, Index: r.p, Scale: 4}, there, odd)
	}
	if r.half {
		VCVTPH2PS_Z(Mem{Base: r.val, Index: r.p, Scale: 2}, there, w)
	} else {
		VMOVUPS_Z(Mem{Base: r.val, Index: r.p, Scale: 4}, there, w)
	}
	r.add(r.gather(odd, bits), w)
	ADDQ(count, r.p)
}

// stream prefetches the next columns and values, far enough ahead for memory to deliver
// them in time. The processor's own prefetching is not enough: with stream, products
// with two columns are 1.4 times as fast.
func (r *gatheredRows) stream() {
	columns, values := 4, 4
	if r.short {
		columns = 2
	}
	if r.half {
		values = 2
	}
	PREFETCHT0(Mem{Base: r.ind, Index: r.p, Scale: uint8(columns), Disp: streamed * columns})
	PREFETCHT0(Mem{Base: r.val, Index: r.p, Scale: uint8(values), Disp: streamed * values})
}

// gather returns the rows of x of 8 even entries and of 8 odd ones. It changes the columns.
func (r *gatheredRows) gather(columns reg.VecVirtual, bits reg.GPVirtual) (x [2]reg.VecVirtual) {
	even := ZMM()
	VPMULUDQ(r.stride, columns, even)
	VPSRLQ(U8(32), columns, columns)
	VPMULUDQ(r.stride, columns, columns)
	for h, at := range []reg.VecVirtual{even, columns} {
		t, half := GP32(), K()
		MOVL(U32(0x5555<<h), t)
		PEXTL(t, bits, t)
		KMOVW(t, half)
		x[h] = ZMM()
		VPXORQ(x[h], x[h], x[h])
		if r.k == 1 {
			x[h] = x[h].AsY().(reg.VecVirtual)
			VGATHERQPS(Mem{Base: r.x, Index: at, Scale: 1}, half, x[h])
		} else {
			VGATHERQPD(Mem{Base: r.x, Index: at, Scale: 1}, half, x[h])
		}
	}
	return x
}

// add multiplies by the values w and adds four products at a time to the sums of the
// block.
func (r *gatheredRows) add(x [2]reg.VecVirtual, w reg.VecVirtual) {
	if r.k == 1 {
		high := YMM()
		VPERMPS(w, r.order, w)
		VEXTRACTF64X4(U8(1), w, high)
		for h, w := range []reg.Register{w.AsY(), high} {
			other := YMM()
			VMULPS(w, x[h], x[h])
			VMOVSHDUP(x[h], other)
			VADDPS(other, x[h], x[h]) // v0 + v2 or v1 + v3, ., ...
		}
		VMOVSLDUP(x[1], r.odd, x[0]) // even, odd, ...
		half, upper := XMM(), XMM()
		VEXTRACTF128(U8(1), x[0], upper)
		for _, v := range []reg.Register{x[0].AsX(), upper} {
			VADDPS(v, r.block, r.block)
			VPERMILPS(U8(0x4e), v, half)
			VADDPS(half, r.block, r.block)
		}
		return
	}
	t := ZMM()
	VMOVSLDUP(w, t)
	VMULPS(t, x[0], x[0])
	VMOVSHDUP(w, w)
	VMULPS(w, x[1], x[1])
	for h := range x {
		other := ZMM()
		VPERMILPD(U8(0x55), x[h], other)
		VADDPS(other, x[h], x[h]) // v0 + v2 or v1 + v3, ., ...
	}
	VUNPCKLPD(x[1], x[0], t) // even, odd, ...
	VADDPS(t.AsX(), r.block, r.block)
	for g := 1; g < 4; g++ {
		part := XMM()
		VEXTRACTF64X2(U8(g), t, part)
		VADDPS(part, r.block, r.block)
	}
}

// widen adds the sums of the block to those of the row.
func (r *gatheredRows) widen() {
	other := XMM()
	if r.k == 1 {
		VMOVSHDUP(r.block, other)
		VADDPS(other, r.block, r.block)
		VCVTSS2SD(r.block, r.block, other)
		VADDSD(other, r.sum, r.sum)
		return
	}
	VPERMILPS(U8(0x4e), r.block, other)
	VADDPS(other, r.block, r.block)
	VCVTPS2PD(r.block, other)
	VADDPD(other, r.sum, r.sum)
}
