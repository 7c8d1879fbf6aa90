// Command finish_step writes the end of a step: it turns rows of W x into rows of the
// next iterate, and adds up the sums that a run of steps needs.
//
// Arithmetic is float64. Eight lanes make a group, one vector of AVX-512 or two of
// AVX2: eight columns of a row, or, with 1 or 2 columns, several rows. Products and
// sums are fused: arithmetic is the bottleneck, and with a quarter fewer operations 32
// columns take a quarter less time. Two vectors at a time, or the divisions of eight
// rows at once, gain nothing. Finishing a row as soon as its product is there gains
// nothing either: the two times add up.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

// Offsets in finishArgs and StepSums.
const (
	dst = 8 * iota
	x
	wx
	degrees
	slots
	mean
	weight
	extra
	target
	class
	sums
	dstStride
	stride
	columns
	rows
	pull

	objective, change, spread, maxAbs = 0, 64, 128, 192
)

type finish struct {
	l    *vec.Level
	args reg.GPVirtual

	// AVX-512 keeps its sums in registers, AVX2 has too few.
	objective, change, spread, maxAbs, sign reg.VecVirtual
	pull                                    reg.VecVirtual
	abs, half                               Mem
	lane                                    [4]reg.OpmaskVirtual // AVX-512 without gathers: lanes 1 to 3
}

// lanes says where the numbers of a vector are.
type lanes struct {
	half                 int // which of the group, for AVX2
	x, wx, dst           Mem
	mean, target         Op // memory, or a vector
	degree, weight, step reg.VecVirtual
	tail                 *vec.Tail // of a short vector
}

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	l := vec.Named(level)
	abs := GLOBL("finishAbs"+l.Suffix, RODATA|NOPTR)
	for i := range 4 {
		DATA(4*i, U32(1<<31-1))
	}
	half := GLOBL("finishHalf"+l.Suffix, RODATA|NOPTR)
	DATA(0, F64(0.5))
	for _, k := range []int{1, 2} {
		packed(l, k, abs, half, "")
	}
	if l.Lanes == 8 {
		packed(l, 2, abs, half, "Loads")
	}
	wide(l, abs, half)
}

func begin(l *vec.Level, name, doc string, abs, half Mem) *finish {
	TEXT(name, NOSPLIT, "func(args **float32)")
	Pragma("noescape")
	Doc(name+" is finishStepGo for "+doc+". args points to the first", "field of a finishArgs of package simd.")
	f := &finish{l: l, args: vec.Argument("args"), abs: abs, half: half}
	if l.Lanes == 8 {
		f.objective, f.change, f.spread, f.maxAbs, f.sign = ZMM(), ZMM(), ZMM(), YMM(), YMM()
		s := f.pointer(sums)
		VMOVUPD(Mem{Base: s, Disp: objective}, f.objective)
		VMOVUPD(Mem{Base: s, Disp: change}, f.change)
		VMOVUPD(Mem{Base: s, Disp: spread}, f.spread)
		VMOVDQU32(Mem{Base: s, Disp: maxAbs}, f.maxAbs)
		VPBROADCASTD(abs, f.sign)
		f.pull = ZMM()
		VBROADCASTSD(f.at(pull), f.pull)
	}
	return f
}

// end writes the sums back and returns.
func (f *finish) end() {
	if f.l.Lanes == 8 {
		s := f.pointer(sums)
		VMOVUPD(f.objective, Mem{Base: s, Disp: objective})
		VMOVUPD(f.change, Mem{Base: s, Disp: change})
		VMOVUPD(f.spread, Mem{Base: s, Disp: spread})
		VMOVDQU32(f.maxAbs, Mem{Base: s, Disp: maxAbs})
	}
	VZEROUPPER()
	RET()
}

func (f *finish) at(field int) Mem { return Mem{Base: f.args, Disp: field} }

func (f *finish) pointer(field int) reg.GPVirtual {
	p := GP64()
	MOVQ(f.at(field), p)
	return p
}

// load returns an operand in its own register.
func (f *finish) load(o Op, tail *vec.Tail) reg.VecVirtual {
	m, ok := o.(Mem)
	if !ok {
		return o.(reg.VecVirtual)
	}
	v := f.l.Wide()
	if tail == nil {
		VMOVUPD(m, v)
	} else {
		tail.LoadWide(m, v)
	}
	return v
}

