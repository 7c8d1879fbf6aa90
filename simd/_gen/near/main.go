// Command near writes the search for neighbours of a few points among many.
//
// Candidates are collected once for all points that share them. Neighbours are counted
// and found in float64, so the decision is that of plain Go to the last bit. The number
// of candidates is rounded up with such that are NaN and so never near: there are no
// short vectors.
//
// Neighbours are written by moving the lanes that pass to the front of a vector
// and storing it whole: what lies behind them is overwritten by the next vector.
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
	collect(l, t)
	for _, d := range []int{2, 3, 0} {
		for _, fill := range []bool{false, true} {
			generate(l, t, d, fill)
		}
	}
	Generate()
}

// tables hold the lane numbers and, for AVX2, what moves lanes to the front: for
// each mask of four lanes the order of the 32-bit halves of float64 lanes, and of
// the bytes of 32-bit lanes.
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

// overCandidates writes a loop over the candidates from 0 to n-1, n a multiple of eight,
// one vector at a time.
func overCandidates(l *vec.Level, name string, n Op, body func(at reg.GPVirtual)) {
	at := GP64()
	XORQ(at, at)
	Label(name)
	body(at)
	ADDQ(U8(l.Lanes), at)
	CMPQ(at, n)
	JLT(LabelRef(name))
}

// collect writes the copy of spans of points to candidates. Whole vectors are
// read and written: what is too much is overwritten by the next span.
func collect(l *vec.Level, t tables) {
	name := "CollectF32" + l.Suffix
	TEXT(name, NOSPLIT, "func(at *float64, room uintptr, ind *uint32, coords *float32, stride, d uintptr, spans *uint32, nspans uintptr) (n uintptr)")
	Pragma("noescape")
	Doc(name+" copies the points of some spans.", "",
		"\tfor s := range nspans {",
		"\t\tfor j := spans[2*s]; j < spans[2*s+1]; j++ {",
		"\t\t\tfor a := range d {",
		"\t\t\t\tat[a*room+n] = float64(coords[a*stride+j])",
		"\t\t\t}",
		"\t\t\tind[n] = j",
		"\t\t\tn++",
		"\t\t}",
		"\t}", "",
		"It reads up to seven numbers behind a span and writes as many behind the last",
		"candidate.")
	at := Load(Param("at"), GP64()).(reg.GPVirtual)
	room := Load(Param("room"), GP64()).(reg.GPVirtual)
	ind := Load(Param("ind"), GP64()).(reg.GPVirtual)
	coords := Load(Param("coords"), GP64()).(reg.GPVirtual)
	stride := Load(Param("stride"), GP64()).(reg.GPVirtual)
	spans := Load(Param("spans"), GP64()).(reg.GPVirtual)
	nspans := Load(Param("nspans"), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), room)
	SHLQ(U8(2), stride)
	n, j, end, put := GP64(), GP64(), GP64(), GP64()
	XORQ(n, n)
	index := l.Half()
	Label("span")
	DECQ(nspans)
	JL(LabelRef("done"))
	MOVL(Mem{Base: spans}, j.As32())
	MOVL(Mem{Base: spans, Disp: 4}, end.As32())
	ADDQ(U8(8), spans)
	CMPQ(j, end)
	JGE(LabelRef("span"))
	first := XMM()
	VMOVD(j.As32(), first)
	VPBROADCASTD(first, index)
	VPADDD(t.iota, index, index)
	MOVQ(n, put)
	ADDQ(end, n)
	SUBQ(j, n)
	Label("points")
	VMOVDQU(index, Mem{Base: ind, Index: put, Scale: 4})
	VPADDD(t.step, index, index)
	from, to, axes := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: coords, Index: j, Scale: 4}, from)
	LEAQ(Mem{Base: at, Index: put, Scale: 8}, to)
	Load(Param("d"), axes)
	Label("axis")
	v := l.Wide()
	VCVTPS2PD(Mem{Base: from}, v)
	VMOVUPD(v, Mem{Base: to})
	ADDQ(stride, from)
	ADDQ(room, to)
	DECQ(axes)
	JNZ(LabelRef("axis"))
	ADDQ(U8(l.Lanes), put)
	ADDQ(U8(l.Lanes), j)
	CMPQ(j, end)
	JLT(LabelRef("points"))
	JMP(LabelRef("span"))
	Label("done")
	Store(n, Return("n"))
	VZEROUPPER()
	RET()
}

