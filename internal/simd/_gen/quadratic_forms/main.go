// Command quadratic_forms writes polynomials of degree 2 at some rows.
//
// The 8 columns of a block are lanes. The sums of a few rows over the other columns stay
// in registers: each column of the polynomial is loaded once for all these rows, and the
// numbers of the rows are broadcast. AVX-512 takes two blocks at a time, so that a
// broadcast number is used twice; the first block begins 8 columns before the second.
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
	l := vec.Named(level)
	if l.Lanes == 8 {
		for _, rows := range []int{8, 1} {
			newForms(l, rows).write512()
		}
		return
	}
	window := vec.Window("quadraticFormsWindow"+l.Suffix, 64)
	for _, rows := range []int{4, 1} {
		newForms(l, rows).write2(window)
	}
}

// forms is one function.
type forms struct {
	l                  *vec.Level
	rows               int
	dst, y, linear, m  reg.GPVirtual
	left               reg.GPVirtual   // columns
	strides            []reg.GPVirtual // 1, 3, 5 and 7 times that of y
	column, other, end reg.GPVirtual   // scratch
}

func newForms(l *vec.Level, rows int) *forms {
	name := fmt.Sprintf("QuadraticForms%dF64%s", rows, l.Suffix)
	TEXT(name, NOSPLIT, "func(dst, y *float64, stride uintptr, linear, m *float64, d uintptr)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is quadraticFormsGo for %s of d columns, at least one; m is nil for no numbers.", name, vec.Count(rows, "row")))
	f := &forms{
		l: l, rows: rows, dst: vec.Argument("dst"), y: vec.Argument("y"), linear: vec.Argument("linear"), m: vec.Argument("m"),
		left: vec.Argument("d"), column: GP64(), other: GP64(), end: GP64(),
	}
	if rows > 1 {
		stride := vec.Argument("stride")
		SHLQ(U8(3), stride)
		f.strides = append(f.strides, stride)
		for odd := 3; odd < rows; odd += 2 {
			next := GP64()
			LEAQ(Mem{Base: f.strides[len(f.strides)-1], Index: stride, Scale: 2}, next)
			f.strides = append(f.strides, next)
		}
	}
	return f
}

// at returns the address in row r that corresponds to a place in the first row.
func (f *forms) at(p reg.GPVirtual, r int) Mem {
	if r == 0 {
		return Mem{Base: p}
	}
	scale := uint8(1)
	for r%2 == 0 {
		r, scale = r/2, 2*scale
	}
	return Mem{Base: p, Index: f.strides[r/2], Scale: scale}
}

// vectors returns some vectors for each row.
func (f *forms) vectors() []reg.VecVirtual {
	v := make([]reg.VecVirtual, f.rows)
	for r := range v {
		v[r] = f.l.Wide()
	}
	return v
}

// sumLanes adds the 4 lanes of a vector, in halves, to the first.
func sumLanes(v reg.VecVirtual) {
	half := XMM()
	VEXTRACTF128(U8(1), v.AsY(), half)
	VADDPD(half, v.AsX(), v.AsX())
	VPERMILPD(U8(1), v.AsX(), half)
	VADDSD(half, v.AsX(), v.AsX())
}

// write512 is for AVX-512.
func (f *forms) write512() {
	lanes, near, far := f.vectors(), f.vectors(), f.vectors()
	for _, v := range lanes {
		f.l.Clear(v)
	}
	Label("blocks")
	CMPQ(f.left, U8(8))
	JLE(LabelRef("last"))

	// Two blocks; the second may be short.
	short := GP64()
	LEAQ(Mem{Base: f.left, Disp: -8}, short)
	CMPQ(short, U8(8))
	JLE(LabelRef("masked"))
	MOVQ(U32(8), short)
	Label("masked")
	first := f.l.Tail("quadraticForms", short)
	for r := range near {
		VMOVUPD(Mem{Base: f.linear}, near[r])
		first.LoadWide(Mem{Base: f.linear, Disp: 64}, far[r])
	}
	TESTQ(f.m, f.m)
	JZ(LabelRef("two_finish"))
	MOVQ(f.left, f.other)
	SHLQ(U8(6), f.other)
	ADDQ(f.m, f.other)
	MOVQ(f.y, f.column)
	LEAQ(Mem{Base: f.y, Disp: 64}, f.end)
	f.columns("before", func() { f.addColumn(near, nil) })
	LEAQ(Mem{Base: f.y, Index: f.left, Scale: 8}, f.end)
	f.columns("both", func() { f.addColumn(near, far) })
	MOVQ(f.other, f.m)
	Label("two_finish")
	for r := range lanes {
		VFMADD231PD(f.at(f.y, r), near[r], lanes[r])
	}
	ADDQ(U8(64), f.y)
	for r := range lanes {
		VFMADD231PD(f.at(f.y, r), far[r], first.Mask(), lanes[r])
	}
	ADDQ(U8(64), f.y)
	SUBQ(I32(-128), f.linear)
	SUBQ(U8(16), f.left)
	JG(LabelRef("blocks"))
	JMP(LabelRef("sum"))

	Label("last")
	rest := f.l.Tail("quadraticForms", f.left)
	for r := range near {
		rest.LoadWide(Mem{Base: f.linear}, near[r])
	}
	TESTQ(f.m, f.m)
	JZ(LabelRef("last_finish"))
	MOVQ(f.y, f.column)
	LEAQ(Mem{Base: f.y, Index: f.left, Scale: 8}, f.end)
	f.columns("one", func() { f.addColumn(near, nil) })
	Label("last_finish")
	for r := range lanes {
		VFMADD231PD(f.at(f.y, r), near[r], rest.Mask(), lanes[r])
	}
	Label("sum")
	for r, v := range lanes {
		half := YMM()
		VEXTRACTF64X4(U8(1), v, half)
		VADDPD(half, v.AsY(), v.AsY())
		sumLanes(v)
		VMOVSD(v.AsX(), Mem{Base: f.dst, Disp: 8 * r})
	}
	VZEROUPPER()
	RET()
}

