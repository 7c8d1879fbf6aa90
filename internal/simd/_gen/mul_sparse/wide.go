package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

const (
	// distant is how many rows after the current one a row of x is prefetched, once per
	// row. In curve order that is long before another row reads it, but not so long that it
	// leaves the second-level cache.
	distant = 4096
	// apart is the number of bytes of x between the first column of a row and the last
	// from which columns count as far apart: a second-level cache.
	apart = 1 << 20
	// prefetch is how many entries ahead rows of x are then prefetched: about two rows
	// of the matrix, longer than memory takes to deliver.
	prefetch = 64
)

// A wideRows is the state of a kernel for four columns or more, which has the columns of an
// entry in vectors.
type wideRows struct {
	rows
	avx2  bool
	lanes int // of a vector

	ahead       reg.GPVirtual // ind of entries ahead, 0 where columns are near
	far, xAhead Mem           // the row of x to prefetch; x of entries ahead

	even, odd []reg.VecVirtual  // the sums of a block
	sums      []reg.VecVirtual  // the sums of a row
	spilled   Mem               // the same, where registers are too few
	counts    [4]reg.VecVirtual // AVX-512: 1 to 3 in every lane
	window    Mem               // AVX2: ones and zeros
	table     reg.GPVirtual     // AVX2: where the masks of entries begin in the window
}

// wideAVX512 writes a kernel for AVX-512.
func wideAVX512(k int, v variant) {
	sign(k, v, "AVX512")
	w := &wideRows{rows: rows{k: k, short: v != plain}, lanes: min(k, 16)}
	for n := 1; n < 4; n++ {
		w.counts[n] = w.vector()
		t := GP32()
		MOVL(U32(n), t)
		VPBROADCASTD(t, w.counts[n])
	}
	// For up to 8 columns no vector is longer than 32 bytes: vectors of 64 bytes use up
	// one of the three ports that others have.
	for range k / w.sumLanes() {
		w.sums = append(w.sums, vec.Register(8*w.sumLanes()))
	}
	w.write()
}

// wideAVX2 writes a kernel for AVX2.
func wideAVX2(k int, v variant, window Mem) {
	sign(k, v, "AVX2")
	w := &wideRows{rows: rows{k: k, short: v != plain}, avx2: true, lanes: min(k, 8), window: window}
	if k == 32 {
		w.spilled = AllocLocal(8 * k)
	} else {
		for range k / w.sumLanes() {
			w.sums = append(w.sums, YMM())
		}
	}
	w.write()
}

// sumLanes returns how many columns a vector of sums has.
func (w *wideRows) sumLanes() int {
	if w.lanes == 16 {
		return 8
	}
	return 4
}

func (w *wideRows) write() {
	w.load()
	w.far, w.xAhead = AllocLocal(8), AllocLocal(8)
	for range w.k / w.lanes {
		w.even, w.odd = append(w.even, w.vector()), append(w.odd, w.vector())
	}
	w.findFar()
	Label("row")
	w.clear(w.sums)
	if w.spilled != (Mem{}) {
		w.clearSpilled()
	}
	w.askFar()
	w.begin()
	if w.k >= 16 {
		w.lookAhead()
	}
	Label("begun")
	w.clear(w.even)
	w.clear(w.odd)
	CMPQ(w.val, w.limit)
	JGE(LabelRef("last"))
	if w.k >= 16 {
		TESTQ(w.ahead, w.ahead)
		JZ(LabelRef("four"))
		w.each("ahead", func() { w.four(true) }, w.widen)
		JMP(LabelRef("last"))
	}
	w.each("four", func() { w.four(false) }, w.widen)
	Label("last")
	w.last()
	w.widen()
	Label("store")
	w.store()
	w.loop()
}

// askFar prefetches the row of x that belongs to a row of the matrix.
func (w *wideRows) askFar() {
	far := GP64()
	MOVQ(w.far, far)
	for at := 0; at < 4*w.k; at += 64 {
		PREFETCHT1(Mem{Base: far, Disp: at})
	}
	ADDQ(w.stride, far)
	MOVQ(far, w.far)
}

// vector returns a vector of products.
func (w *wideRows) vector() reg.VecVirtual {
	switch w.lanes {
	case 16:
		return ZMM()
	case 8:
		return YMM()
	}
	return XMM()
}

func (w *wideRows) clear(v []reg.VecVirtual) {
	for _, v := range v {
		if w.avx2 {
			VXORPS(v, v, v)
		} else {
			VPXORQ(v, v, v)
		}
	}
}

func (w *wideRows) clearSpilled() {
	zero := YMM()
	VXORPS(zero, zero, zero)
	for at := 0; at < 8*w.k; at += 32 {
		VMOVUPD(zero, w.spilled.Offset(at))
	}
}

