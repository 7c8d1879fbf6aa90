// Command mul_sparse writes the kernels of the product of sparse rows with a dense
// matrix, one function for each number of columns.
//
// Four products are added in float32, as (p0 + p1) + (p2 + p3), before the sum goes
// on in float64: converting every number of x takes 1.2 times as long with 8
// columns and 1.8 times with 32. Nothing is fused, so that plain Go has the same
// bits. The order is the same for every width and level, and so are the bits.
//
// Four entries are taken at a time. Columns are loaded one by one into an
// address, which beats a gather because a row of x is one vector load. Widths 1
// and 2 put several entries in one register, with AVX-512 16 by gathers. Masks of
// AVX-512 end a row without branches on its length, which are hard to predict. The
// row of x of every entry is asked for ahead of time from 16 columns on, where it
// gains up to 1.8 times in random order; with fewer it costs a tenth and gains
// nothing, since enough loads are in flight.
//
// The kernels named Offsets have offsets of 16 bits for columns, from a column of
// each row. They move x there once a row, and are the same otherwise: nothing is
// decoded.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/simd/_gen/vec"
)

// prefetch is how many entries ahead rows of x are asked for: two rows of the
// matrix or so, longer than memory takes to answer.
const prefetch = 64

// streamed is how many entries ahead columns and values are asked for.
const streamed = 512

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	switch level {
	case "avx2":
		for _, k := range []int{1, 2, 4, 8, 16} {
			fours(k, plain)
			fours(k, short)
		}
	case "avx512":
		for _, k := range []int{1, 2} {
			gathered(k, plain)
			gathered(k, short)
			gathered(k, shortHalf)
		}
		for _, k := range []int{4, 8, 16, 32} {
			maskedFours(k, plain)
			maskedFours(k, short)
		}
	}
}

// rows holds what the loops of a function share.
type rows struct {
	k     int
	short bool // columns are offsets of 16 bits
	half  bool // and values float16

	ind, val, x, stride reg.GPVirtual // x moved to a row's base if short
	p                   reg.GPVirtual // entry of the matrix
	ahead               reg.GPVirtual // ind, moved by the prefetch distance
	j                   reg.GPVirtual // byte offset of a row of x
	base, xAhead        reg.GPVirtual // if short: the row's base, x for ahead

	sums []reg.VecVirtual // accumulators
}

func (r *rows) load() (ptr reg.GPVirtual) {
	ptr = vec.Argument("ptr")
	if r.short {
		r.base, r.xAhead, r.x = vec.Argument("base"), GP64(), GP64()
		r.ind = vec.Argument("off")
	} else {
		r.ind = vec.Argument("ind")
		r.x = vec.Argument("x")
	}
	r.val = vec.Argument("val")
	r.stride = vec.Stride("stride")
	r.p, r.ahead, r.j = GP64(), GP64(), GP64()
	MOVQ(Mem{Base: ptr}, r.p)
	return ptr
}

// moveX moves x to the base of the next row.
func (r *rows) moveX() {
	MOVL(Mem{Base: r.base}, r.j.As32())
	ADDQ(U8(4), r.base)
	IMULQ(r.stride, r.j)
	MOVQ(vec.Address("x"), r.x)
	ADDQ(r.j, r.x)
}

// lookAhead sets what rows of x are asked for: those of the row after the next,
// which has a base of its own. Rows at the end have nothing ahead; they ask again
// for what they are about to read.
func (r *rows) lookAhead(ptr, end reg.GPVirtual) {
	MOVQ(r.ind, r.ahead)
	MOVQ(r.x, r.xAhead)
	CMPQ(vec.Address("rows"), U8(3))
	JL(LabelRef("begun"))
	shift, last := GP64(), GP64()
	MOVQ(Mem{Base: ptr, Disp: 8}, shift)
	SUBQ(r.p, shift)
	LEAQ(Mem{Base: end, Index: shift, Scale: 1}, last)
	CMPQ(last, vec.Address("nnz"))
	JHI(LabelRef("begun"))
	LEAQ(Mem{Base: r.ind, Index: shift, Scale: 2}, r.ahead)
	MOVL(Mem{Base: r.base, Disp: 4}, r.j.As32())
	IMULQ(r.stride, r.j)
	MOVQ(vec.Address("x"), r.xAhead)
	ADDQ(r.j, r.xAhead)
	Label("begun")
}