// wideOf returns float32 numbers in memory as float64.
func (f *finish) wideOf(m Mem, tail *vec.Tail) reg.VecVirtual {
	v := f.l.Wide()
	if tail == nil {
		VCVTPS2PD(m, v)
		return v
	}
	half := f.l.Half()
	tail.LoadSingle(m, half)
	VCVTPS2PD(half, v)
	return v
}

// add adds products to the sums.
func (f *finish) add(a, b, to reg.VecVirtual, field, half int) {
	if f.l.Lanes == 8 {
		VFMADD231PD(a, b, to)
		return
	}
	m, sum := Mem{Base: f.pointer(sums), Disp: field + 32*half}, YMM()
	VMOVUPD(m, sum)
	VFMADD231PD(a, b, sum)
	VMOVUPD(sum, m)
}

// next computes a vector of the next iterate, stores it, adds to the sums, and returns
// it in float64.
func (f *finish) next(e *lanes) (moved reg.VecVirtual) {
	means, value := f.load(e.mean, e.tail), f.wideOf(e.x, e.tail)
	gradient, label := f.wideOf(e.wx, e.tail), f.load(e.target, e.tail)
	centred := f.l.Wide()
	VSUBPD(means, value, centred)
	VFMSUB231PD(value, e.degree, gradient) // degree value - wx
	// Not fused: in a class of one row the two parts are the same numbers.
	product := f.l.Wide()
	VMULPD(e.weight, centred, product)
	VSUBPD(label, product, product) // weight centred - target
	factor := f.pull
	if factor == nil {
		factor = f.l.Wide()
		VBROADCASTSD(f.at(pull), factor)
	}
	VFNMADD231PD(product, factor, gradient)
	// Lanes that are not in use hold zeros, unless a factor is infinite.
	switch {
	case e.tail == nil:
	case f.l.Lanes == 8:
		VMOVAPD_Z(gradient, e.tail.Mask(), gradient)
	default:
		VANDPD(e.tail.Wide(), gradient, gradient)
	}
	f.add(gradient, centred, f.objective, objective, e.half)
	VFNMADD213PD(value, e.step, gradient) // value - step gradient
	rounded := f.l.Half()
	switch {
	case e.tail == nil:
		f.l.Float32(gradient, rounded)
		VMOVUPS(rounded, e.dst)
	case f.l.Lanes == 8:
		VCVTPD2PS_Z(gradient, e.tail.Mask(), rounded)
		e.tail.StoreSingle(rounded, e.dst)
	default:
		f.l.Float32(gradient, rounded)
		VANDPS(e.tail.Single(), rounded, rounded)
		e.tail.StoreSingle(rounded, e.dst)
	}
	moved = f.l.Wide()
	VCVTPS2PD(rounded, moved)
	// NaN is the largest number if bits without signs are compared as integers.
	if f.l.Lanes == 8 {
		VPANDD(f.sign, rounded, rounded)
		VPMAXUD(rounded, f.maxAbs, f.maxAbs)
	} else {
		m := Mem{Base: f.pointer(sums), Disp: maxAbs + 16*e.half}
		VPAND(f.abs, rounded, rounded)
		VPMAXUD(m, rounded, rounded)
		VMOVDQU(rounded, m)
	}
	off := f.l.Wide()
	VSUBPD(value, moved, value)
	VSUBPD(means, moved, off)
	f.add(value, value, f.change, change, e.half)
	f.add(off, off, f.spread, spread, e.half)
	return moved
}

// stepOf returns 1/2 divided by the diagonals, a vector of them or one, and 0 where
// they are not positive.
func (f *finish) stepOf(diagonal reg.VecVirtual, like func() reg.VecVirtual, one bool) reg.VecVirtual {
	compare, divide, divideZ := VCMPPD, VDIVPD, VDIVPD_Z
	if one {
		compare, divide, divideZ = VCMPSD, VDIVSD, VDIVSD_Z
	}
	zero, half, step := like(), like(), like()
	switch {
	case one:
		VMOVSD(f.half, half)
	case half.Size() == 16:
		VMOVDDUP(f.half, half)
	default:
		VBROADCASTSD(f.half, half)
	}
	const greater = 30
	if f.l.Lanes == 8 {
		VPXORD(zero, zero, zero)
		mask := K()
		compare(U8(greater), zero, diagonal, mask)
		divideZ(diagonal, half, mask, step)
		return step
	}
	VXORPD(zero, zero, zero)
	compare(U8(greater), zero, diagonal, zero)
	divide(diagonal, half, step)
	VANDPD(zero, step, step)
	return step
}

func xmm() reg.VecVirtual { return XMM() }

