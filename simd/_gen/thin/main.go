// Command thin writes the product of the transpose of a thin block with a wide
// one, the centring of rows, and both together.
//
// A block of columns of the product, of 4, 2 or 1 vectors for each of 2 or 1 columns
// of the thin block, stays in registers while the rows go by. With 4 vectors and 2
// columns there are 8 sums, so that no addition waits for the one before. Products
// are rounded before they are added: the bits are those of plain Go.
//
// The forms that centre on the way read their rows once, from memory, in order: the
// sums of a row's columns stay in the first-level cache. There is little to do for
// a vector, and the processor does it while it waits for the next.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var level = flag.String("level", "avx2", "avx2 or avx512")

func main() {
	flag.Parse()
	ConstraintExpr("gc,!noasm,!purego")
	l := lanes{n: 8, suffix: "AVX2"}
	if *level == "avx512" {
		l = lanes{n: 16, suffix: "AVX512"}
	} else {
		// Eight times all ones, then eight times zero.
		l.window = GLOBL("thinWindow"+l.suffix, RODATA|NOPTR)
		for i := range 8 {
			ones := uint64(1<<64 - 1)
			if i >= 4 {
				ones = 0
			}
			DATA(8*i, U64(ones))
		}
	}
	for _, columns := range []int{2, 1} {
		for _, vectors := range []int{4, 2, 1} {
			mulTrans(l, columns, vectors)
		}
	}
	centre(l)
	for _, columns := range []int{2, 1} {
		centredSums(l, columns)
		centredDots(l, columns)
	}
	Generate()
}

type lanes struct {
	n      int
	suffix string
	window Mem
}

func (l lanes) vector() reg.VecVirtual {
	if l.n == 16 {
		return ZMM()
	}
	return YMM()
}

