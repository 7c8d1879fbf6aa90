// Command near_blocks writes the search for the neighbours of one point in blocks of points.
//
// The boxes of the blocks are compared first, and the numbers of those that are near are
// written down; then the points of these blocks are compared. So there is no branch on
// whether a box or a point is near. All is in float64, so the decision is that of plain Go
// to the last bit.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/simd/_gen/vec"
)

var level = flag.String("level", "avx2", "avx2 or avx512")

func main() {
	flag.Parse()
	ConstraintExpr("gc,!noasm,!purego")
	l := vec.Named(*level)
	t := newTables(l)
	for _, d := range []int{2, 3, 0} {
		generate(l, t, d)
	}
	Generate()
}

const blockPoints = 8

// tables hold the numbers of the points of a block and, for AVX2, what moves lanes to the
// front: for each mask of four lanes the order of the 32-bit halves of float64 lanes, and of
// the bytes of 32-bit lanes.
type tables struct {
	iota, wide, single Mem
}

func newTables(l *vec.Level) (t tables) {
	t.iota = GLOBL("blockIota"+l.Suffix, RODATA|NOPTR)
	for i := range blockPoints {
		DATA(4*i, U32(i))
	}
	if l.Lanes == 8 {
		return t
	}
	orders := make([][4]int, 16)
	for mask := range orders {
		n := 0
		for lane := range 4 {
			if mask>>lane&1 != 0 {
				orders[mask][n] = lane
				n++
			}
		}
	}
	t.wide = GLOBL("blockWide"+l.Suffix, RODATA|NOPTR)
	for mask, order := range orders {
		for i, lane := range order {
			DATA(32*mask+8*i, U32(2*lane))
			DATA(32*mask+8*i+4, U32(2*lane+1))
		}
	}
	t.single = GLOBL("blockSingle"+l.Suffix, RODATA|NOPTR)
	for mask, order := range orders {
		for i, lane := range order {
			DATA(16*mask+4*i, U32(0x03020100+0x04040404*lane))
		}
	}
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
		"n is a positive multiple of eight. Up to seven numbers behind the last of near, ind and",
		"d2 are overwritten.",
	}
	if d > 0 {
		doc = append(doc, fmt.Sprintf("It is for d = %d, whatever the argument says.", d))
	}
	Doc(doc...)
	s := &search{l: l, t: t, d: d, zero: l.Wide(), r2: l.Wide()}
	s.clear(s.zero)
	VBROADCASTSD(address("r2"), s.r2)
	s.stride = Load(Param("stride"), GP64()).(reg.GPVirtual)
	SHLQ(U8(2), s.stride)
	from := Load(Param("point"), GP64()).(reg.GPVirtual)
	for a := range d {
		if a > 0 {
			ADDQ(s.stride, from)
		}
		s.point = append(s.point, l.Wide())
		s.broadcast(from, s.point[a])
	}
	s.boxes()
	s.points()
	VZEROUPPER()
	RET()
}

