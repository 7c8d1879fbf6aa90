// Command centred writes three loops over centred rows: one stores them, one multiplies
// them with the transpose of a thin block, and one computes their dot products with
// other rows.
//
// Rows are read once, from memory, in order: the sums of a row's columns stay in the
// first-level cache. A vector takes little work, and the processor does it while it waits
// for the next one. Products of the transpose are rounded before they are added: the bits
// are those of plain Go.
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
	l := vec.SinglesNamed(level, "centred")
	centre(l)
	for _, columns := range []int{2, 1} {
		centredMulTrans(l, columns)
		centredDots(l, columns)
	}
}

func centre(l *vec.Singles) {
	name := "CentreF32" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)")
	Pragma("noescape")
	Doc(name + " is centreGo; there is at least one row.")
	dst, dstStride := vec.Argument("dst"), vec.Stride("dstStride")
	x, stride := vec.Argument("x"), vec.Stride("stride")
	rows, middle := vec.Argument("rows"), vec.Argument("centre")
	scale := broadcast(l, "scale")
	whole, left, t := split(l, vec.Argument("d"))
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

// rowLoop writes the loop over the vectors of a row; the last may be short. body gets
// functions to load and to store, and the place in the row.
func rowLoop(l *vec.Singles, whole, left reg.GPVirtual, t vec.SinglesTail, body func(load func(Mem, reg.VecVirtual), store func(reg.VecVirtual, Mem), at reg.GPVirtual)) {
	at := GP64()
	XORQ(at, at)
	CMPQ(at, whole)
	JGE(LabelRef("tail"))
	Label("vector")
	body(func(m Mem, v reg.VecVirtual) { VMOVUPS(m, v) }, func(v reg.VecVirtual, m Mem) { VMOVUPS(v, m) }, at)
	ADDQ(U8(l.Lanes), at)
	CMPQ(at, whole)
	JL(LabelRef("vector"))
	Label("tail")
	TESTQ(left, left)
	JZ(LabelRef("next"))
	body(t.Load, t.Store, at)
	Label("next")
}

// split returns the number of columns in whole vectors, the number left, and their mask.
func split(l *vec.Singles, d reg.GPVirtual) (whole, left reg.GPVirtual, t vec.SinglesTail) {
	whole, left = GP64(), GP64()
	rest := GP64()
	MOVQ(d, whole)
	ANDQ(I8(-l.Lanes), whole)
	MOVQ(d, left)
	SUBQ(whole, left)
	MOVQ(left, rest)
	return whole, left, l.First(rest)
}

// ahead is how many bytes ahead rows are prefetched: a page, where the processor's own
// prefetching stops.
const ahead = 4096

// centred loads a vector of a row, centred and scaled.
func centred(l *vec.Singles, load func(Mem, reg.VecVirtual), x, middle, at reg.GPVirtual, scale reg.VecVirtual) reg.VecVirtual {
	v, m := l.Vector(), l.Vector()
	PREFETCHT0(Mem{Base: x, Index: at, Scale: 4, Disp: ahead})
	load(Mem{Base: x, Index: at, Scale: 4}, v)
	load(Mem{Base: middle, Index: at, Scale: 4}, m)
	VSUBPS(m, v, v)
	VMULPS(scale, v, v)
	return v
}

func broadcast(l *vec.Singles, name string) reg.VecVirtual {
	v := l.Vector()
	VBROADCASTSS(vec.Address(name), v)
	return v
}

func centredMulTrans(l *vec.Singles, columns int) {
	name := fmt.Sprintf("CentredMulTrans%dF32%s", columns, l.Suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, w *float32, wStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is centredMulTransGo for %s of w;", name, vec.Count(columns, "column")), "there is at least one row.")
	dst := []reg.GPVirtual{vec.Argument("dst")}
	if columns == 2 {
		second := vec.Stride("dstStride")
		ADDQ(dst[0], second)
		dst = append(dst, second)
	}
	w, wStride := vec.Argument("w"), vec.Stride("wStride")
	x, stride := vec.Argument("x"), vec.Stride("stride")
	rows, middle := vec.Argument("rows"), vec.Argument("centre")
	scale := broadcast(l, "scale")
	whole, left, t := split(l, vec.Argument("d"))
	Label("row")
	factors := make([]reg.VecVirtual, columns)
	for c := range factors {
		factors[c] = l.Vector()
		VBROADCASTSS(Mem{Base: w, Disp: 4 * c}, factors[c])
	}
	rowLoop(l, whole, left, t, func(load func(Mem, reg.VecVirtual), store func(reg.VecVirtual, Mem), at reg.GPVirtual) {
		v := centred(l, load, x, middle, at, scale)
		for c, f := range factors {
			product, sum := l.Vector(), l.Vector()
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

func centredDots(l *vec.Singles, columns int) {
	name := fmt.Sprintf("CentredDots%dF32%s", columns, l.Suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, b *float32, bStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is CentredDots for %s of b, each sum in %d lanes; there is at", name, vec.Count(columns, "row"), l.Lanes), "least one row of x.")
	dst, b := []reg.GPVirtual{vec.Argument("dst")}, []reg.GPVirtual{vec.Argument("b")}
	if columns == 2 {
		second, other := vec.Stride("dstStride"), vec.Stride("bStride")
		ADDQ(dst[0], second)
		ADDQ(b[0], other)
		dst, b = append(dst, second), append(b, other)
	}
	x, stride := vec.Argument("x"), vec.Stride("stride")
	rows, middle := vec.Argument("rows"), vec.Argument("centre")
	scale := broadcast(l, "scale")
	whole, left, t := split(l, vec.Argument("d"))
	Label("row")
	sums := make([]reg.VecVirtual, columns)
	for c := range sums {
		sums[c] = l.Zero()
	}
	rowLoop(l, whole, left, t, func(load func(Mem, reg.VecVirtual), _ func(reg.VecVirtual, Mem), at reg.GPVirtual) {
		v := centred(l, load, x, middle, at, scale)
		for c := range sums {
			f := l.Vector()
			load(Mem{Base: b[c], Index: at, Scale: 4}, f)
			VFMADD231PS(f, v, sums[c])
		}
	})
	for c, v := range sums {
		l.Sum(v, VADDPS)
		VMOVSS(v.AsX(), Mem{Base: dst[c]})
		ADDQ(U8(4), dst[c])
	}
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