func (l lanes) zero() reg.VecVirtual {
	v := l.vector()
	if l.n == 16 {
		VPXORQ(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
	return v
}

// A tail is the mask of the first lanes of a vector.
type tail struct {
	l lanes
	k reg.Register
	v reg.VecVirtual
}

// first makes the mask of the first n lanes, n from 0 to l.n; n is changed.
func (l lanes) first(n reg.GPVirtual) tail {
	if l.n == 16 {
		mask, k := GP32(), K()
		MOVL(U32(0xffff), mask)
		BZHIL(n.As32(), mask, mask)
		KMOVW(mask, k)
		return tail{l: l, k: k}
	}
	base, v := GP64(), YMM()
	LEAQ(l.window.Offset(32), base)
	NEGQ(n)
	VMOVUPS(Mem{Base: base, Index: n, Scale: 4}, v)
	return tail{l: l, v: v}
}

func (t tail) load(m Mem, v reg.VecVirtual) {
	if t.l.n == 16 {
		VMOVUPS_Z(m, t.k, v)
	} else {
		VMASKMOVPS(m, t.v, v)
	}
}

func (t tail) store(v reg.VecVirtual, m Mem) {
	if t.l.n == 16 {
		VMOVUPS(v, t.k, m)
	} else {
		VMASKMOVPS(v, t.v, m)
	}
}

func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func bytes(name string) reg.GPVirtual {
	v := param(name)
	SHLQ(U8(2), v)
	return v
}

func mulTrans(l lanes, columns, vectors int) {
	name := fmt.Sprintf("MulTrans%dx%dF32%s", columns, vectors, l.suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, w *float32, wStride uintptr, a *float32, aStride uintptr, rows, last uintptr)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is mulTransGo for %d columns of w and %d vectors of %d columns of a,", name, columns, vectors, l.n),
		"the last of which has last columns.")
	dst, dstStride := param("dst"), bytes("dstStride")
	w, wStride := param("w"), bytes("wStride")
	a, aStride := param("a"), bytes("aStride")
	rows, t := param("rows"), l.first(param("last"))
	sums := make([][]reg.VecVirtual, columns)
	for c := range sums {
		for range vectors {
			sums[c] = append(sums[c], l.zero())
		}
	}
	TESTQ(rows, rows)
	JZ(LabelRef("store"))
	Label("row")
	factors := make([]reg.VecVirtual, columns)
	for c := range factors {
		factors[c] = l.vector()
		VBROADCASTSS(Mem{Base: w, Disp: 4 * c}, factors[c])
	}
	for v := range vectors {
		wide, at := l.vector(), Mem{Base: a, Disp: 4 * l.n * v}
		if v == vectors-1 {
			t.load(at, wide)
		} else {
			VMOVUPS(at, wide)
		}
		for c, f := range factors {
			product := l.vector()
			VMULPS(f, wide, product)
			VADDPS(product, sums[c][v], sums[c][v])
		}
	}
	ADDQ(wStride, w)
	ADDQ(aStride, a)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("store")
	for c := range sums {
		for v, sum := range sums[c] {
			at := Mem{Base: dst, Disp: 4 * l.n * v}
			if v == vectors-1 {
				t.store(sum, at)
			} else {
				VMOVUPS(sum, at)
			}
		}
		if c+1 < columns {
			ADDQ(dstStride, dst)
		}
	}
	VZEROUPPER()
	RET()
}

func centre(l lanes) {
	name := "CentreF32" + l.suffix
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)")
	Pragma("noescape")
	Doc(name + " is centreGo; there is at least one row.")
	dst, dstStride := param("dst"), bytes("dstStride")
	x, stride := param("x"), bytes("stride")
	rows, middle := param("rows"), param("centre")
	scale := broadcast(l, "scale")
	whole, left, t := split(l, param("d"))
	Label("row")
	rowLoop(l, whole, left, t, func(load func(Mem, reg.VecVirtual), store func(reg.VecVirtual, Mem), at reg.GPVirtual) {
		store(centred(l, load, x, middle, at, scale), Mem{Base: dst, Index: at, Scale: 4})
	})
	ADDQ(dstStride, dst)
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// rowLoop writes the loop over the vectors of a row, the last of which may be short:
// body is called with how to load and store, and the place in the row.
func rowLoop(l lanes, whole, left reg.GPVirtual, t tail, body func(load func(Mem, reg.VecVirtual), store func(reg.VecVirtual, Mem), at reg.GPVirtual)) {
	at := GP64()
	XORQ(at, at)
	CMPQ(at, whole)
	JGE(LabelRef("tail"))
	Label("vector")
	body(func(m Mem, v reg.VecVirtual) { VMOVUPS(m, v) }, func(v reg.VecVirtual, m Mem) { VMOVUPS(v, m) }, at)
	ADDQ(U8(l.n), at)
	CMPQ(at, whole)
	JL(LabelRef("vector"))
	Label("tail")
	TESTQ(left, left)
	JZ(LabelRef("next"))
	body(t.load, t.store, at)
	Label("next")
}

// split returns the columns in whole vectors, those left, and their mask.
func split(l lanes, d reg.GPVirtual) (whole, left reg.GPVirtual, t tail) {
	whole, left = GP64(), GP64()
	rest := GP64()
	MOVQ(d, whole)
	ANDQ(I8(-l.n), whole)
	MOVQ(d, left)
	SUBQ(whole, left)
	MOVQ(left, rest)
	return whole, left, l.first(rest)
}

// ahead is how many bytes ahead rows are asked for: a page, where the processor itself
// stops asking.
const ahead = 4096

// centred loads a vector of a row, centred and scaled.
func centred(l lanes, load func(Mem, reg.VecVirtual), x, middle, at reg.GPVirtual, scale reg.VecVirtual) reg.VecVirtual {
	v, m := l.vector(), l.vector()
	PREFETCHT0(Mem{Base: x, Index: at, Scale: 4, Disp: ahead})
	load(Mem{Base: x, Index: at, Scale: 4}, v)
	load(Mem{Base: middle, Index: at, Scale: 4}, m)
	VSUBPS(m, v, v)
	VMULPS(scale, v, v)
	return v
}

func broadcast(l lanes, name string) reg.VecVirtual {
	v := l.vector()
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(c.Addr, v)
	return v
}

func centredSums(l lanes, columns int) {
	name := fmt.Sprintf("CentredSums%dF32%s", columns, l.suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, w *float32, wStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is centredSumsGo for %d columns of w, without setting dst to zero;", name, columns), "there is at least one row.")
	dst := []reg.GPVirtual{param("dst")}
	if columns == 2 {
		second := bytes("dstStride")
		ADDQ(dst[0], second)
		dst = append(dst, second)
	}
	w, wStride := param("w"), bytes("wStride")
	x, stride := param("x"), bytes("stride")
	rows, middle := param("rows"), param("centre")
	scale := broadcast(l, "scale")
	whole, left, t := split(l, param("d"))
	Label("row")
	factors := make([]reg.VecVirtual, columns)
	for c := range factors {
		factors[c] = l.vector()
		VBROADCASTSS(Mem{Base: w, Disp: 4 * c}, factors[c])
	}
	rowLoop(l, whole, left, t, func(load func(Mem, reg.VecVirtual), store func(reg.VecVirtual, Mem), at reg.GPVirtual) {
		v := centred(l, load, x, middle, at, scale)
		for c, f := range factors {
			product, sum := l.vector(), l.vector()
			VMULPS(f, v, product)
			load(Mem{Base: dst[c], Index: at, Scale: 4}, sum)
			VADDPS(product, sum, sum)
			store(sum, Mem{Base: dst[c], Index: at, Scale: 4})
		}
	})
	ADDQ(wStride, w)
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

func centredDots(l lanes, columns int) {
	name := fmt.Sprintf("CentredDots%dF32%s", columns, l.suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, b *float32, bStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is CentredDots for %d rows of b, each sum in %d lanes; there is at", name, columns, l.n), "least one row of x.")
	dst, b := []reg.GPVirtual{param("dst")}, []reg.GPVirtual{param("b")}
	if columns == 2 {
		second, other := bytes("dstStride"), bytes("bStride")
		ADDQ(dst[0], second)
		ADDQ(b[0], other)
		dst, b = append(dst, second), append(b, other)
	}
	x, stride := param("x"), bytes("stride")
	rows, middle := param("rows"), param("centre")
	scale := broadcast(l, "scale")
	whole, left, t := split(l, param("d"))
	Label("row")
	sums := make([]reg.VecVirtual, columns)
	for c := range sums {
		sums[c] = l.zero()
	}
	rowLoop(l, whole, left, t, func(load func(Mem, reg.VecVirtual), _ func(reg.VecVirtual, Mem), at reg.GPVirtual) {
		v := centred(l, load, x, middle, at, scale)
		for c := range sums {
			f := l.vector()
			load(Mem{Base: b[c], Index: at, Scale: 4}, f)
			VFMADD231PS(f, v, sums[c])
		}
	})
	for c, v := range sums {
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
		VMOVSS(v.AsX(), Mem{Base: dst[c]})
		ADDQ(U8(4), dst[c])
	}
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
