// Command dots_64 writes dot products between rows in float64.
//
// A tile of 8 rows of a by 24 of b (4 by 12 on AVX2, which has half the registers) stays
// in registers over all columns. Each product of two rows has its own lane, so columns
// are added in their order at every level. Rows are packed by column: a column of the
// tile is one number of each of its rows.
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
	pack(l)
	for vectors := 1; vectors <= 3; vectors++ {
		tile(l, vectors)
	}
}

// stride loads a distance in float64 numbers, and converts it to bytes.
func stride(name string) reg.GPVirtual {
	s := vec.Argument(name)
	SHLQ(U8(3), s)
	return s
}

// pack writes the transpose of as many rows as a vector has lanes.
func pack(l *vec.Level) {
	name := "PackRowsF64" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst *float64, dstStride uintptr, rows *float64, rowStride uintptr, blocks uintptr)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s transposes blocks of %d columns of %d rows.", name, l.Lanes, l.Lanes),
		"",
		fmt.Sprintf("\tfor c := range %d * blocks {", l.Lanes),
		fmt.Sprintf("\t\tfor r := range %d {", l.Lanes),
		"\t\t\tdst[c*dstStride+r] = rows[r*rowStride+c]",
		"\t\t}",
		"\t}")
	dst, dstStride := vec.Argument("dst"), stride("dstStride")
	rows, rowStride := vec.Argument("rows"), stride("rowStride")
	blocks := vec.Argument("blocks")
	Label("block")
	from := GP64()
	MOVQ(rows, from)
	v := make([]reg.VecVirtual, l.Lanes)
	for r := range v {
		v[r] = l.Wide()
		VMOVUPD(Mem{Base: from}, v[r])
		if r+1 < len(v) {
			ADDQ(rowStride, from)
		}
	}
	for _, column := range transpose(l, v) {
		VMOVUPD(column, Mem{Base: dst})
		ADDQ(dstStride, dst)
	}
	ADDQ(U8(8*l.Lanes), rows)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// transpose returns the columns of a square of vectors.
func transpose(l *vec.Level, v []reg.VecVirtual) []reg.VecVirtual {
	n := len(v)
	pairs := make([]reg.VecVirtual, n) // of rows 2i and 2i+1: even columns, odd columns
	for i := 0; i < n; i += 2 {
		pairs[i], pairs[i+1] = l.Wide(), l.Wide()
		VUNPCKLPD(v[i+1], v[i], pairs[i])
		VUNPCKHPD(v[i+1], v[i], pairs[i+1])
	}
	out := make([]reg.VecVirtual, n)
	if n == 4 {
		for c := range 2 {
			out[c], out[c+2] = l.Wide(), l.Wide()
			VPERM2F128(U8(0x20), pairs[2+c], pairs[c], out[c])
			VPERM2F128(U8(0x31), pairs[2+c], pairs[c], out[c+2])
		}
		return out
	}
	// Quarters hold two rows of a column: first those of columns c and c+4 of four rows,
	// then those of all rows.
	four := make([][2]reg.VecVirtual, n)
	for c := range 2 {
		for half := range 2 {
			low, high := pairs[4*half+c], pairs[4*half+2+c]
			even, odd := l.Wide(), l.Wide()
			VSHUFF64X2(U8(0x88), high, low, even) // columns c, c+4
			VSHUFF64X2(U8(0xdd), high, low, odd)  // columns c+2, c+6
			four[c][half], four[c+2][half] = even, odd
		}
	}
	for c := range 4 {
		out[c], out[c+4] = l.Wide(), l.Wide()
		VSHUFF64X2(U8(0x88), four[c][1], four[c][0], out[c])
		VSHUFF64X2(U8(0xdd), four[c][1], four[c][0], out[c+4])
	}
	return out
}

// tile writes the products of a tile.
func tile(l *vec.Level, vectors int) {
	name := fmt.Sprintf("DotTile%dF64%s", vectors, l.Suffix)
	TEXT(name, NOSPLIT, "func(dst *float64, dstStride uintptr, a, b *float64, columns, add uintptr)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s multiplies %d packed rows of a with %d of b.", name, l.Lanes, l.Lanes*vectors),
		"",
		fmt.Sprintf("\tfor i := range %d {", l.Lanes),
		fmt.Sprintf("\t\tfor j := range %d {", l.Lanes*vectors),
		"\t\t\tsum := 0, or dst[i*dstStride+j] where add is not 0",
		"\t\t\tfor c := range columns {",
		fmt.Sprintf("\t\t\t\tsum = fma(a[%d*c+i], b[%d*c+j], sum)", l.Lanes, l.Lanes*vectors),
		"\t\t\t}",
		"\t\t\tdst[i*dstStride+j] = sum",
		"\t\t}",
		"\t}",
		"",
		"columns is at least 1.")
	dst, dstStride := vec.Argument("dst"), stride("dstStride")
	a, b, columns, add := vec.Argument("a"), vec.Argument("b"), vec.Argument("columns"), vec.Argument("add")
	sums := make([][]reg.VecVirtual, l.Lanes)
	for i := range sums {
		for range vectors {
			sums[i] = append(sums[i], l.Wide())
		}
	}
	at := GP64()
	each := func(do func(sum reg.VecVirtual, m Mem)) {
		MOVQ(dst, at)
		for i := range sums {
			for v, sum := range sums[i] {
				do(sum, Mem{Base: at, Disp: 8 * l.Lanes * v})
			}
			if i+1 < len(sums) {
				ADDQ(dstStride, at)
			}
		}
	}
	TESTQ(add, add)
	JZ(LabelRef("zeros"))
	each(func(sum reg.VecVirtual, m Mem) { VMOVUPD(m, sum) })
	JMP(LabelRef("column"))
	Label("zeros")
	for i := range sums {
		for _, sum := range sums[i] {
			l.Clear(sum)
		}
	}
	Label("column")
	right := make([]reg.VecVirtual, vectors)
	for v := range right {
		right[v] = l.Wide()
		VMOVUPD(Mem{Base: b, Disp: 8 * l.Lanes * v}, right[v])
	}
	for i := range sums {
		left := l.Wide()
		VBROADCASTSD(Mem{Base: a, Disp: 8 * i}, left)
		for v, r := range right {
			VFMADD231PD(left, r, sums[i][v])
		}
	}
	ADDQ(U8(8*l.Lanes), a)
	ADDQ(U32(8*l.Lanes*vectors), b)
	DECQ(columns)
	JNZ(LabelRef("column"))
	each(func(sum reg.VecVirtual, m Mem) { VMOVUPD(sum, m) })
	VZEROUPPER()
	RET()
}
