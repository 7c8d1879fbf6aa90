// Command near_blocks writes the search for the neighbours of one point in blocks of points.
//
// The boxes of the blocks are compared first, and the numbers of near ones are written to
// a list. Then the points of these blocks are compared. So there is no branch on whether a
// box or a point is near. All computation is in float64, so the results are exactly those
// of plain Go.
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
	t := newTables(l)
	for _, d := range []int{2, 3, 0} {
		generate(l, t, d)
	}
}

const blockPoints = 8

// tables hold the numbers of the points of a block and the tables that move lanes to the front.
type tables struct {
	iota  Mem
	front vec.Front
}

func newTables(l *vec.Level) (t tables) {
	t.iota = GLOBL("blockIota"+l.Suffix, RODATA|NOPTR)
	for i := range blockPoints {
		DATA(4*i, U32(i))
	}
	t.front = vec.NewFront(l, "block")
	return t
}

// A search holds the registers of one function.
type search struct {
	l *vec.Level
	t tables
	d int // 0: any

	point  []reg.VecVirtual // its coordinates, broadcast, where d is fixed
	stride reg.GPVirtual    // of coordinates, in bytes
	zero   reg.VecVirtual
	r2     reg.VecVirtual // broadcast
}

func generate(l *vec.Level, t tables, d int) {
	axes := ""
	if d > 0 {
		axes = fmt.Sprint(d)
	}
	name := "FindInBlocks" + axes + "F32" + l.Suffix
	TEXT(name, NOSPLIT, "func(ind *uint32, d2 *float64, boxes *float64, room uintptr, blocks, near *uint32, n uintptr, coords, point *float32, stride, d uintptr, r2 float64) (total uintptr)")
	Pragma("noescape")
	doc := []string{
		name + " finds the points of blocks within a distance of a point.", "",
		"\tfor b := range n {",
		"\t\tsum := 0.0",
		"\t\tfor a := range d {",
		"\t\t\te := max(boxes[a*room+b]-point[a*stride], point[a*stride]-boxes[(d+a)*room+b], 0)",
		"\t\t\tsum += e * e",
		"\t\t}",
		"\t\tif sum <= r2 {",
		"\t\t\tnear = append(near, blocks[b])",
		"\t\t}",
		"\t}",
		"\tfor _, b := range near {",
		"\t\tfor j := 8 * b; j < 8*b+8; j++ {",
		"\t\t\tsum := 0.0",
		"\t\t\tfor a := range d {",
		"\t\t\t\te := float64(point[a*stride]) - float64(coords[a*stride+j])",
		"\t\t\t\tsum += e * e",
		"\t\t\t}",
		"\t\t\tif sum <= r2 {",
		"\t\t\t\tind[total], d2[total] = j, sum",
		"\t\t\t\ttotal++",
		"\t\t\t}",
		"\t\t}",
		"\t}", "",
		"n is a positive multiple of eight. Up to seven numbers after the last of near, ind and",
		"d2 are overwritten.",
	}
	if d > 0 {
		doc = append(doc, fmt.Sprintf("It is for d = %d, whatever the argument says.", d))
	}
	Doc(doc...)
	s := &search{l: l, t: t, d: d, zero: l.Wide(), r2: l.Wide()}
	l.Clear(s.zero)
	VBROADCASTSD(vec.Address("r2"), s.r2)
	s.stride = vec.Stride("stride")
	from := vec.Argument("point")
	for a := range d {
		if a > 0 {
			ADDQ(s.stride, from)
		}
		s.point = append(s.point, l.Wide())
		vec.Coordinate(from, s.point[a])
	}
	s.boxes()
	s.points()
	VZEROUPPER()
	RET()
}

// eachAxis writes body for each axis of the point, in a loop where d is not fixed. Before
// the next axis the loop calls next.
func (s *search) eachAxis(name string, sum reg.VecVirtual, body func(a int, point reg.VecVirtual), next func()) {
	if s.d > 0 {
		for a, point := range s.point {
			body(a, point)
			if a < s.d-1 {
				next()
			}
		}
		return
	}
	s.l.Clear(sum)
	axes, from, point := GP64(), GP64(), s.l.Wide()
	Load(Param("d"), axes)
	Load(Param("point"), from)
	Label(name)
	vec.Coordinate(from, point)
	body(1, point)
	next()
	ADDQ(s.stride, from)
	DECQ(axes)
	JNZ(LabelRef(name))
}

