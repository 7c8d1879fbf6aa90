// Command add_rows writes the loop that adds multiples of rows. A run of the sums stays
// in registers over all rows.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(addRows, "avx2", "avx512") }

// together is the number of vectors of a run: as many additions as a processor can overlap.
const together = 8

func addRows(level string) {
	l := vec.Named(level)
	name := "AddRowsF64" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst *float64, n uintptr, v *float64, rows uintptr, x *float64, stride uintptr)")
	Pragma("noescape")
	Doc(name + " is addRowsGo for n numbers and some rows, at least one of each.")
	dst, n, v, rows, x, stride := vec.Argument("dst"), vec.Argument("n"), vec.Argument("v"), vec.Argument("rows"), vec.Argument("x"), vec.Argument("stride")
	SHLQ(U8(3), stride)
	LEAQ(Mem{Base: v, Index: rows, Scale: 8}, v) // after the last; indices count up to zero
	NEGQ(rows)

	// run handles some vectors, or one short vector if there is a tail.
	run := func(name string, vectors int, tail *vec.Tail) {
		at := func(p reg.GPVirtual, i int) Mem { return Mem{Base: p, Disp: 8 * l.Lanes * i} }
		sums := make([]reg.VecVirtual, vectors)
		for i := range sums {
			sums[i] = l.Wide()
			if tail == nil {
				VMOVUPD(at(dst, i), sums[i])
			} else {
				tail.LoadWide(at(dst, i), sums[i])
			}
		}
		row, j := GP64(), GP64()
		MOVQ(x, row)
		MOVQ(rows, j)
		Label(name + "_rows")
		factor := l.Wide()
		VBROADCASTSD(Mem{Base: v, Index: j, Scale: 8}, factor)
		for i := range sums {
			product := l.Wide()
			if tail == nil {
				VMULPD(at(row, i), factor, product)
			} else {
				tail.LoadWide(at(row, i), product)
				VMULPD(product, factor, product)
			}
			VADDPD(product, sums[i], sums[i])
		}
		ADDQ(stride, row)
		INCQ(j)
		JNZ(LabelRef(name + "_rows"))
		for i := range sums {
			if tail == nil {
				VMOVUPD(sums[i], at(dst, i))
			} else {
				tail.StoreWide(sums[i], at(dst, i))
			}
		}
	}
	for _, part := range []struct {
		name    string
		vectors int
	}{{"many", together}, {"one", 1}} {
		size := part.vectors * l.Lanes
		SUBQ(U8(size), n)
		JL(LabelRef(part.name + "_end"))
		Label(part.name)
		run(part.name, part.vectors, nil)
		ADDQ(U32(8*size), dst)
		ADDQ(U32(8*size), x)
		SUBQ(U8(size), n)
		JGE(LabelRef(part.name))
		Label(part.name + "_end")
		ADDQ(U8(size), n)
	}
	JZ(LabelRef("end"))
	tail := l.Tail("addRows", n)
	run("short", 1, &tail)
	Label("end")
	VZEROUPPER()
	RET()
}
