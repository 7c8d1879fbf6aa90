// Command add_moments writes the loops that add weighted products of pairs of columns.
//
// The products of several columns with the 8 columns of a block stay in registers over
// all rows: of up to 24 columns with AVX-512, and of up to 6 with AVX2, where the 8
// columns take two registers. The columns of the block are weighted once for each row;
// the other columns are broadcast.
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
		for _, columns := range []int{24, 16, 8, 4, 2, 1} {
			addMoments512(l, columns)
		}
		return
	}
	for _, columns := range []int{6, 4, 2, 1} {
		addMoments2(l, columns, nil)
	}
	window := vec.Window("addMomentsWindow"+l.Suffix, 64)
	for _, columns := range []int{4, 2, 1} {
		addMoments2(l, columns, &window)
	}
}

// arguments are the arguments that all functions share, and their loop over rows.
type arguments struct {
	dst, y, block, stride, w, rows, width reg.GPVirtual
}

func begin(name string, columns int, what string) arguments {
	TEXT(name, NOSPLIT, "func(dst, y, block *float64, stride uintptr, w *float64, rows, width uintptr)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is addMomentsGo for %s from y on and %s,", name, vec.Count(columns, "column"), what),
		"and some rows, at least one.")
	a := arguments{
		vec.Argument("dst"), vec.Argument("y"), vec.Argument("block"), vec.Argument("stride"),
		vec.Argument("w"), vec.Argument("rows"), vec.Argument("width"),
	}
	SHLQ(U8(3), a.stride)
	return a
}

// eachRow writes the loop over rows.
func (a arguments) eachRow(row func()) {
	Label("row")
	row()
	ADDQ(a.stride, a.y)
	ADDQ(a.stride, a.block)
	ADDQ(U8(8), a.w)
	DECQ(a.rows)
	JNZ(LabelRef("row"))
}

func addMoments512(l *vec.Level, columns int) {
	a := begin(fmt.Sprintf("AddMoments%dF64%s", columns, l.Suffix), columns, "the width columns from block on")
	first := l.Tail("addMoments", a.width)
	sums := make([]reg.VecVirtual, columns)
	for j := range sums {
		sums[j] = l.Wide()
		VMOVUPD(Mem{Base: a.dst, Disp: 64 * j}, sums[j])
	}
	a.eachRow(func() {
		weighted := l.Wide()
		first.LoadWide(Mem{Base: a.block}, weighted)
		VMULPD_BCST(Mem{Base: a.w}, weighted, weighted)
		for j, sum := range sums {
			VFMADD231PD_BCST(Mem{Base: a.y, Disp: 8 * j}, weighted, sum)
		}
	})
	for j, sum := range sums {
		first.StoreWide(sum, Mem{Base: a.dst, Disp: 64 * j})
	}
	VZEROUPPER()
	RET()
}

// addMoments2 is for AVX2. It uses masks if window is not nil; otherwise the block has 8
// columns.
func addMoments2(l *vec.Level, columns int, window *Mem) {
	name, what := fmt.Sprintf("AddMoments%dF64%s", columns, l.Suffix), "the 8 columns from block on"
	if window != nil {
		name, what = fmt.Sprintf("AddMoments%dShortF64%s", columns, l.Suffix), "the width columns from block on"
	}
	a := begin(name, columns, what)
	var masks [2]reg.VecVirtual
	if window != nil {
		base := GP64()
		LEAQ(*window, base)
		NEGQ(a.width)
		for h := range masks {
			masks[h] = YMM()
			VMOVUPD(Mem{Base: base, Index: a.width, Scale: 8, Disp: 32 * h}, masks[h])
		}
	}
	sums := make([][2]reg.VecVirtual, columns)
	for j := range sums {
		for h := range masks {
			sums[j][h] = YMM()
			VMOVUPD(Mem{Base: a.dst, Disp: 64*j + 32*h}, sums[j][h])
		}
	}
	a.eachRow(func() {
		factor, weighted := YMM(), [2]reg.VecVirtual{YMM(), YMM()}
		VBROADCASTSD(Mem{Base: a.w}, factor)
		for h, v := range weighted {
			if from := (Mem{Base: a.block, Disp: 32 * h}); window == nil {
				VMULPD(from, factor, v)
			} else {
				VMASKMOVPD(from, masks[h], v)
				VMULPD(v, factor, v)
			}
		}
		for j := range sums {
			VBROADCASTSD(Mem{Base: a.y, Disp: 8 * j}, factor)
			for h, v := range weighted {
				VFMADD231PD(v, factor, sums[j][h])
			}
		}
	})
	for j := range sums {
		for h, sum := range sums[j] {
			if to := (Mem{Base: a.dst, Disp: 64*j + 32*h}); window == nil {
				VMOVUPD(sum, to)
			} else {
				VMASKMOVPD(sum, masks[h], to)
			}
		}
	}
	VZEROUPPER()
	RET()
}
