// Command near writes the search for neighbours of a few points among many.
//
// Candidates are collected once for all points that share them. Neighbours are counted
// and found in float64, so the results are exactly those of plain Go. Candidates that
// are NaN, and so never near, fill up the last vector: there are no short vectors.
//
// Neighbours are written by moving the lanes that pass to the front of a vector and
// storing the whole vector: the next vector overwrites the rest.
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
	collect(l, t)
	for _, d := range []int{2, 3, 0} {
		for _, fill := range []bool{false, true} {
			generate(l, t, d, fill)
		}
	}
}

// tables hold the lane numbers and the tables that move lanes to the front.
type tables struct {
	iota, step Mem // 0, 1, 2, ... and the number of lanes everywhere
	front      vec.Front
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
	t.front = vec.NewFront(l, "near")
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

// collect writes the function that copies spans of points to candidates. It reads and
// writes whole vectors: the next span overwrites the excess.
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
		"It reads up to seven numbers after a span and writes as many after the last",
		"candidate.")
	at := vec.Argument("at")
	room := vec.Argument("room")
	ind := vec.Argument("ind")
	coords := vec.Argument("coords")
	stride := vec.Argument("stride")
	spans := vec.Argument("spans")
	nspans := vec.Argument("nspans")
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
		doc = append(doc, "Up to seven numbers after the last neighbour are overwritten.")
	}
	Doc(doc...)

	s := &search{l: l, t: t, d: d, fill: fill}
	s.coords = vec.Argument("coords")
	s.stride = vec.Stride("stride")
	s.at = vec.Argument("at")
	s.room = vec.Argument("room")
	SHLQ(U8(3), s.room)
	if fill {
		s.indices = vec.Argument("indices")
		s.ind = vec.Argument("ind")
		s.d2 = vec.Argument("d2")
	}
	s.r2, s.zero = l.Wide(), l.Wide()
	VBROADCASTSD(vec.Address("r2"), s.r2)
	l.Clear(s.zero)
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
		vec.Coordinate(from, v)
	}
	total, err := Return("total").Resolve()
	if err != nil {
		panic(err)
	}
	Store(s.found, Return("total")) // before this point
	overCandidates(l, "candidates", vec.Address("n"), s.vector)
	ADDQ(U8(4), s.coords)
	counts := vec.Argument("counts")
	count := GP64()
	MOVQ(s.found, count)
	SUBQ(total.Addr, count)
	MOVL(count.As32(), Mem{Base: counts})
	ADDQ(U8(4), counts)
	MOVQ(counts, vec.Address("counts"))
	DECQ(vec.Address("m"))
	JNZ(LabelRef("point"))
	Store(s.found, Return("total"))
	VZEROUPPER()
	RET()
}

// vector tests the candidates from at on.
func (s *search) vector(at reg.GPVirtual) {
	l := s.l
	sum := l.Wide()
	square := func(a int, point reg.VecVirtual, from Mem) {
		e := l.Wide()
		// The sign of the difference does not matter to its square.
		VSUBPD(from, point, e)
		vec.AddSquare(a, e, sum)
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
		l.Clear(sum)
		Label("axis")
		q := l.Wide()
		vec.Coordinate(from, q)
		square(1, q, Mem{Base: axis})
		ADDQ(s.stride, from)
		ADDQ(s.room, axis)
		DECQ(a)
		JNZ(LabelRef("axis"))
	}
	s.keep(at, sum)
}

// keep counts and stores the candidates that pass.
func (s *search) keep(at reg.GPVirtual, sum reg.VecVirtual) {
	bits, count := GP64(), GP64()
	pass := s.t.front.AtMost(sum, s.r2, s.zero, bits, count)
	if s.fill {
		ind, d2 := s.l.Half(), s.l.Wide()
		pass.Move(sum, d2, ind, func(ind reg.VecVirtual) {
			VMOVDQU(Mem{Base: s.indices, Index: at, Scale: 4}, ind)
		})
		VMOVDQU(ind, Mem{Base: s.ind, Index: s.found, Scale: 4})
		VMOVUPD(d2, Mem{Base: s.d2, Index: s.found, Scale: 8})
	}
	ADDQ(count, s.found)
}