func address(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// clear makes a vector of zeros.
func (s *search) clear(v reg.VecVirtual) {
	if s.l.Lanes == 8 {
		VPXORQ(v, v, v)
	} else {
		VXORPD(v, v, v)
	}
}

// broadcast makes a vector of a coordinate.
func (s *search) broadcast(from reg.GPVirtual, v reg.VecVirtual) {
	x := XMM()
	VXORPS(x, x, x) // the conversion keeps the upper half
	VCVTSS2SD(Mem{Base: from}, x, x)
	VBROADCASTSD(x, v)
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
	s.clear(sum)
	axes, from, point := GP64(), GP64(), s.l.Wide()
	Load(Param("d"), axes)
	Load(Param("point"), from)
	Label(name)
	s.broadcast(from, point)
	body(1, point)
	next()
	ADDQ(s.stride, from)
	DECQ(axes)
	JNZ(LabelRef(name))
}

// add adds the square of e to the sum, or sets the sum to it on the first axis.
func add(a int, e, sum reg.VecVirtual) {
	if a == 0 {
		VMULPD(e, e, sum)
		return
	}
	VMULPD(e, e, e)
	VADDPD(e, sum, sum)
}

// boxes writes down the blocks whose boxes are near.
func (s *search) boxes() {
	l := s.l
	room := Load(Param("room"), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), room)
	least := Load(Param("boxes"), GP64()).(reg.GPVirtual)
	largest := GP64()
	if s.d > 0 {
		MOVQ(U32(s.d), largest)
	} else {
		Load(Param("d"), largest)
	}
	IMULQ(room, largest)
	ADDQ(least, largest)
	blocks := Load(Param("blocks"), GP64()).(reg.GPVirtual)
	near := Load(Param("near"), GP64()).(reg.GPVirtual)
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
		add(a, e, sum)
	}, func() {
		ADDQ(room, low)
		ADDQ(room, high)
	})
	ind := l.Half()
	VMOVDQU(Mem{Base: blocks, Index: at, Scale: 4}, ind)
	count := s.keep(sum, ind, func(ind, _ reg.VecVirtual) { VMOVDQU(ind, Mem{Base: near}) })
	LEAQ(Mem{Base: near, Index: count, Scale: 4}, near)
	ADDQ(U8(l.Lanes), at)
	CMPQ(at, address("n"))
	JLT(LabelRef("boxes"))
	MOVQ(near, address("n")) // the end of those that are near
}

// points writes down the points of the blocks that are near.
func (s *search) points() {
	l := s.l
	near := Load(Param("near"), GP64()).(reg.GPVirtual)
	coords := Load(Param("coords"), GP64()).(reg.GPVirtual)
	ind := Load(Param("ind"), GP64()).(reg.GPVirtual)
	d2 := Load(Param("d2"), GP64()).(reg.GPVirtual)
	total := GP64()
	XORQ(total, total)
	Label("blocks")
	CMPQ(near, address("n"))
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
			add(a, e, sum)
		}, func() { ADDQ(s.stride, from) })
		x, j := XMM(), l.Half()
		VMOVD(first.As32(), x)
		VPBROADCASTD(x, j)
		VPADDD(s.t.iota.Offset(4*lane), j, j)
		count := s.keep(sum, j, func(j, sum reg.VecVirtual) {
			VMOVDQU(j, Mem{Base: ind, Index: total, Scale: 4})
			VMOVUPD(sum, Mem{Base: d2, Index: total, Scale: 8})
		})
		ADDQ(count, total)
	}
	JMP(LabelRef("blocks"))
	Label("done")
	Store(total, Return("total"))
}

const lessOrEqual = 0x12 // false for NaN, quiet

// keep stores the lanes whose sum is at most r2, moved to the front, and counts them.
func (s *search) keep(sum, ind reg.VecVirtual, store func(ind, sum reg.VecVirtual)) reg.GPVirtual {
	count := GP64()
	if s.l.Lanes == 8 {
		pass := K()
		VCMPPD(U8(lessOrEqual), s.r2, sum, pass)
		KMOVB(pass, count.As32())
		POPCNTL(count.As32(), count.As32())
		VPCOMPRESSD_Z(ind, pass, ind)
		VCOMPRESSPD_Z(sum, pass, sum)
		store(ind, sum)
		return count
	}
	near, pass, table, order := YMM(), GP64(), GP64(), YMM()
	VCMPPD(U8(lessOrEqual), s.r2, sum, near)
	VMOVMSKPD(near, pass.As32())
	POPCNTL(pass.As32(), count.As32())
	SHLL(U8(4), pass.As32())
	LEAQ(s.t.wide, table)
	VMOVDQU(Mem{Base: table, Index: pass, Scale: 2}, order)
	VPERMD(sum, order, sum)
	LEAQ(s.t.single, table)
	VPSHUFB(Mem{Base: table, Index: pass, Scale: 1}, ind, ind)
	store(ind, sum)
	return count
}