// stream asks for the next columns and values, for as many entries, so far ahead
// that memory has answered by then. What the processor fetches by itself is not
// enough: with it products with two columns are 1.4 times as fast.
func (r *rows) stream(entries int) {
	for _, s := range []struct {
		base reg.GPVirtual
		size int
	}{{r.ind, r.columnBytes()}, {r.val, r.valueBytes()}} {
		for at := 0; at < entries*s.size; at += 64 {
			PREFETCHT0(Mem{Base: s.base, Index: r.p, Scale: uint8(s.size), Disp: streamed*s.size + at})
		}
	}
}

func (r *rows) columnBytes() int {
	if r.short {
		return 2
	}
	return 4
}

func (r *rows) valueBytes() int {
	if r.half {
		return 2
	}
	return 4
}

// column loads a column, or its offset.
func (r *rows) column(ind, at reg.GPVirtual, u int) {
	if r.short {
		MOVWLZX(Mem{Base: ind, Index: at, Scale: 2, Disp: 2 * u}, r.j.As32())
	} else {
		MOVL(Mem{Base: ind, Index: at, Scale: 4, Disp: 4 * u}, r.j.As32())
	}
	IMULQ(r.stride, r.j)
}

// begin starts a row: it loads its end and clears the sums.
func (r *rows) begin(ptr, end reg.GPVirtual) {
	MOVQ(Mem{Base: ptr, Disp: 8}, end)
	ADDQ(U8(8), ptr)
	for _, acc := range r.sums {
		VXORPD(acc, acc, acc)
	}
	if r.short {
		r.moveX()
	}
	r.stream(32)
	switch {
	case r.k >= 16 && r.short:
		r.lookAhead(ptr, end)
	case r.k >= 16:
		// Rows at the end of the matrix have nothing ahead; they ask again for
		// what they are about to read.
		limit := GP64()
		LEAQ(Mem{Base: end, Disp: prefetch}, limit)
		LEAQ(Mem{Base: r.ind, Disp: 4 * prefetch}, r.ahead)
		CMPQ(limit, vec.Address("nnz"))
		CMOVQHI(r.ind, r.ahead)
	}
}

// each runs body for every four entries of a row.
func (r *rows) each(end reg.GPVirtual, body func()) {
	// Four entries are left while p <= end - 4.
	SUBQ(U8(4), end)
	CMPQ(r.p, end)
	JG(LabelRef("tail"))
	Label("four")
	body()
	ADDQ(U8(4), r.p)
	CMPQ(r.p, end)
	JLE(LabelRef("four"))
	Label("tail")
	ADDQ(U8(4), end)
}

