// Command byte_dots_above writes the products of rows of signed bytes with a panel of unsigned
// ones, compared with thresholds.
//
// A block of sums stays in registers over all places, four at a time: a line of the
// panel holds these four places of 16 columns, and those of the row are broadcast. Sums
// begin with the bias and end in a comparison, so only bits are written.
//
// VNNI has an instruction for the product. Without it the even and the odd bytes are multiplied
// separately, as words, because the instruction that multiplies bytes saturates. Both leave the
// sum of a column in one lane.
//
//	level       rows  columns  registers: sums, panel, row
//	avx2           2       32              8      3    4
//	avx512         4       64             16      3    2
//	avx512vnni     6       64             24      4    1 at a time
//	amx           32       32    tiles:    4      2    2
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2", "avx512", "avx512vnni", "amx") }

func write(level string) {
	switch level {
	case "avx2":
		blocks(words{wide: 32, columns: 32}, "AVX2", 2)
	case "avx512":
		blocks(words{wide: 64, columns: 64}, "AVX512", 4)
	case "avx512vnni":
		blocks(vnni{}, "AVX512VNNI", 6)
	case "amx":
		xgetbv()
		tiles()
	}
}

// A method multiplies and adds vectors of bytes.
type method interface {
	bytes() int // of a vector
	most() int  // columns at a time
	// constants loads what stays in registers.
	constants() method
	// line adds the products of four places of some rows with those of the columns,
	// both at the given addresses: sums[i][v] is for row i and vector v.
	line(rows, vectors []Mem, sums [][]reg.VecVirtual)
}

// unroll is the number of lines in a turn of the inner loop; depth is a multiple of
// 16 of them.
const unroll = 4

func blocks(m method, suffix string, most int) {
	for rows := 1; rows <= most; rows++ {
		block(m, suffix, rows)
	}
}

func block(m method, suffix string, rows int) {
	name := fmt.Sprintf("ByteDotsAbove%d%s", rows, suffix)
	TEXT(name, NOSPLIT, "func(mask *uint64, a *int8, panel *uint8, depth, columns uintptr, bias, threshold *int32)")
	Pragma("noescape")
	Doc(name+" compares the products of "+vec.Count(rows, "row")+" with their thresholds.", "",
		fmt.Sprintf("\tfor i := range %d {", rows),
		"\t\tfor j := range columns {",
		"\t\t\tsum := bias[j]",
		"\t\t\tfor t := range depth {",
		"\t\t\t\tsum += a[i*depth+t] * panel[(j/16)*16*depth+(t/4)*64+(j%16)*4+t%4]",
		"\t\t\t}",
		"\t\t\tbit j%64 of mask[(i*columns+j)/64] = sum >= threshold[i]",
		"\t\t}",
		"\t}")
	mask, a, panel, bias, threshold := vec.Argument("mask"), vec.Argument("a"), vec.Argument("panel"), vec.Argument("bias"), vec.Argument("threshold")
	depth, columns := vec.Argument("depth"), vec.Argument("columns")
	vectors := m.most() * 4 / m.bytes()
	c := m.constants()

	// times returns a multiple of r: of the depth, or of the bytes of a group of 16 columns.
	times := func(r reg.GPVirtual, by int) reg.GPVirtual {
		p := GP64()
		LEAQ(Mem{Base: r, Index: r, Scale: uint8(by - 1)}, p)
		return p
	}
	var depth3, depth5, group3 reg.GPVirtual
	if rows > 3 {
		depth3 = times(depth, 3)
	}
	if rows > 5 {
		depth5 = times(depth, 5)
	}
	row := func(i int) Mem {
		switch i {
		case 0:
			return Mem{Base: a}
		case 3:
			return Mem{Base: a, Index: depth3, Scale: 1}
		case 5:
			return Mem{Base: a, Index: depth5, Scale: 1}
		}
		return Mem{Base: a, Index: depth, Scale: uint8(i)}
	}
	group := GP64()
	MOVQ(depth, group)
	SHLQ(U8(4), group)
	groups := m.most() / 16
	if groups > 2 {
		group3 = times(group, 3)
	}
	vector := func(v int) Mem {
		at := v * m.bytes()
		switch at / 64 {
		case 0:
			return Mem{Base: panel, Disp: at % 64}
		case 3:
			return Mem{Base: panel, Index: group3, Scale: 1, Disp: at % 64}
		}
		return Mem{Base: panel, Index: group, Scale: uint8(at / 64), Disp: at % 64}
	}
	left := GP64()
	MOVQ(columns, left)

	Label("columns")
	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for v := range vectors {
			sum := vec.Register(m.bytes())
			move(Mem{Base: bias, Disp: v * m.bytes()}, sum)
			sums[i] = append(sums[i], sum)
		}
	}
	places := GP64()
	MOVQ(depth, places)
	Label("lines")
	for u := range unroll {
		var from, to []Mem
		for i := range rows {
			from = append(from, row(i).Offset(4*u))
		}
		for v := range vectors {
			to = append(to, vector(v).Offset(64*u))
		}
		c.line(from, to, sums)
	}
	ADDQ(U8(4*unroll), a)
	ADDQ(I32(64*unroll), panel)
	SUBQ(U8(4*unroll), places)
	JNZ(LabelRef("lines"))
	SUBQ(depth, a)
	ADDQ(U32(4*m.most()), bias)
	if groups > 2 { // the panel, already moved by one group
		ADDQ(group3, panel)
	} else {
		ADDQ(group, panel)
	}

	stride, to := GP64(), GP64()
	MOVQ(columns, stride)
	SHRQ(U8(3), stride)
	MOVQ(mask, to)
	for i := range sums {
		if i > 0 {
			ADDQ(stride, to)
		}
		compare(m, sums[i], Mem{Base: threshold, Disp: 4 * i}, to)
	}
	ADDQ(U8(m.most()/8), mask)
	SUBQ(U8(m.most()), left)
	JNZ(LabelRef("columns"))
	VZEROUPPER()
	RET()
}