// A search holds the registers of one function.
type search struct {
	l    *vec.Level
	t    tables
	d    int // 0: any
	fill bool

	at, room reg.GPVirtual   // candidates
	axes     []reg.GPVirtual // their coordinates along each where d is fixed
	coords   reg.GPVirtual   // of the point at hand
	stride   reg.GPVirtual
	indices  reg.GPVirtual
	ind, d2  reg.GPVirtual
	found    reg.GPVirtual
	r2, zero reg.VecVirtual   // broadcast
	point    []reg.VecVirtual // broadcast coordinates where d is fixed
}

func generate(l *vec.Level, t tables, d int, fill bool) {
	name, what := "CountNear", "counts"
	if fill {
		name, what = "FindNear", "finds"
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
	TEXT(name, NOSPLIT, "func("+output+"counts *uint32, m uintptr, at *float64, room uintptr, indices *uint32, n uintptr, coords *float32, stride, d uintptr, r2 float64) (total uintptr)")
	Pragma("noescape")
	doc := []string{name + " " + what + " the candidates within a distance of m points.", ""}
	doc = append(doc,
		"\tfor i := range m {",
		"\t\tbefore := total",
		"\t\tfor c := range n {",
		"\t\t\tsum := 0.0",
		"\t\t\tfor a := range d {",
		"\t\t\t\te := float64(coords[a*stride+i]) - at[a*room+c]",
		"\t\t\t\tsum += e * e",
		"\t\t\t}",
		"\t\t\tif sum <= r2 && sum != 0 {")
	if fill {
		doc = append(doc, "\t\t\t\tind[total], d2[total] = indices[c], sum")
	}
	doc = append(doc, "\t\t\t\ttotal++", "\t\t\t}", "\t\t}", "\t\tcounts[i] = uint32(total - before)", "\t}", "", "n is a positive multiple of eight.")
	if d > 0 {
		doc = append(doc, fmt.Sprintf("It is for d = %d, whatever the argument says.", d))
	}
	if fill {
		doc = append(doc, "Up to seven numbers behind the last neighbour are overwritten.")
	}
	Doc(doc...)

	s := &search{l: l, t: t, d: d, fill: fill}
	s.coords = Load(Param("coords"), GP64()).(reg.GPVirtual)
	s.stride = Load(Param("stride"), GP64()).(reg.GPVirtual)
	SHLQ(U8(2), s.stride)
	s.at = Load(Param("at"), GP64()).(reg.GPVirtual)
	s.room = Load(Param("room"), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), s.room)
	if fill {
		s.indices = Load(Param("indices"), GP64()).(reg.GPVirtual)
		s.ind = Load(Param("ind"), GP64()).(reg.GPVirtual)
		s.d2 = Load(Param("d2"), GP64()).(reg.GPVirtual)
	}
	s.r2, s.zero = l.Wide(), l.Wide()
	VBROADCASTSD(address("r2"), s.r2)
	if l.Lanes == 8 {
		VPXORQ(s.zero, s.zero, s.zero)
	} else {
		VXORPD(s.zero, s.zero, s.zero)
	}
	for a := range d {
		axis := s.at
		if a > 0 {
			axis = GP64()
			LEAQ(Mem{Base: s.axes[a-1], Index: s.room, Scale: 1}, axis)
		}
		s.axes, s.point = append(s.axes, axis), append(s.point, l.Wide())
	}
	s.found = GP64()
	XORQ(s.found, s.found)

	Label("point")
	from := GP64()
	MOVQ(s.coords, from)
	for a, v := range s.point {
		if a > 0 {
			ADDQ(s.stride, from)
		}
		x := XMM()
		VXORPS(x, x, x) // the conversion keeps the upper half
		VCVTSS2SD(Mem{Base: from}, x, x)
		VBROADCASTSD(x, v)
	}
	total, err := Return("total").Resolve()
	if err != nil {
		panic(err)
	}
	Store(s.found, Return("total")) // before this point
	overCandidates(l, "candidates", address("n"), s.vector)
	ADDQ(U8(4), s.coords)
	counts := Load(Param("counts"), GP64()).(reg.GPVirtual)
	count := GP64()
	MOVQ(s.found, count)
	SUBQ(total.Addr, count)
	MOVL(count.As32(), Mem{Base: counts})
	ADDQ(U8(4), counts)
	MOVQ(counts, address("counts"))
	DECQ(address("m"))
	JNZ(LabelRef("point"))
	Store(s.found, Return("total"))
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

// vector tests the candidates from at on.
func (s *search) vector(at reg.GPVirtual) {
	l := s.l
	sum := l.Wide()
	square := func(a int, point reg.VecVirtual, from Mem) {
		e := l.Wide()
		// The sign of the difference does not matter to its square.
		VSUBPD(from, point, e)
		if a == 0 {
			VMULPD(e, e, sum)
			return
		}
		VMULPD(e, e, e)
		VADDPD(e, sum, sum)
	}
	if s.d > 0 {
		for a, point := range s.point {
			square(a, point, Mem{Base: s.axes[a], Index: at, Scale: 8})
		}
	} else {
		a, from, axis := GP64(), GP64(), GP64()
		Load(Param("d"), a)
		LEAQ(Mem{Base: s.at, Index: at, Scale: 8}, axis)
		MOVQ(s.coords, from)
		if l.Lanes == 8 {
			VPXORQ(sum, sum, sum)
		} else {
			VXORPD(sum, sum, sum)
		}
		Label("axis")
		x, q := XMM(), l.Wide()
		VXORPS(x, x, x)
		VCVTSS2SD(Mem{Base: from}, x, x)
		VBROADCASTSD(x, q)
		square(1, q, Mem{Base: axis})
		ADDQ(s.stride, from)
		ADDQ(s.room, axis)
		DECQ(a)
		JNZ(LabelRef("axis"))
	}
	if l.Lanes == 8 {
		s.keep512(at, sum)
	} else {
		s.keep256(at, sum)
	}
}

const (
	lessOrEqual = 0x12 // false for NaN, quiet
	notEqual    = 0x0c // false for NaN, quiet
)

// keep512 counts and stores the candidates that pass.
func (s *search) keep512(at reg.GPVirtual, sum reg.VecVirtual) {
	near, pass := K(), K()
	VCMPPD(U8(lessOrEqual), s.r2, sum, near)
	VCMPPD(U8(notEqual), s.zero, sum, near, pass)
	count := GP64()
	KMOVB(pass, count.As32())
	POPCNTL(count.As32(), count.As32())
	if s.fill {
		ind, d2 := YMM(), ZMM()
		VMOVDQU(Mem{Base: s.indices, Index: at, Scale: 4}, ind)
		VPCOMPRESSD_Z(ind, pass, ind)
		VCOMPRESSPD_Z(sum, pass, d2)
		VMOVDQU(ind, Mem{Base: s.ind, Index: s.found, Scale: 4})
		VMOVUPD(d2, Mem{Base: s.d2, Index: s.found, Scale: 8})
	}
	ADDQ(count, s.found)
}

func (s *search) keep256(at reg.GPVirtual, sum reg.VecVirtual) {
	near, other := YMM(), YMM()
	pass := GP64()
	VCMPPD(U8(lessOrEqual), s.r2, sum, near)
	VCMPPD(U8(notEqual), s.zero, sum, other)
	VANDPD(near, other, near)
	VMOVMSKPD(near, pass.As32())
	count := GP64()
	POPCNTL(pass.As32(), count.As32())
	if s.fill {
		order, ind, d2 := YMM(), XMM(), YMM()
		SHLL(U8(4), pass.As32())
		table := GP64()
		LEAQ(s.t.wide, table)
		VMOVDQU(Mem{Base: table, Index: pass, Scale: 2}, order)
		VPERMD(sum, order, d2)
		VMOVDQU(Mem{Base: s.indices, Index: at, Scale: 4}, ind)
		LEAQ(s.t.single, table)
		VPSHUFB(Mem{Base: table, Index: pass, Scale: 1}, ind, ind)
		VMOVDQU(ind, Mem{Base: s.ind, Index: s.found, Scale: 4})
		VMOVUPD(d2, Mem{Base: s.d2, Index: s.found, Scale: 8})
	}
	ADDQ(count, s.found)
}
