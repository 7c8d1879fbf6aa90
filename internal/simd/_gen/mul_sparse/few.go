package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

// few writes a kernel for one or two columns with AVX2. It puts several entries into one
// vector: four for one column, and two for two columns.
func few(k int, v variant, window Mem) {
	sign(k, v, "AVX2")
	r := &rows{k: k, short: v != plain, half: v == shortHalf}
	r.load()
	dst := vec.Argument("dst")
	block, sum := XMM(), XMM() // the sums of a block, even before odd; the row's
	endBlock := func() { r.widen(block, sum) }
	Label("row")
	VXORPD(sum, sum, sum)
	r.begin()
	VXORPS(block, block, block)
	CMPQ(r.val, r.limit)
	JGE(LabelRef("last"))
	// Finding a row of x takes no multiplication if there are no gaps between rows.
	CMPQ(r.stride, U8(4*k))
	JNE(LabelRef("four"))
	r.each("dense", func() { r.addFour(block, true) }, endBlock)
	JMP(LabelRef("last"))
	r.each("four", func() { r.addFour(block, false) }, endBlock)
	Label("last")
	r.addLast(block, window)
	endBlock()
	Label("store")
	single, dstStride := XMM(), GP64()
	if k == 1 {
		VCVTSD2SS(sum, sum, single)
		VMOVSS(single, Mem{Base: dst})
	} else {
		VCVTPD2PSX(sum, single)
		VMOVSD(single, Mem{Base: dst})
	}
	MOVQ(vec.Address("dstStride"), dstStride)
	LEAQ(Mem{Base: dst, Index: dstStride, Scale: 4}, dst)
	r.loop()
}

// at returns where the row of x of a column is.
func (r *rows) at(j reg.GPVirtual, dense bool) Mem {
	if dense {
		return Mem{Base: r.x, Index: j, Scale: uint8(4 * r.k)}
	}
	IMULQ(r.stride, j)
	return Mem{Base: r.x, Index: j, Scale: 1}
}

// gather returns the rows of x of four entries: one vector for one column; for two
// columns, one vector of entries 0 and 1 and one of entries 2 and 3.
func (r *rows) gather(at func(e int) Mem) []reg.VecVirtual {
	if r.k == 1 {
		v := XMM()
		VMOVSS(at(0), v)
		for e := 1; e < 4; e++ {
			VINSERTPS(U8(e<<4), at(e), v, v)
		}
		return []reg.VecVirtual{v}
	}
	v := []reg.VecVirtual{XMM(), XMM()}
	for h := range v {
		VMOVSD(at(2*h), v[h])
		VMOVHPS(at(2*h+1), v[h], v[h])
	}
	return v
}

// pairs are the orders that give each of two entries two lanes.
var pairs = [2]Constant{U8(0x50), U8(0xfa)}

// addFour adds the products of four entries to the sums of a block.
func (r *rows) addFour(block reg.VecVirtual, dense bool) {
	j := GP64()
	v := r.gather(func(e int) Mem {
		r.column(r.ind, e, j)
		return r.at(j, dense)
	})
	var val Op = Mem{Base: r.val}
	if r.half {
		w := XMM()
		VCVTPH2PS(val, w)
		val = w
	}
	if r.k == 1 {
		VMULPS(val, v[0], v[0])
	} else {
		for h := range v {
			w := XMM()
			VPERMILPS(pairs[h], val, w)
			VMULPS(w, v[h], v[h])
		}
	}
	r.addProducts(v, block)
}

// addLast adds the products of the last entries.
func (r *rows) addLast(block reg.VecVirtual, window Mem) {
	bytes := r.beginLast()
	table, mask, val := GP64(), XMM(), XMM()
	LEAQ(window, table)
	SUBQ(bytes, table)
	VMOVUPS(Mem{Base: table}, mask)
	if r.half {
		VPXOR(val, val, val)
	} else {
		VMASKMOVPS(Mem{Base: r.val}, mask, val)
	}
	e, j := GP64(), GP64()
	v := r.gather(func(n int) Mem {
		r.lastColumn(n, e, j)
		if r.half {
			VPINSRW(U8(n), Mem{Base: r.val, Index: e, Scale: 2}, val, val)
		}
		return r.at(j, false)
	})
	if r.half {
		VCVTPH2PS(val, val)
	}
	if r.k == 1 {
		VMULPS(val, v[0], v[0])
		VANDPS(mask, v[0], v[0])
	} else {
		for h := range v {
			w, there := XMM(), XMM()
			VPERMILPS(pairs[h], val, w)
			VPERMILPS(pairs[h], mask, there)
			VMULPS(w, v[h], v[h])
			VANDPS(there, v[h], v[h])
		}
	}
	r.addProducts(v, block)
	r.endLast()
}

// addProducts adds entries 0 and 2 to the even sums, 1 and 3 to the odd ones.
func (r *rows) addProducts(v []reg.VecVirtual, block reg.VecVirtual) {
	if r.k == 1 {
		other := XMM()
		VPERMILPS(U8(0x4e), v[0], other)
		v = append(v, other)
	}
	VADDPS(v[1], v[0], v[0])
	VADDPS(v[0], block, block)
}

// widen adds the sums of a block to those of the row and clears them.
func (r *rows) widen(block, sum reg.VecVirtual) {
	other := XMM()
	if r.k == 1 {
		VMOVSHDUP(block, other)
		VADDPS(other, block, block)
		VCVTSS2SD(block, block, other)
		VADDSD(other, sum, sum)
	} else {
		VPERMILPS(U8(0x4e), block, other)
		VADDPS(other, block, block)
		VCVTPS2PD(block, other)
		VADDPD(other, sum, sum)
	}
	VXORPS(block, block, block)
}