// fours writes a kernel for AVX2 that adds four products in float32 at a time.
func fours(k int, v variant) {
	signFours(k, v, "AVX2")
	lanes := min(max(k, 4), 8)
	f := &foursRows{rows: rows{k: k, short: v != plain}, single: lanes}
	dst := vec.Argument("dst")
	dstStride := vec.Stride("dstStride")
	ptr := f.load()
	switch {
	case k <= 2:
		f.sums = []reg.VecVirtual{XMM()}
	case k == 4:
		f.sums = []reg.VecVirtual{YMM()}
	default:
		for range 2 * k / lanes {
			f.sums = append(f.sums, YMM())
		}
	}
	end := GP64()

	Label("row")
	f.begin(ptr, end)
	f.each(end, func() { f.add(f.sumOfFour()) })
	// Up to three more.
	CMPQ(f.p, end)
	JGE(LabelRef("store"))
	sum := f.product()
	for range 2 {
		CMPQ(f.p, end)
		JGE(LabelRef("last"))
		for g, w := range f.product() {
			VADDPS(w, sum[g], sum[g])
		}
	}
	Label("last")
	f.add(sum)
	Label("store")
	f.store(dst)
	ADDQ(dstStride, dst)
	DECQ(vec.Address("rows"))
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// A variant is a way in which columns and values are kept.
type variant struct {
	name, columns, value string // type of functions, parameters
	column               string // in the comment
}

var (
	plain     = variant{"MulSparse%dF32", "ind *uint32", "float32", "ind[p+e]"}
	short     = variant{"MulSparseOffsets%dF32", "base *uint32, off *uint16", "float32", "(base[r]+off[p+e])"}
	shortHalf = variant{"MulSparseOffsets%dF16", "base *uint32, off *uint16", "uint16", "(base[r]+off[p+e])"}
)

func signFours(k int, v variant, suffix string) {
	name := fmt.Sprintf(v.name, k) + suffix
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, %s, val *%s, nnz uintptr, x *float32, stride uintptr)", v.columns, v.value))
	Pragma("noescape")
	Doc(name+" computes "+vec.Count(k, "column")+" of the product of sparse rows with x.",
		"",
		"\tfor r := range rows {",
		"\t\tsum := 0.0 // for each column",
		"\t\tfor p := ptr[r]; p < ptr[r+1]; p += 4 {",
		"\t\t\tvar v [4]float32",
		"\t\t\tfor e := range min(4, ptr[r+1]-p) {",
		"\t\t\t\tv[e] = val[p+e] * x["+v.column+"*stride+column]",
		"\t\t\t}",
		"\t\t\tsum += float64((v[0] + v[1]) + (v[2] + v[3]))",
		"\t\t}",
		"\t\tdst[r*dstStride+column] = float32(sum)",
		"\t}",
		"",
		"Columns and values have nnz entries, of which none but the rows' own and those to",
		"prefetch are read.")
}

// foursRows are rows whose products are vectors of single float32 lanes.
type foursRows struct {
	rows
	single int
}

func (f *foursRows) products() reg.VecVirtual {
	if f.single == 8 {
		return YMM()
	}
	return XMM()
}

// sumOfFour returns the sums of the products of four entries.
func (f *foursRows) sumOfFour() []reg.VecVirtual {
	val := Mem{Base: f.val, Index: f.p, Scale: 4}
	switch f.k {
	case 1:
		v, t := XMM(), XMM()
		f.address(0)
		VMOVSS(f.row(0), v)
		for u := 1; u < 4; u++ {
			f.address(u)
			VINSERTPS(U8(u<<4), f.row(0), v, v)
		}
		VMULPS(val, v, v)
		VMOVSHDUP(v, t)
		VADDPS(t, v, v) // p0 + p1, ., p2 + p3, .
		VPERMILPS(U8(0x4e), v, t)
		VADDPS(t, v, v)
		return []reg.VecVirtual{v}
	case 2:
		w, low, high := XMM(), XMM(), XMM()
		VMOVUPS(val, w)
		var pair [2]reg.VecVirtual
		for h := range pair {
			ww := XMM()
			pair[h] = XMM()
			f.address(2 * h)
			VMOVSD(f.row(0), pair[h])
			f.address(2*h + 1)
			VMOVHPS(f.row(0), pair[h], pair[h])
			VPERMILPS(U8([]int{0x50, 0xfa}[h]), w, ww)
			VMULPS(ww, pair[h], pair[h])
		}
		VUNPCKLPD(pair[1], pair[0], low)  // p0, p2
		VUNPCKHPD(pair[1], pair[0], high) // p1, p3
		VADDPS(high, low, low)
		VPERMILPS(U8(0x4e), low, high)
		VADDPS(high, low, low)
		return []reg.VecVirtual{low}
	}
	return sumOfFour(func(u int) []reg.VecVirtual {
		f.address(u)
		return f.multiply(u)
	})
}

// sumOfFour adds what entry returns in the order of every level.
func sumOfFour(entry func(u int) []reg.VecVirtual) []reg.VecVirtual {
	var pair [2][]reg.VecVirtual
	for h := range pair {
		pair[h] = entry(2 * h)
		for g, v := range entry(2*h + 1) {
			VADDPS(v, pair[h][g], pair[h][g])
		}
	}
	for g, v := range pair[1] {
		VADDPS(v, pair[0][g], pair[0][g])
	}
	return pair[0]
}