// lowerHalf returns half of a vector; avo knows that the other half is set.
func lowerHalf() reg.VecVirtual {
	v := ZMM()
	VPXORD(v, v, v)
	return v.AsY().(reg.VecVirtual)
}

// packed writes the function for k columns in rows without gaps, several to a
// vector. With AVX-512 there are two for k = 2: the one named Loads is for processors with
// slow gathers. For k = 1 these should use the function of AVX2.
func packed(l *vec.Level, k int, abs, half Mem, kind string) {
	f := begin(l, fmt.Sprintf("FinishStep%dF32%s%s", k, l.Suffix, kind), fmt.Sprintf("k = %d and strides of as much, in whole groups", k), abs, half)
	if kind == "Loads" {
		f.maskLanes()
	}
	q := 8 / k // rows of a group
	means := l.Wide()
	p := f.pointer(mean)
	switch {
	case k == 1:
		VBROADCASTSD(Mem{Base: p}, means)
	case l.Lanes == 8:
		VBROADCASTF64X2(Mem{Base: p}, means)
	default:
		VBROADCASTF128(Mem{Base: p}, means)
	}
	in, out, product := f.pointer(x), f.pointer(dst), f.pointer(wx)
	degree, slot, n := f.pointer(degrees), f.pointer(slots), f.pointer(rows)
	at := GP64()
	XORQ(at, at)
	var expand reg.VecVirtual
	if l.Lanes == 8 && k == 2 {
		order := GLOBL("finishExpand"+l.Suffix+kind, RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(i/2))
		}
		expand = ZMM()
		VMOVDQU64(order, expand)
	}

	Label("group")
	for h := range 8 / l.Lanes {
		e := &lanes{half: h, mean: means}
		from := func(p reg.GPVirtual) Mem { return Mem{Base: p, Index: at, Scale: 1, Disp: 16 * h} }
		e.x, e.wx, e.dst = from(in), from(product), from(out)
		if l.Lanes == 8 {
			f.factors512(e, k, degree, slot, expand)
		} else {
			f.factors2(e, k, h, degree, slot)
		}
		f.addRows(f.next(e), k, l.Lanes/k*h, slot)
	}
	ADDQ(U8(32), at)
	ADDQ(U8(8*q), degree)
	ADDQ(U8(4*q), slot)
	SUBQ(U8(q), n)
	JNZ(LabelRef("group"))
	f.end()
}

// addRows adds a vector to the sums by class. It has the rows of a group from the given
// one on. A row of the sums has a number for each lane, so no addition waits for the
// row before.
func (f *finish) addRows(moved reg.VecVirtual, k, first int, slot reg.GPVirtual) {
	p := f.pointer(class)
	for pair := range f.l.Lanes / 2 {
		v := moved.AsX()
		switch {
		case pair > 0 && f.l.Lanes == 8:
			v = XMM()
			VEXTRACTF64X2(U8(pair), moved, v)
		case pair > 0:
			v = XMM()
			VEXTRACTF128(U8(1), moved, v)
		}
		for c := 0; c < 2; c += k {
			r := first + (2*pair+c)/k
			s, sum := GP64(), XMM()
			MOVL(Mem{Base: slot, Disp: 4 * r}, s.As32())
			SHLQ(U8(3), s)
			at := Mem{Base: p, Index: s, Scale: 8, Disp: 8 * k * r}
			switch {
			case k == 2:
				VADDPD(at, v, sum)
				VMOVUPD(sum, at)
			case c == 0:
				VADDSD(at, v, sum)
				VMOVSD(sum, at)
			default:
				VPERMILPD(U8(1), v, sum)
				VADDSD(at, sum, sum)
				VMOVSD(sum, at)
			}
		}
	}
}

// maskLanes sets the masks of lanes.
func (f *finish) maskLanes() {
	for r := 1; r < len(f.lane); r++ {
		bits := GP32()
		f.lane[r] = K()
		MOVL(U32(1<<r), bits)
		KMOVW(bits, f.lane[r])
	}
}

// gather sets v to the numbers of slots in a table, four in half a vector or eight.
func (f *finish) gather(field int, slot reg.GPVirtual, v reg.VecVirtual, four bool) {
	if f.lane[1] != nil {
		f.fourOf(field, slot, v)
		return
	}
	mask := K()
	KXNORW(mask, mask, mask)
	VPXORD(v, v, v)
	table := f.pointer(field)
	if four {
		index := XMM()
		VMOVDQU32(Mem{Base: slot}, index)
		VGATHERDPD(Mem{Base: table, Index: index, Scale: 8}, mask, v.AsY())
		return
	}
	index := YMM()
	VMOVDQU32(Mem{Base: slot}, index)
	VGATHERDPD(Mem{Base: table, Index: index, Scale: 8}, mask, v)
}

