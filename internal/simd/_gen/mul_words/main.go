// Command mul_words writes the products of a panel of signed bytes with pieces of words: bytes
// of words, or signed halves of words.
//
// A block of sums, some pieces by some groups of 16 rows, stays in registers over all lines of
// the panel. A line holds four places of 16 rows, and the four places of a piece are broadcast.
// At the end the sums of a piece are shifted to the place of the piece in its word, and added
// to those in memory. All of this wraps, as it should.
//
// VNNI multiplies bytes. Without it the even and the odd bytes of the panel are widened
// separately and multiplied with halves of words, because the instruction that multiplies bytes
// saturates.
//
//	level       rows  pieces            registers: sums, panel, pieces
//	avx2          16       4 halves                   8      4    2 at a time
//	avx512        32       8 halves                  16      4    2 at a time
//	avx512vnni    64       6 bytes                   24      4    1 at a time
//	amx           32      32 bytes          tiles:    4      2    2
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
		blocks(halves{wide: 32}, "AVX2", 4, 1)
		packHalves()
	case "avx512":
		blocks(halves{wide: 64}, "AVX512", 8, 2, 1)
	case "avx512vnni":
		blocks(vnni{}, "AVX512VNNI", 6, 4, 1)
		packBytes()
	case "amx":
		tiles()
	}
}

// A method multiplies and adds vectors.
type method interface {
	bytes() int      // of a vector
	pieceBytes() int // of four places of a piece
	unit() int       // places of a piece that are next to each other
	// line adds the products of four places of some pieces with those of the rows, both at
	// the given addresses: sums[i][v] is for piece i and vector v.
	line(pieces, vectors []Mem, sums [][]reg.VecVirtual)
}

// unroll is the number of lines in a turn of the inner loop; depth is a multiple of 16 of them.
const unroll = 4

// blocks writes the functions for even numbers of pieces, and for some numbers of groups.
func blocks(m method, suffix string, most int, groups ...int) {
	for _, g := range groups {
		for pieces := 2; pieces <= most; pieces += 2 {
			block(m, suffix, g, pieces)
		}
	}
}

const signature = "func(sums *uint32, stride uintptr, panel *int8, group, depth uintptr, packed *uint32, pieces *[2]uint32, ahead *int8)"