// multiply returns the products of entry p+u with the row of x at j.
func (f *foursRows) multiply(u int) (v []reg.VecVirtual) {
	w := f.products()
	VBROADCASTSS(Mem{Base: f.val, Index: f.p, Scale: 4, Disp: 4 * u}, w)
	for g := range f.k / f.single {
		r := f.products()
		VMULPS(f.row(4*f.single*g), w, r)
		v = append(v, r)
	}
	return v
}

// product returns the products of entry p and moves on.
func (f *foursRows) product() (v []reg.VecVirtual) {
	f.tailAddress()
	val := Mem{Base: f.val, Index: f.p, Scale: 4}
	switch f.k {
	case 1:
		r := XMM()
		VMOVSS(f.row(0), r)
		VMULSS(val, r, r)
		v = []reg.VecVirtual{r}
	case 2:
		r, w := XMM(), XMM()
		VMOVSD(f.row(0), r)
		VBROADCASTSS(val, w)
		VMULPS(w, r, r)
		v = []reg.VecVirtual{r}
	default:
		v = f.multiply(0)
	}
	INCQ(f.p)
	return v
}

// add adds float32 sums to the float64 ones.
func (f *foursRows) add(v []reg.VecVirtual) {
	acc := f.sums
	switch f.k {
	case 1:
		t := XMM()
		VCVTSS2SD(v[0], v[0], t)
		VADDSD(t, acc[0], acc[0])
		return
	case 2, 4:
		var t reg.VecVirtual = XMM()
		if f.k == 4 {
			t = YMM()
		}
		VCVTPS2PD(v[0], t)
		VADDPD(t, acc[0], acc[0])
		return
	}
	for g := range v {
		low, high, half := YMM(), YMM(), XMM()
		VEXTRACTF128(U8(1), v[g], half)
		VCVTPS2PD(v[g].AsX(), low)
		VCVTPS2PD(half, high)
		VADDPD(low, acc[2*g], acc[2*g])
		VADDPD(high, acc[2*g+1], acc[2*g+1])
	}
}

func (f *foursRows) store(dst reg.GPVirtual) {
	half := XMM()
	acc := f.sums
	switch f.k {
	case 1:
		VCVTSD2SS(acc[0], acc[0], half)
		VMOVSS(half, Mem{Base: dst})
		return
	case 2:
		VCVTPD2PSX(acc[0], half)
		VMOVSD(half, Mem{Base: dst})
		return
	}
	for g, sum := range acc {
		s := XMM()
		VCVTPD2PSY(sum, s)
		VMOVUPS(s, Mem{Base: dst, Disp: 16 * g})
	}
}