// compare writes the bits of one row to the mask.
func compare(m method, sums []reg.VecVirtual, threshold Mem, to reg.GPVirtual) {
	if m.bytes() == 64 {
		for v, sum := range sums {
			k := K()
			VPCMPD_BCST(U8(notLess), threshold, sum, k)
			KMOVW(k, Mem{Base: to, Disp: 2 * v})
		}
		return
	}
	least, bits := YMM(), GP32()
	VPBROADCASTD(threshold, least)
	for v := len(sums) - 1; v >= 0; v-- {
		VPCMPGTD(sums[v], least, sums[v])
		less := bits
		if v < len(sums)-1 {
			less = GP32()
		}
		VMOVMSKPS(sums[v], less)
		if v < len(sums)-1 {
			SHLL(U8(8), bits)
			ORL(less, bits)
		}
	}
	NOTL(bits)
	MOVL(bits, Mem{Base: to})
}

const notLess = 5

func move(from, to Op) {
	if v, ok := to.(reg.VecVirtual); ok && v.Size() == 64 {
		VMOVDQU32(from, to)
		return
	}
	VMOVDQU(from, to)
}

// vnni multiplies bytes. Lines stay in registers for all rows: if each product loaded
// an operand, the load ports would be the bottleneck.
type vnni struct{}

func (vnni) bytes() int        { return 64 }
func (vnni) most() int         { return 64 }
func (vnni) constants() method { return vnni{} }

func (vnni) line(rows, vectors []Mem, sums [][]reg.VecVirtual) {
	var lines []reg.VecVirtual
	for _, m := range vectors {
		line := ZMM()
		VMOVDQU32(m, line)
		lines = append(lines, line)
	}
	for i, m := range rows {
		x := ZMM()
		VPBROADCASTD(m, x)
		for v, line := range lines {
			VPDPBUSD(x, line, sums[i][v])
		}
	}
}

// words multiplies the even and the odd bytes as words.
type words struct {
	wide, columns int
	even          reg.VecVirtual // the low byte of each word
}

func (w words) bytes() int { return w.wide }
func (w words) most() int  { return w.columns }

func (w words) constants() method {
	w.even = vec.Register(w.wide)
	if w.wide == 64 {
		VPTERNLOGD(U8(0xff), w.even, w.even, w.even)
	} else {
		VPCMPEQD(w.even, w.even, w.even)
	}
	VPSRLW(U8(8), w.even, w.even)
	return w
}

func (w words) line(rows, vectors []Mem, sums [][]reg.VecVirtual) {
	type pair struct{ even, odd reg.VecVirtual }
	place := func(m Mem) (p pair) {
		p.even, p.odd = vec.Register(w.wide), vec.Register(w.wide)
		VPBROADCASTD(m, p.odd)
		VPSLLW(U8(8), p.odd, p.even)
		VPSRAW(U8(8), p.even, p.even)
		VPSRAW(U8(8), p.odd, p.odd)
		return p
	}
	column := func(m Mem) (p pair) {
		p.even, p.odd = vec.Register(w.wide), vec.Register(w.wide)
		move(m, p.odd)
		if w.wide == 64 {
			VPANDD(p.odd, w.even, p.even)
		} else {
			VPAND(p.odd, w.even, p.even)
		}
		VPSRLW(U8(8), p.odd, p.odd)
		return p
	}
	add := func(x, y pair, sum reg.VecVirtual) {
		product := vec.Register(w.wide)
		VPMADDWD(x.even, y.even, product)
		VPADDD(product, sum, sum)
		product = vec.Register(w.wide)
		VPMADDWD(x.odd, y.odd, product)
		VPADDD(product, sum, sum)
	}
	var places []pair
	for _, m := range rows {
		places = append(places, place(m))
	}
	for v, m := range vectors {
		y := column(m)
		for i, x := range places {
			add(x, y, sums[i][v])
		}
	}
}