// findFar sets the row of x to prefetch with the first row of the matrix: far after the
// one of the entry in its middle. If the row has no entries, the entry of another row
// will do.
func (w *wideRows) findFar() {
	middle, j := GP64(), GP64()
	MOVQ(Mem{Base: w.ptr}, middle)
	ADDQ(Mem{Base: w.ptr, Disp: 8}, middle)
	SHRQ(U8(1), middle)
	XORQ(j, j)
	CMPQ(middle, vec.Address("nnz"))
	JCC(LabelRef("found"))
	if w.short {
		off, base := vec.Argument("off"), GP64()
		MOVWLZX(Mem{Base: off, Index: middle, Scale: 2}, j.As32())
		MOVL(Mem{Base: w.base}, base.As32())
		ADDQ(base, j)
	} else {
		ind := vec.Argument("ind")
		MOVL(Mem{Base: ind, Index: middle, Scale: 4}, j.As32())
	}
	Label("found")
	ADDQ(U32(distant), j)
	IMULQ(w.stride, j)
	ADDQ(vec.Address("x"), j)
	MOVQ(j, w.far)
}

// lookAhead sets which rows of x are prefetched entry by entry, where columns are far
// apart: those of entries at a fixed distance, or if short those of the row after the
// next, which has its own base. Rows at the end have nothing ahead.
func (w *wideRows) lookAhead() {
	w.ahead = GP64()
	j, n := GP64(), GP64()
	XORQ(w.ahead, w.ahead)
	if w.short {
		// The first offset of a row is 0 or small.
		MOVQ(w.limit, n)
		SUBQ(w.val, n)
		SARQ(U8(1), n)
		MOVWLZX(Mem{Base: w.ind, Index: n, Scale: 1, Disp: 8 - 2}, j.As32())
	} else {
		w.column(w.ind, 0, n)
		MOVL(Mem{Base: w.limit, Index: w.ind, Scale: 1, Disp: 16 - 4}, j.As32())
		SUBQ(n, j)
	}
	IMULQ(w.stride, j)
	CMPQ(j, U32(apart))
	JLE(LabelRef("begun"))
	limit := GP64()
	MOVQ(vec.Address("nnz"), limit)
	SHLQ(U8(2), limit)
	ADDQ(vec.Address("val"), limit)
	if !w.short {
		SUBQ(U32(4*prefetch+16), limit)
		CMPQ(w.limit, limit)
		JHI(LabelRef("begun"))
		MOVQ(w.x, w.xAhead)
		LEAQ(Mem{Base: w.ind, Disp: 4 * prefetch}, w.ahead)
		return
	}
	MOVQ(vec.Address("rows"), j)
	SUBQ(w.ptr, j)
	CMPQ(j, U8(16))
	JL(LabelRef("begun"))
	MOVQ(Mem{Base: w.ptr, Disp: 8}, n)
	SHLQ(U8(2), n)
	ADDQ(vec.Address("val"), n)
	SUBQ(w.val, n)
	LEAQ(Mem{Base: w.limit, Index: n, Scale: 1, Disp: 16}, j)
	CMPQ(j, limit)
	JHI(LabelRef("begun"))
	SHRQ(U8(1), n)
	MOVQ(n, w.ahead)
	MOVL(Mem{Base: w.base, Disp: 4}, j.As32())
	IMULQ(w.stride, j)
	ADDQ(vec.Address("x"), j)
	MOVQ(j, w.xAhead)
}

// ask prefetches the row of x of an entry ahead.
func (w *wideRows) ask(e int) {
	j := GP64()
	if w.short {
		MOVWLZX(Mem{Base: w.ind, Index: w.ahead, Scale: 1, Disp: 2 * e}, j.As32())
	} else {
		w.column(w.ahead, e, j)
	}
	IMULQ(w.stride, j)
	ADDQ(w.xAhead, j)
	for at := 0; at < 4*w.k; at += 64 {
		PREFETCHT0(Mem{Base: j, Disp: at})
	}
}

// An entry is an entry of the matrix and its row of x.
type entry struct {
	row   Mem // of x
	value Op  // in memory, or a vector
	mask  reg.Register
}

// find finds an entry, given its column.
func (w *wideRows) find(j reg.GPVirtual, value Mem) entry {
	IMULQ(w.stride, j)
	e := entry{row: Mem{Base: w.x, Index: j, Scale: 1}, value: value}
	if w.k > w.lanes {
		// With an address of one register the multiplication is one operation.
		ADDQ(w.x, j)
		e.row = Mem{Base: j}
	}
	if w.avx2 || w.k > w.lanes {
		v := w.vector()
		VBROADCASTSS(value, v)
		e.value = v
	}
	return e
}