// gathered writes a kernel for one or two columns with AVX-512, 16 entries at a
// time: rows of x fit a lane of a gather, even and odd entries give the pairs
// that are added first, and masks end a row without a branch.
func gathered(k int, v variant) {
	signFours(k, v, "AVX512")
	r := &rows{k: k, short: v != plain, half: v == shortHalf}
	dst := vec.Argument("dst")
	dstStride := vec.Stride("dstStride")
	ptr := r.load()
	stride, sum, spread, end, sixteen := ZMM(), XMM(), ZMM(), GP64(), GP64()
	VPBROADCASTQ(r.stride, stride)
	MOVQ(U32(16), sixteen)
	// Puts even entries before odd ones, or sums before what is between them.
	table := GLOBL("spread"+fmt.Sprintf(v.name, k), RODATA|NOPTR)
	for i := range 16 {
		if k == 1 {
			DATA(4*i, U32(2*i%16+i/8))
		} else if i < 8 {
			DATA(8*i, U64(2*i%8+i/4))
		}
	}
	VMOVDQU64(table, spread)

	Label("row")
	MOVQ(Mem{Base: ptr, Disp: 8}, end)
	ADDQ(U8(8), ptr)
	VXORPD(sum, sum, sum)
	if r.short {
		r.moveX()
	}
	CMPQ(r.p, end)
	JGE(LabelRef("store"))
	Label("block")
	count, bits, there := GP64(), GP32(), K()
	MOVQ(end, count)
	SUBQ(r.p, count)
	CMPQ(count, sixteen)
	CMOVQGT(sixteen, count)
	MOVL(I32(-1), bits)
	BZHIL(count.As32(), bits, bits)
	KMOVW(bits, there)
	r.stream(16)
	w, even, odd := ZMM(), ZMM(), ZMM()
	if r.short {
		VPMOVZXWD_Z(Mem{Base: r.ind, Index: r.p, Scale: 2}, there, odd)
	} else {
		VMOVDQU32_Z(Mem{Base: r.ind, Index: r.p, Scale: 4}, there, odd)
	}
	if v == shortHalf {
		VCVTPH2PS_Z(Mem{Base: r.val, Index: r.p, Scale: 2}, there, w)
	} else {
		VMOVUPS_Z(Mem{Base: r.val, Index: r.p, Scale: 4}, there, w)
	}
	VPMULUDQ(stride, odd, even)
	VPSRLQ(U8(32), odd, odd)
	VPMULUDQ(stride, odd, odd)
	var x [2]reg.VecVirtual
	for h, at := range []reg.VecVirtual{even, odd} {
		t, half := GP32(), K()
		MOVL(U32(0x5555<<h), t)
		PEXTL(t, bits, t)
		KMOVW(t, half)
		x[h] = ZMM()
		VPXORQ(x[h], x[h], x[h])
		if k == 1 {
			x[h] = x[h].AsY().(reg.VecVirtual)
			VGATHERQPS(Mem{Base: r.x, Index: at, Scale: 1}, half, x[h])
		} else {
			VGATHERQPD(Mem{Base: r.x, Index: at, Scale: 1}, half, x[h])
		}
	}
	wide := ZMM()
	if k == 1 {
		high, t := YMM(), YMM()
		VPERMPS(w, spread, w)
		VEXTRACTF64X4(U8(1), w, high)
		VMULPS(w.AsY(), x[0], x[0])
		VMULPS(high, x[1], x[1])
		VADDPS(x[1], x[0], x[0]) // p0 + p1, p2 + p3, ...
		VMOVSHDUP(x[0], t)
		VADDPS(t, x[0], x[0]) // sums of four, ., ...
		VCVTPS2PD(x[0], wide)
	} else {
		t := ZMM()
		VMOVSLDUP(w, t)
		VMULPS(t, x[0], x[0])
		VMOVSHDUP(w, w)
		VMULPS(w, x[1], x[1])
		VADDPS(x[1], x[0], x[0]) // p0 + p1, p2 + p3, ...
		VPERMILPD(U8(0x55), x[0], t)
		VADDPS(t, x[0], x[0]) // sums of four, ., ...
		VPERMPD(x[0], spread, t)
		VCVTPS2PD(t.AsY(), wide)
	}
	for g := range 4 {
		part := wide.AsX().(reg.VecVirtual)
		if g > 0 {
			part = XMM()
			VEXTRACTF64X2(U8(g), wide, part)
		}
		if k == 1 {
			VADDSD(part, sum, sum)
		} else {
			VADDPD(part, sum, sum)
		}
	}
	ADDQ(count, r.p)
	CMPQ(r.p, end)
	JLT(LabelRef("block"))
	Label("store")
	single := XMM()
	if k == 1 {
		VCVTSD2SS(sum, sum, single)
		VMOVSS(single, Mem{Base: dst})
	} else {
		VCVTPD2PSX(sum, single)
		VMOVSD(single, Mem{Base: dst})
	}
	ADDQ(dstStride, dst)
	DECQ(vec.Address("rows"))
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// address leaves the byte offset of the row of x of entry p+u in j.
func (r *rows) address(u int) {
	if r.k >= 16 {
		x := r.x
		if r.short {
			x = r.xAhead
		}
		r.column(r.ahead, r.p, u)
		PREFETCHT0(Mem{Base: x, Index: r.j, Scale: 1})
	}
	r.column(r.ind, r.p, u)
}

// tailAddress does the same for entry p, where nothing is asked for ahead.
func (r *rows) tailAddress() {
	r.column(r.ind, r.p, 0)
}

func (r *rows) row(disp int) Mem { return Mem{Base: r.x, Index: r.j, Scale: 1, Disp: disp} }