// fourOf sets the lower half of v to the numbers of four slots, one load for each.
func (f *finish) fourOf(field int, slot reg.GPVirtual, v reg.VecVirtual) {
	table := f.pointer(field)
	for r := range 4 {
		s := GP64()
		MOVL(Mem{Base: slot, Disp: 4 * r}, s.As32())
		if at := (Mem{Base: table, Index: s, Scale: 8}); r == 0 {
			VBROADCASTSD(at, v)
		} else {
			VBROADCASTSD(at, f.lane[r], v.AsY())
		}
	}
}

// slotsOf returns n slots from the given one on.
func slotsOf(slot reg.GPVirtual, first, n int) (s []reg.GPVirtual) {
	for r := range n {
		s = append(s, GP64())
		MOVL(Mem{Base: slot, Disp: 4 * (first + r)}, s[r].As32())
	}
	return s
}

// pick returns the numbers of four slots in a table.
func (f *finish) pick(field int, s []reg.GPVirtual) reg.VecVirtual {
	p := f.pointer(field)
	return join(pair(p, s[0], s[1]), pair(p, s[2], s[3]))
}

// pair returns the numbers of two slots.
func pair(p, a, b reg.GPVirtual) reg.VecVirtual {
	v := XMM()
	VMOVSD(Mem{Base: p, Index: a, Scale: 8}, v)
	VMOVHPD(Mem{Base: p, Index: b, Scale: 8}, v, v)
	return v
}

// join makes one vector of two.
func join(low reg.VecVirtual, high Op) reg.VecVirtual {
	v := YMM()
	VXORPD(v, v, v) // so that avo knows that all of v is set here
	VMOVAPD(low, v.AsX())
	VINSERTF128(U8(1), high, v, v)
	return v
}

// factors512 sets the factors of a group, and its targets.
func (f *finish) factors512(e *lanes, k int, degree, slot reg.GPVirtual, expand reg.VecVirtual) {
	diagonal := ZMM()
	e.degree, e.weight = ZMM(), ZMM()
	if k == 1 {
		targets := ZMM()
		VMOVUPD(Mem{Base: degree}, e.degree)
		f.gather(weight, slot, e.weight, false)
		f.gather(extra, slot, diagonal, false)
		f.gather(target, slot, targets, false)
		VADDPD(e.degree, diagonal, diagonal)
		e.step, e.target = f.stepOf(diagonal, f.l.Wide, false), targets
		return
	}
	spread := func(v reg.VecVirtual) reg.VecVirtual {
		lanes := ZMM()
		VPERMPD(v, expand, lanes)
		return lanes
	}
	VPXORD(e.degree, e.degree, e.degree) // so that avo knows that all of it is set here
	VMOVUPD(Mem{Base: degree}, e.degree.AsY())
	f.gather(weight, slot, e.weight, true)
	f.gather(extra, slot, diagonal, true)
	VADDPD(e.degree.AsY(), diagonal.AsY(), diagonal.AsY())
	// Four divisions take half the time of eight.
	step := f.stepOf(diagonal.AsY().(reg.VecVirtual), lowerHalf, false)
	e.degree, e.weight, e.step = spread(e.degree), spread(e.weight), spread(step.AsZ().(reg.VecVirtual))
	targets, p := ZMM(), f.pointer(target)
	VPXORD(targets, targets, targets)
	for r := range 4 {
		s := GP64()
		MOVL(Mem{Base: slot, Disp: 4 * r}, s.As32())
		SHLQ(U8(4), s)
		if m := (Mem{Base: p, Index: s, Scale: 1}); r == 0 {
			VMOVUPD(m, targets.AsX())
		} else {
			VINSERTF64X2(U8(r), m, targets, targets)
		}
	}
	e.target = targets
}