// times returns a vector of products of an entry.
func (w *wideRows) times(e entry, g int) reg.VecVirtual {
	v, row := w.vector(), e.row.Offset(4*w.lanes*g)
	switch {
	case w.avx2:
		VMULPS(row, e.value, v)
		if e.mask != nil {
			VANDPS(e.mask, v, v)
		}
	case w.k > w.lanes && e.mask != nil:
		VMULPS_Z(row, e.value, e.mask, v)
	case w.k > w.lanes:
		VMULPS(row, e.value, v)
	case e.mask != nil:
		VMOVUPS(row, v)
		VMULPS_BCST_Z(e.value, v, e.mask, v)
	default:
		VMOVUPS(row, v)
		VMULPS_BCST(e.value, v, v)
	}
	return v
}

// addPair adds two entries to sums of a block.
func (w *wideRows) addPair(a, b entry, sums []reg.VecVirtual) {
	for g, sum := range sums {
		v, u := w.times(a, g), w.times(b, g)
		VADDPS(u, v, v)
		VADDPS(v, sum, sum)
	}
}

// four adds the products of four entries to the sums of the block.
func (w *wideRows) four(ahead bool) {
	found := func(e int) entry {
		if ahead {
			w.ask(e)
		}
		j := GP64()
		w.column(w.ind, e, j)
		return w.find(j, Mem{Base: w.val, Disp: 4 * e})
	}
	w.addPair(found(0), found(2), w.even)
	w.addPair(found(1), found(3), w.odd)
}

// last adds the products of the last one to four entries.
func (w *wideRows) last() {
	bytes := w.beginLast()
	var count reg.VecVirtual
	if w.avx2 {
		w.table = GP64()
		LEAQ(w.window, w.table)
		SUBQ(bytes, w.table)
	} else {
		count = w.vector()
		SHRQ(U8(2), bytes)
		VPBROADCASTD(bytes.As32(), count)
	}
	found := func(n int) entry {
		at, j := GP64(), GP64()
		w.lastColumn(n, at, j)
		e := w.find(j, Mem{Base: w.val, Index: at, Scale: 4})
		switch {
		case n == 0:
		case w.avx2:
			mask := w.vector()
			VBROADCASTSS(Mem{Base: w.table, Disp: 4 * n}, mask)
			e.mask = mask
		default:
			mask := K()
			const greater = 6
			VPCMPUD(U8(greater), w.counts[n], count, mask)
			e.mask = mask
		}
		return e
	}
	w.addPair(found(0), found(2), w.even)
	w.addPair(found(1), found(3), w.odd)
	w.endLast()
}

// widen adds the sums of a block to those of the row and clears them.
func (w *wideRows) widen() {
	for g, sum := range w.even {
		VADDPS(w.odd[g], sum, sum)
		switch w.lanes {
		case 16:
			half := YMM()
			VEXTRACTF64X4(U8(1), sum, half)
			w.addWide(sum.AsY(), 2*g)
			w.addWide(half, 2*g+1)
		case 8:
			half := XMM()
			if w.avx2 {
				VEXTRACTF128(U8(1), sum, half)
			} else {
				VEXTRACTF32X4(U8(1), sum, half)
			}
			w.addWide(sum.AsX(), 2*g)
			w.addWide(half, 2*g+1)
		default:
			w.addWide(sum, g)
		}
	}
	w.clear(w.even)
	w.clear(w.odd)
}

// addWide adds a vector to a sum of the row.
func (w *wideRows) addWide(v reg.Register, at int) {
	wide := vec.Register(2 * int(v.Size()))
	VCVTPS2PD(v, wide)
	if w.spilled != (Mem{}) {
		m := w.spilled.Offset(32 * at)
		VADDPD(m, wide, wide)
		VMOVUPD(wide, m)
		return
	}
	VADDPD(wide, w.sums[at], w.sums[at])
}

// store stores a row and moves on.
func (w *wideRows) store() {
	dst, stride := GP64(), GP64()
	MOVQ(vec.Address("dst"), dst)
	for g := range w.k / w.sumLanes() {
		to := Mem{Base: dst, Disp: 4 * w.sumLanes() * g}
		if w.lanes == 16 {
			s := YMM()
			VCVTPD2PS(w.sums[g], s)
			VMOVUPS(s, to)
			continue
		}
		s := XMM()
		if w.spilled != (Mem{}) {
			VCVTPD2PSY(w.spilled.Offset(32*g), s)
		} else {
			VCVTPD2PSY(w.sums[g], s)
		}
		VMOVUPS(s, to)
	}
	MOVQ(vec.Address("dstStride"), stride)
	LEAQ(Mem{Base: dst, Index: stride, Scale: 4}, dst)
	MOVQ(dst, vec.Address("dst"))
}