// boxes lists the blocks whose boxes are near.
func (s *search) boxes() {
	l := s.l
	room := vec.Argument("room")
	SHLQ(U8(3), room)
	least := vec.Argument("boxes")
	largest := GP64()
	if s.d > 0 {
		MOVQ(U32(s.d), largest)
	} else {
		Load(Param("d"), largest)
	}
	IMULQ(room, largest)
	ADDQ(least, largest)
	blocks := vec.Argument("blocks")
	near := vec.Argument("near")
	at, low, high := GP64(), GP64(), GP64()
	XORQ(at, at)
	Label("boxes")
	LEAQ(Mem{Base: least, Index: at, Scale: 8}, low)
	LEAQ(Mem{Base: largest, Index: at, Scale: 8}, high)
	sum := l.Wide()
	s.eachAxis("sides", sum, func(a int, point reg.VecVirtual) {
		e, f := l.Wide(), l.Wide()
		VMOVUPD(Mem{Base: low}, e)
		VSUBPD(point, e, e)
		VSUBPD(Mem{Base: high}, point, f)
		VMAXPD(f, e, e)
		VMAXPD(e, s.zero, e) // NaN where e is
		vec.AddSquare(a, e, sum)
	}, func() {
		ADDQ(room, low)
		ADDQ(room, high)
	})
	ind := l.Half()
	VMOVDQU(Mem{Base: blocks, Index: at, Scale: 4}, ind)
	count := s.keep(sum, ind)
	VMOVDQU(ind, Mem{Base: near})
	LEAQ(Mem{Base: near, Index: count, Scale: 4}, near)
	ADDQ(U8(l.Lanes), at)
	CMPQ(at, vec.Address("n"))
	JLT(LabelRef("boxes"))
	MOVQ(near, vec.Address("n")) // the end of those that are near
}

// points writes the points that are near, from the listed blocks.
func (s *search) points() {
	l := s.l
	near := vec.Argument("near")
	coords := vec.Argument("coords")
	ind := vec.Argument("ind")
	d2 := vec.Argument("d2")
	total := GP64()
	XORQ(total, total)
	Label("blocks")
	CMPQ(near, vec.Address("n"))
	JGE(LabelRef("done"))
	first, from := GP64(), GP64()
	MOVL(Mem{Base: near}, first.As32())
	ADDQ(U8(4), near)
	SHLQ(U8(3), first)
	for lane := 0; lane < blockPoints; lane += l.Lanes {
		LEAQ(Mem{Base: coords, Index: first, Scale: 4, Disp: 4 * lane}, from)
		sum := l.Wide()
		s.eachAxis(fmt.Sprintf("axis%d", lane), sum, func(a int, point reg.VecVirtual) {
			e := l.Wide()
			VCVTPS2PD(Mem{Base: from}, e)
			VSUBPD(e, point, e)
			vec.AddSquare(a, e, sum)
		}, func() { ADDQ(s.stride, from) })
		x, j := XMM(), l.Half()
		VMOVD(first.As32(), x)
		VPBROADCASTD(x, j)
		VPADDD(s.t.iota.Offset(4*lane), j, j)
		count := s.keep(sum, j)
		VMOVDQU(j, Mem{Base: ind, Index: total, Scale: 4})
		VMOVUPD(sum, Mem{Base: d2, Index: total, Scale: 8})
		ADDQ(count, total)
	}
	JMP(LabelRef("blocks"))
	Label("done")
	Store(total, Return("total"))
}

// keep moves the lanes whose sum is at most r2 to the front, and counts them.
func (s *search) keep(sum, ind reg.VecVirtual) reg.GPVirtual {
	count, bits := GP64(), GP64()
	s.t.front.AtMost(sum, s.r2, nil, bits, count).Move(sum, sum, ind, func(reg.VecVirtual) {})
	return count
}