// columns writes the loop over the columns up to f.end, at least one.
func (f *forms) columns(name string, add func()) {
	Label(name)
	add()
	ADDQ(U8(64), f.m)
	ADDQ(U8(8), f.column)
	CMPQ(f.column, f.end)
	JNE(LabelRef(name))
}

// addColumn adds a column to the sums of a block and, unless far is nil, to those of the
// block after it.
func (f *forms) addColumn(near, far []reg.VecVirtual) {
	one := f.l.Wide()
	VMOVUPD(Mem{Base: f.m}, one)
	if far == nil {
		for r, v := range near {
			VFMADD231PD_BCST(f.at(f.column, r), one, v)
		}
		return
	}
	two := f.l.Wide()
	VMOVUPD(Mem{Base: f.other}, two)
	ADDQ(U8(64), f.other)
	for r := range near {
		number := f.l.Wide()
		VBROADCASTSD(f.at(f.column, r), number)
		VFMADD231PD(one, number, near[r])
		VFMADD231PD(two, number, far[r])
	}
}

// write2 is for AVX2, where the lanes of a row take two registers and are kept in memory.
func (f *forms) write2(window Mem) {
	local := AllocLocal(64 * f.rows)
	sums := [2][]reg.VecVirtual{f.vectors(), f.vectors()}
	f.l.Clear(sums[0][0])
	for r := range 2 * f.rows {
		VMOVUPD(sums[0][0], local.Offset(32*r))
	}
	Label("blocks")
	CMPQ(f.left, U8(8))
	JL(LabelRef("short"))
	f.block2(local, sums, "whole", nil)
	ADDQ(U8(64), f.y)
	ADDQ(U8(64), f.linear)
	SUBQ(U8(8), f.left)
	JNZ(LabelRef("blocks"))
	JMP(LabelRef("sum"))
	Label("short")
	f.block2(local, sums, "rest", &window)
	Label("sum")
	for r := range f.rows {
		v := f.l.Wide()
		VMOVUPD(local.Offset(64*r), v)
		VADDPD(local.Offset(64*r+32), v, v)
		sumLanes(v)
		VMOVSD(v.AsX(), Mem{Base: f.dst, Disp: 8 * r})
	}
	VZEROUPPER()
	RET()
}

// block2 adds a block. It uses masks if window is not nil.
func (f *forms) block2(local Mem, sums [2][]reg.VecVirtual, name string, window *Mem) {
	// mask makes a mask each time: there is no register to keep it in.
	mask := func(h int) reg.VecVirtual {
		v := f.l.Wide()
		LEAQ(*window, f.other)
		NEGQ(f.left)
		VMOVUPD(Mem{Base: f.other, Index: f.left, Scale: 8, Disp: 32 * h}, v)
		NEGQ(f.left)
		return v
	}
	for h := range sums {
		from := Mem{Base: f.linear, Disp: 32 * h}
		var m reg.VecVirtual
		if window != nil {
			m = mask(h)
		}
		for _, v := range sums[h] {
			if window == nil {
				VMOVUPD(from, v)
			} else {
				VMASKMOVPD(from, m, v)
			}
		}
	}
	TESTQ(f.m, f.m)
	JZ(LabelRef(name + "_finish"))
	MOVQ(f.y, f.column)
	LEAQ(Mem{Base: f.y, Index: f.left, Scale: 8}, f.end)
	f.columns(name+"_columns", func() {
		one, two, number := f.l.Wide(), f.l.Wide(), f.l.Wide()
		VMOVUPD(Mem{Base: f.m}, one)
		VMOVUPD(Mem{Base: f.m, Disp: 32}, two)
		for r := range f.rows {
			VBROADCASTSD(f.at(f.column, r), number)
			VFMADD231PD(one, number, sums[0][r])
			VFMADD231PD(two, number, sums[1][r])
		}
	})
	Label(name + "_finish")
	for h := range sums {
		var m reg.VecVirtual
		if window != nil {
			m = mask(h)
		}
		for r, v := range sums[h] {
			lanes, y := f.l.Wide(), f.l.Wide()
			at := f.at(f.y, r)
			at.Disp += 32 * h
			if window == nil {
				VMOVUPD(at, y)
			} else {
				VMASKMOVPD(at, m, y)
			}
			to := local.Offset(64*r + 32*h)
			VMOVUPD(to, lanes)
			VFMADD231PD(y, v, lanes)
			if window == nil {
				VMOVUPD(lanes, to)
			} else {
				VMASKMOVPD(lanes, m, to)
			}
		}
	}
}