func block(m method, suffix string, groups, pieces int) {
	name := fmt.Sprintf("MulWords%dx%d%s", groups, pieces, suffix)
	place := fmt.Sprintf("packed[(t/64)*%d+i*64+t%%64]", 64*pieces)
	if m.unit() == 4 {
		place = fmt.Sprintf("packed[(t/4)*%d+i*4+t%%2*2+t%%4/2]", 4*pieces)
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name+" adds the products of "+vec.Count(groups, "group")+" of 16 rows with "+vec.Count(pieces, "piece")+" of words.", "",
		fmt.Sprintf("\tfor r := range %d {", 16*groups),
		fmt.Sprintf("\t\tfor i := range %d {", pieces),
		"\t\t\tsum := 0",
		"\t\t\tfor t := range depth {",
		"\t\t\t\tsum += panel[(r/16)*group+(t/4)*64+(r%16)*4+t%4] * "+place,
		"\t\t\t}",
		"\t\t\tsums[pieces[i][0]*stride+r] += sum << pieces[i][1]",
		"\t\t}",
		"\t}", "",
		"stride counts words, group bytes. It prefetches depth/4 lines from ahead on.")
	panel, packed, ahead, depth := vec.Argument("panel"), vec.Argument("packed"), vec.Argument("ahead"), vec.Argument("depth")
	group := vec.Argument("group")
	vectors := groups * 64 / m.bytes()
	var group3 reg.GPVirtual
	if groups > 3 {
		group3 = GP64()
		LEAQ(Mem{Base: group, Index: group, Scale: 2}, group3)
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
	sums := make([][]reg.VecVirtual, pieces)
	for i := range sums {
		for range vectors {
			sum := vec.Register(m.bytes())
			if m.bytes() == 64 {
				VPXORD(sum, sum, sum)
			} else {
				VPXOR(sum, sum, sum)
			}
			sums[i] = append(sums[i], sum)
		}
	}

	step := m.unit() / 4 * m.pieceBytes() // from a piece to the next
	turns := GP64()
	if m.unit() > 4*unroll {
		Label("units")
		MOVQ(U32(m.unit()/4/unroll), turns)
	}
	Label("lines")
	for u := range unroll {
		PREFETCHT0(Mem{Base: ahead, Disp: 64 * u})
		var from, to []Mem
		for i := range pieces {
			from = append(from, Mem{Base: packed, Disp: 4*u/m.unit()*pieces*step + i*step + 4*u%m.unit()/4*m.pieceBytes()})
		}
		for v := range vectors {
			to = append(to, vector(v).Offset(64*u))
		}
		m.line(from, to, sums)
	}
	ADDQ(U32(64*unroll), panel)
	ADDQ(U32(64*unroll), ahead)
	if m.unit() > 4*unroll {
		ADDQ(U8(unroll*m.pieceBytes()), packed)
		DECQ(turns)
		JNZ(LabelRef("lines"))
		ADDQ(U32((pieces-1)*step), packed)
		SUBQ(U8(m.unit()), depth)
		JNZ(LabelRef("units"))
	} else {
		ADDQ(U32(unroll*pieces*m.pieceBytes()), packed)
		SUBQ(U8(4*unroll), depth)
		JNZ(LabelRef("lines"))
	}

	at, stride, table := vec.Argument("sums"), vec.Stride("stride"), vec.Argument("pieces")
	for i := range sums {
		to, count := GP64(), XMM()
		MOVL(Mem{Base: table, Disp: 8 * i}, to.As32())
		IMULQ(stride, to)
		ADDQ(at, to)
		VMOVD(Mem{Base: table, Disp: 8*i + 4}, count)
		for v, sum := range sums[i] {
			there := Mem{Base: to, Disp: v * m.bytes()}
			VPSLLD(count, sum, sum)
			VPADDD(there, sum, sum)
			if m.bytes() == 64 {
				VMOVDQU32(sum, there)
			} else {
				VMOVDQU(sum, there)
			}
		}
	}
	VZEROUPPER()
	RET()
}

// vnni multiplies bytes. Lines stay in registers for all pieces: if each product loaded an
// operand, the load ports would be the bottleneck.
type vnni struct{}

func (vnni) bytes() int      { return 64 }
func (vnni) pieceBytes() int { return 4 }
func (vnni) unit() int       { return 64 }

func (vnni) line(pieces, vectors []Mem, sums [][]reg.VecVirtual) {
	var lines []reg.VecVirtual
	for _, m := range vectors {
		line := ZMM()
		VMOVDQU32(m, line)
		lines = append(lines, line)
	}
	for i, m := range pieces {
		x := ZMM()
		VPBROADCASTD(m, x)
		for v, line := range lines {
			VPDPBUSD(line, x, sums[i][v])
		}
	}
}

// halves multiplies halves of words with the even and the odd bytes of the panel.
type halves struct{ wide int }

func (h halves) bytes() int    { return h.wide }
func (halves) pieceBytes() int { return 8 }
func (halves) unit() int       { return 4 }

func (h halves) line(pieces, vectors []Mem, sums [][]reg.VecVirtual) {
	var parts [2][]reg.VecVirtual // the even places, the odd ones
	for _, m := range vectors {
		even, odd := vec.Register(h.wide), vec.Register(h.wide)
		if h.wide == 64 {
			VMOVDQU32(m, odd)
		} else {
			VMOVDQU(m, odd)
		}
		VPSLLW(U8(8), odd, even)
		VPSRAW(U8(8), even, even)
		VPSRAW(U8(8), odd, odd)
		parts[0], parts[1] = append(parts[0], even), append(parts[1], odd)
	}
	for i, m := range pieces {
		for p, places := range parts {
			x := vec.Register(h.wide)
			VPBROADCASTD(m.Offset(4*p), x)
			for v, bytes := range places {
				product := vec.Register(h.wide)
				VPMADDWD(bytes, x, product)
				VPADDD(product, sums[i][v], sums[i][v])
			}
		}
	}
}
