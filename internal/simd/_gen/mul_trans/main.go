// Command mul_trans writes the product of the transpose of a thin block with a wide one.
//
// A block of columns of the product, of 4, 2 or 1 vectors for each of 2 or 1 columns of
// the thin block, stays in registers over all rows. With 4 vectors and 2 columns there
// are 8 sums, so that no addition waits for the one before. Products are rounded before
// they are added: the bits are those of plain Go.
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
	l := vec.SinglesNamed(level, "mulTrans")
	for _, columns := range []int{2, 1} {
		for _, vectors := range []int{4, 2, 1} {
			mulTrans(l, columns, vectors)
		}
	}
}

func mulTrans(l *vec.Singles, columns, vectors int) {
	name := fmt.Sprintf("MulTrans%dx%dF32%s", columns, vectors, l.Suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride uintptr, w *float32, wStride uintptr, a *float32, aStride uintptr, rows, last uintptr)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is mulTransGo for %s of w and %s of %d columns of a,", name, vec.Count(columns, "column"), vec.Count(vectors, "vector"), l.Lanes),
		"the last vector with last columns.")
	dst, dstStride := vec.Argument("dst"), vec.Stride("dstStride")
	w, wStride := vec.Argument("w"), vec.Stride("wStride")
	a, aStride := vec.Argument("a"), vec.Stride("aStride")
	rows, t := vec.Argument("rows"), l.First(vec.Argument("last"))
	sums := make([][]reg.VecVirtual, columns)
	for c := range sums {
		for range vectors {
			sums[c] = append(sums[c], l.Zero())
		}
	}
	TESTQ(rows, rows)
	JZ(LabelRef("store"))
	Label("row")
	factors := make([]reg.VecVirtual, columns)
	for c := range factors {
		factors[c] = l.Vector()
		VBROADCASTSS(Mem{Base: w, Disp: 4 * c}, factors[c])
	}
	for v := range vectors {
		wide, at := l.Vector(), Mem{Base: a, Disp: 4 * l.Lanes * v}
		if v == vectors-1 {
			t.Load(at, wide)
		} else {
			VMOVUPS(at, wide)
		}
		for c, f := range factors {
			product := l.Vector()
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
			at := Mem{Base: dst, Disp: 4 * l.Lanes * v}
			if v == vectors-1 {
				t.Store(sum, at)
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
