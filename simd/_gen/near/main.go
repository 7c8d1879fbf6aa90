// Command near writes the search of a point's neighbours among runs of points.
//
// Coordinates are float32 in one array for each axis, and are converted to
// float64 before anything is computed, so the decision is that of plain Go to
// the last bit: float32 arithmetic would test twice as many candidates at a
// time, but every pair near the radius would have to be tested again.
//
// Neighbours are written by moving the lanes that pass to the front of a vector
// and storing it whole: what lies behind them is overwritten by the next
// vector. Only the last vector of a run is stored in part.
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
		for _, fill := range []bool{false, true} {
			generate(l, t, d, fill)
		}
	}
	Generate()
}

// tables move lanes to the front on AVX2: for each mask of four lanes the order
// of the 32-bit halves of float64 lanes, and of the bytes of 32-bit lanes.
type tables struct {
	wide, single Mem
	iota, step   Mem // 0, 1, 2, ... and the number of lanes everywhere
}

func newTables(l *vec.Level) (t tables) {
	t.iota = GLOBL("nearIota"+l.Suffix, RODATA|NOPTR)
	for i := range l.Lanes {
		DATA(4*i, U32(i))
	}
	t.step = GLOBL("nearStep"+l.Suffix, RODATA|NOPTR)
	for i := range l.Lanes {
		DATA(4*i, U32(l.Lanes))
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
	t.wide = GLOBL("nearWide"+l.Suffix, RODATA|NOPTR)
	for mask, order := range orders {
		for i, lane := range order {
			DATA(32*mask+8*i, U32(2*lane))
			DATA(32*mask+8*i+4, U32(2*lane+1))
		}
	}
	t.single = GLOBL("nearSingle"+l.Suffix, RODATA|NOPTR)
	for mask, order := range orders {
		for i, lane := range order {
			DATA(16*mask+4*i, U32(0x03020100+0x04040404*lane))
		}
	}
	return t
}

// A search holds the registers of one function.
type search struct {
	l    *vec.Level
	t    tables
	d    int // 0: any
	fill bool

	coords, stride, q, axes reg.GPVirtual
	ind, d2, found          reg.GPVirtual
	at                      reg.GPVirtual    // candidate
	index                   reg.VecVirtual   // numbers of the candidates at hand
	self, r2                reg.VecVirtual   // broadcast
	point                   []reg.VecVirtual // broadcast coordinates where d is fixed
	wide, single            reg.GPVirtual    // addresses of the tables on AVX2
}

func generate(l *vec.Level, t tables, d int, fill bool) {
	name, what := "nearCount", "counts"
	if fill {
		name, what = "near", "finds"
	}
	axes := ""
	if d > 0 {
		axes = fmt.Sprint(d)
	}
	name += axes + "F32" + l.Suffix
	output := ""
	if fill {
		output = "ind *uint32, d2 *float64, "
	}
	TEXT(name, NOSPLIT, "func("+output+"q *float64, d uintptr, coords *float32, stride uintptr, spans *uint32, nspans uintptr, self uint32, r2 float64) (n uintptr)")
	Pragma("noescape")
	doc := []string{name + " " + what + " the points of some spans within a distance of q.", ""}
	doc = append(doc,
		"\tfor s := range nspans {",
		"\t\tfor j := spans[2*s]; j < spans[2*s+1]; j++ {",
		"\t\t\tsum := 0.0",
		"\t\t\tfor a := range d {",
		"\t\t\t\te := q[a] - float64(coords[a*stride+j])",
		"\t\t\t\tsum += e * e",
		"\t\t\t}",
		"\t\t\tif sum <= r2 && j != self {")
	if fill {
		doc = append(doc, "\t\t\t\tind[n], d2[n] = j, sum")
	}
	doc = append(doc, "\t\t\t\tn++", "\t\t\t}", "\t\t}", "\t}")
	if d > 0 {
		doc = append(doc, "", fmt.Sprintf("It is for d = %d, whatever the argument says.", d))
	}
	if fill {
		doc = append(doc, "", "ind and d2 have room for every point of the spans.")
	}
	Doc(doc...)

	s := &search{l: l, t: t, d: d, fill: fill}
	s.coords = Load(Param("coords"), GP64()).(reg.GPVirtual)
	s.stride = Load(Param("stride"), GP64()).(reg.GPVirtual)
	SHLQ(U8(2), s.stride)
	s.q = Load(Param("q"), GP64()).(reg.GPVirtual)
	if fill {
		s.ind = Load(Param("ind"), GP64()).(reg.GPVirtual)
		s.d2 = Load(Param("d2"), GP64()).(reg.GPVirtual)
		if l.Lanes == 4 {
			s.wide, s.single = GP64(), GP64()
			LEAQ(t.wide, s.wide)
			LEAQ(t.single, s.single)
		}
	}
	s.found, s.at = GP64(), GP64()
	XORQ(s.found, s.found)
	s.r2 = l.Wide()
	VBROADCASTSD(address("r2"), s.r2)
	s.self = l.Half()
	self := XMM()
	VMOVD(Load(Param("self"), GP32()), self)
	VPBROADCASTD(self, s.self)
	for a := range d {
		v := l.Wide()
		VBROADCASTSD(Mem{Base: s.q, Disp: 8 * a}, v)
		s.point = append(s.point, v)
	}
	s.index = l.Half()
	spans := Load(Param("spans"), GP64()).(reg.GPVirtual)
	nspans := Load(Param("nspans"), GP64()).(reg.GPVirtual)
	left, first := GP64(), l.Half()

	Label("span")
	DECQ(nspans)
	JL(LabelRef("done"))
	MOVL(Mem{Base: spans}, s.at.As32())
	MOVL(Mem{Base: spans, Disp: 4}, left.As32())
	ADDQ(U8(8), spans)
	SUBQ(s.at, left)
	JLE(LabelRef("span"))
	from := XMM()
	VMOVD(s.at.As32(), from)
	VPBROADCASTD(from, first)
	VPADDD(t.iota, first, s.index)
	SUBQ(U8(l.Lanes), left)
	JL(LabelRef("tail"))
	Label("loop")
	s.vector(nil)
	ADDQ(U8(l.Lanes), s.at)
	VPADDD(t.step, s.index, s.index)
	SUBQ(U8(l.Lanes), left)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(l.Lanes), left)
	JZ(LabelRef("span"))
	tail := l.Tail("near", left)
	s.vector(&tail)
	JMP(LabelRef("span"))

	Label("done")
	Store(s.found, Return("n"))
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

// vector tests the candidates from at on, up to the tail if there is one.
func (s *search) vector(tail *vec.Tail) {
	l := s.l
	sum := l.Wide()
	square := func(a int, point Op, from Mem) {
		e, half := l.Wide(), l.Half()
		if tail == nil {
			VCVTPS2PD(from, e)
		} else {
			tail.LoadSingle(from, half)
			VCVTPS2PD(half, e)
		}
		// The sign of the difference does not matter to its square.
		VSUBPD(point, e, e)
		if a == 0 {
			VMULPD(e, e, sum)
			return
		}
		VMULPD(e, e, e)
		VADDPD(e, sum, sum)
	}
	axis := GP64()
	if s.d > 0 {
		for a, point := range s.point {
			switch a {
			case 0:
				square(a, point, Mem{Base: s.coords, Index: s.at, Scale: 4})
			case 1:
				LEAQ(Mem{Base: s.coords, Index: s.stride, Scale: 1}, axis)
				square(a, point, Mem{Base: axis, Index: s.at, Scale: 4})
			default:
				ADDQ(s.stride, axis)
				square(a, point, Mem{Base: axis, Index: s.at, Scale: 4})
			}
		}
	} else {
		label := "axis"
		if tail != nil {
			label = "tailAxis"
		}
		a, point := Load(Param("d"), GP64()).(reg.GPVirtual), GP64()
		MOVQ(s.coords, axis)
		MOVQ(s.q, point)
		if l.Lanes == 8 {
			VPXORQ(sum, sum, sum)
		} else {
			VXORPD(sum, sum, sum)
		}
		Label(label)
		q := l.Wide()
		VBROADCASTSD(Mem{Base: point}, q)
		square(1, q, Mem{Base: axis, Index: s.at, Scale: 4})
		ADDQ(s.stride, axis)
		ADDQ(U8(8), point)
		DECQ(a)
		JNZ(LabelRef(label))
	}
	if l.Lanes == 8 {
		s.keep512(sum, tail)
	} else {
		s.keep256(sum, tail)
	}
}

const (
	lessOrEqual = 0x12 // of floating point numbers, false for NaN, quiet
	notEqual    = 4    // of integers
)

// keep512 counts and stores the candidates that pass.
func (s *search) keep512(sum reg.VecVirtual, tail *vec.Tail) {
	near, pass := K(), K()
	if tail == nil {
		VCMPPD(U8(lessOrEqual), s.r2, sum, near)
	} else {
		VCMPPD(U8(lessOrEqual), s.r2, sum, tail.Mask(), near)
	}
	VPCMPUD(U8(notEqual), s.self, s.index, near, pass)
	count := GP64()
	KMOVB(pass, count.As32())
	POPCNTL(count.As32(), count.As32())
	if s.fill {
		ind, d2 := s.l.Half(), s.l.Wide()
		VPCOMPRESSD_Z(s.index, pass, ind)
		VCOMPRESSPD_Z(sum, pass, d2)
		s.store(ind, d2, count, tail)
	}
	ADDQ(count, s.found)
}

func (s *search) keep256(sum reg.VecVirtual, tail *vec.Tail) {
	near, same := YMM(), XMM()
	pass, itself := GP64(), GP32()
	VCMPPD(U8(lessOrEqual), s.r2, sum, near)
	VPCMPEQD(s.self, s.index, same)
	VMOVMSKPD(near, pass.As32())
	VMOVMSKPS(same, itself)
	ANDNL(pass.As32(), itself, pass.As32())
	if tail != nil {
		valid := GP32()
		VMOVMSKPS(tail.Single(), valid)
		ANDL(valid, pass.As32())
	}
	count := GP64()
	POPCNTL(pass.As32(), count.As32())
	if s.fill {
		order, ind, d2 := YMM(), XMM(), YMM()
		SHLL(U8(4), pass.As32())
		VMOVDQU(Mem{Base: s.wide, Index: pass, Scale: 2}, order)
		VPERMD(sum, order, d2)
		VPSHUFB(Mem{Base: s.single, Index: pass, Scale: 1}, s.index, ind)
		s.store(ind, d2, count, tail)
	}
	ADDQ(count, s.found)
}

// store writes the first lanes behind what was found before.
func (s *search) store(ind, d2 reg.VecVirtual, count reg.GPVirtual, tail *vec.Tail) {
	toInd, toD2 := Mem{Base: s.ind, Index: s.found, Scale: 4}, Mem{Base: s.d2, Index: s.found, Scale: 8}
	if tail == nil {
		VMOVUPS(ind, toInd)
		VMOVUPD(d2, toD2)
		return
	}
	part := s.l.Tail("near", count)
	part.StoreSingle(ind, toInd)
	part.StoreWide(d2, toD2)
}