// factors2 sets the factors of half a group, and its targets.
func (f *finish) factors2(e *lanes, k, h int, degree, slot reg.GPVirtual) {
	n := 4 / k // rows
	s := slotsOf(slot, h*n, n)
	if k == 1 {
		e.degree, e.weight = YMM(), f.pick(weight, s)
		VMOVUPD(Mem{Base: degree, Disp: 32 * h}, e.degree)
		diagonal := f.pick(extra, s)
		VADDPD(e.degree, diagonal, diagonal)
		e.step, e.target = f.stepOf(diagonal, f.l.Wide, false), f.pick(target, s)
		return
	}
	spread := func(v reg.VecVirtual) reg.VecVirtual {
		lanes := join(v, v)
		VPERMPD(U8(0x50), lanes, lanes)
		return lanes
	}
	d, diagonal := XMM(), pair(f.pointer(extra), s[0], s[1])
	VMOVUPD(Mem{Base: degree, Disp: 16 * h}, d)
	VADDPD(d, diagonal, diagonal)
	e.weight = spread(pair(f.pointer(weight), s[0], s[1]))
	e.degree, e.step = spread(d), spread(f.stepOf(diagonal, xmm, false))
	p, low := f.pointer(target), XMM()
	for _, r := range s {
		SHLQ(U8(4), r)
	}
	VMOVUPD(Mem{Base: p, Index: s[0], Scale: 1}, low)
	e.target = join(low, Mem{Base: p, Index: s[1], Scale: 1})
}

// wide writes the function for any number of columns. A vector has columns of a single
// row.
func wide(l *vec.Level, abs, half Mem) {
	f := begin(l, "FinishStepF32"+l.Suffix, "any k but 1 and 2", abs, half)
	in, out, product := f.pointer(x), f.pointer(dst), f.pointer(wx)
	degree, slot := f.pointer(degrees), f.pointer(slots)
	left := f.pointer(columns)
	ANDQ(U8(l.Lanes-1), left)
	tail := l.Tail("finish", left)

	Label("row")
	s := GP64()
	MOVL(Mem{Base: slot}, s.As32())
	e := &lanes{degree: l.Wide(), weight: l.Wide(), step: l.Wide()}
	VBROADCASTSD(Mem{Base: degree}, e.degree)
	p := f.pointer(weight)
	VBROADCASTSD(Mem{Base: p, Index: s, Scale: 8}, e.weight)
	p = f.pointer(extra)
	diagonal := XMM()
	VMOVSD(Mem{Base: degree}, diagonal)
	VADDSD(Mem{Base: p, Index: s, Scale: 8}, diagonal, diagonal)
	VBROADCASTSD(f.stepOf(diagonal, xmm, true), e.step)
	IMULQ(f.at(columns), s)
	targets, classes, means := f.pointer(target), f.pointer(class), f.pointer(mean)
	LEAQ(Mem{Base: targets, Index: s, Scale: 8}, targets)
	LEAQ(Mem{Base: classes, Index: s, Scale: 8}, classes)
	at := GP64()
	XORQ(at, at)
	body := func(h int, tail *vec.Tail) {
		single := func(p reg.GPVirtual) Mem { return Mem{Base: p, Index: at, Scale: 4, Disp: 16 * h} }
		double := func(p reg.GPVirtual) Mem { return Mem{Base: p, Index: at, Scale: 8, Disp: 32 * h} }
		e := *e
		e.half, e.tail = h, tail
		e.x, e.wx, e.dst, e.mean, e.target = single(in), single(product), single(out), double(means), double(targets)
		moved := f.next(&e)
		sum := f.load(double(classes), tail)
		VADDPD(moved, sum, sum)
		if tail == nil {
			VMOVUPD(sum, double(classes))
		} else {
			tail.StoreWide(sum, double(classes))
		}
	}
	left = f.pointer(columns)
	SUBQ(U8(8), left)
	JL(LabelRef("tail"))
	Label("columns")
	for h := range 8 / l.Lanes {
		body(h, nil)
	}
	ADDQ(U8(8), at)
	SUBQ(U8(8), left)
	JGE(LabelRef("columns"))
	Label("tail")
	ADDQ(U8(8), left)
	JZ(LabelRef("next"))
	if l.Lanes == 4 {
		CMPQ(left, U8(4))
		JL(LabelRef("first"))
		body(0, nil)
		CMPQ(left, U8(4))
		JE(LabelRef("next"))
		body(1, &tail)
		JMP(LabelRef("next"))
		Label("first")
	}
	body(0, &tail)
	Label("next")
	k := f.pointer(columns)
	LEAQ(Mem{Base: product, Index: k, Scale: 4}, product)
	ADDQ(f.at(stride), in)
	ADDQ(f.at(dstStride), out)
	ADDQ(U8(8), degree)
	ADDQ(U8(4), slot)
	DECQ(f.at(rows))
	JNZ(LabelRef("row"))
	f.end()
}
