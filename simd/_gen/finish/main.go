// Command finish writes the end of a step: rows of W x become rows of the next
// iterate, and what a run of steps needs to know is added up on the way.
//
// Four columns are taken at a time; with fewer the other lanes hold zeros,
// which add nothing. A vector of eight lanes would add up in another order, and
// the division takes as long for eight as for two times four, so there is one
// function for all levels from AVX2 on. Numbers of a row are broadcast where
// they are used: loads are not what this waits for. Products and sums are not
// fused, so that plain Go has the same bits.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/simd/_gen/vec"
)

var level = flag.String("level", "avx2", "avx2")

// Offsets in a FinishRow and a FinishSums.
const (
	degree, laplace, spring, tie, weight = 0, 8, 16, 24, 32
	target, slot                         = 40, 44
	rowSize                              = 48

	objective, change, spread, maxAbs = 0, 32, 64, 96
)

type finish struct {
	l *vec.Level

	dst, x, wx, row, mean, sums, class, targets reg.GPVirtual
	at                                          reg.GPVirtual // column
	target, slot                                reg.GPVirtual // addresses of the row's
	objective, change, spread, maxAbs           reg.VecVirtual
}

func main() {
	flag.Parse()
	ConstraintExpr("gc,!noasm,!purego")
	l := vec.Named(*level)
	TEXT("finishRowsF32"+l.Suffix, NOSPLIT, "func(dst *float32, dstStride uintptr, x *float32, stride uintptr, wx *float64, k uintptr, row *float64, rows uintptr, mean *float64, pull float64, targets, sums, class *float64, acc *float64)")
	Pragma("noescape")
	Doc("finishRowsF32"+l.Suffix+" is finishRowsGo on rows rows of k columns. row and acc point to the",
		"first fields of a FinishRow and a FinishSums.")
	f := &finish{l: l}
	load := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	f.dst, f.x, f.wx, f.row = load("dst"), load("x"), load("wx"), load("row")
	f.mean, f.sums, f.class, f.targets = load("mean"), load("sums"), load("class"), load("targets")
	f.at, f.target, f.slot = GP64(), GP64(), GP64()
	f.objective, f.change, f.spread, f.maxAbs = YMM(), YMM(), YMM(), XMM()
	acc := load("acc")
	VMOVUPD(Mem{Base: acc, Disp: objective}, f.objective)
	VMOVUPD(Mem{Base: acc, Disp: change}, f.change)
	VMOVUPD(Mem{Base: acc, Disp: spread}, f.spread)
	VMOVUPS(Mem{Base: acc, Disp: maxAbs}, f.maxAbs)
	left := GP64()
	MOVQ(address("k"), left)
	ANDQ(U8(3), left)
	tail := l.Tail("finish", left)
	n := GP64()

	Label("row")
	k := GP64()
	MOVQ(address("k"), k)
	MOVL(Mem{Base: f.row, Disp: target}, f.target.As32())
	IMULQ(k, f.target)
	LEAQ(Mem{Base: f.targets, Index: f.target, Scale: 8}, f.target)
	MOVL(Mem{Base: f.row, Disp: slot}, f.slot.As32())
	IMULQ(k, f.slot)
	LEAQ(Mem{Base: f.class, Index: f.slot, Scale: 8}, f.slot)
	XORQ(f.at, f.at)
	SUBQ(U8(4), k)
	JL(LabelRef("tail"))
	Label("columns")
	f.columns(false, nil)
	ADDQ(U8(4), f.at)
	SUBQ(U8(4), k)
	JGE(LabelRef("columns"))
	Label("tail")
	ADDQ(U8(4), k)
	JZ(LabelRef("next"))
	// Two columns, the usual number, need no masks.
	CMPQ(k, U8(2))
	JE(LabelRef("pair"))
	f.columns(false, &tail)
	JMP(LabelRef("next"))
	Label("pair")
	f.columns(true, nil)
	Label("next")
	MOVQ(address("k"), k)
	LEAQ(Mem{Base: f.wx, Index: k, Scale: 8}, f.wx)
	MOVQ(address("dstStride"), k)
	LEAQ(Mem{Base: f.dst, Index: k, Scale: 4}, f.dst)
	MOVQ(address("stride"), k)
	LEAQ(Mem{Base: f.x, Index: k, Scale: 4}, f.x)
	ADDQ(U8(rowSize), f.row)
	MOVQ(address("rows"), n)
	DECQ(n)
	MOVQ(n, address("rows"))
	JNZ(LabelRef("row"))

	MOVQ(address("acc"), n)
	VMOVUPD(f.objective, Mem{Base: n, Disp: objective})
	VMOVUPD(f.change, Mem{Base: n, Disp: change})
	VMOVUPD(f.spread, Mem{Base: n, Disp: spread})
	VMOVUPS(f.maxAbs, Mem{Base: n, Disp: maxAbs})
	VZEROUPPER()
	RET()
	Generate()
}

func address(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// columns does four columns of a row, the last two, or as many as the tail has.
func (f *finish) columns(pair bool, tail *vec.Tail) {
	wide := func(base reg.GPVirtual) (reg.VecVirtual, Mem) {
		m, v := Mem{Base: base, Index: f.at, Scale: 8}, YMM()
		switch {
		case pair:
			VXORPD(v, v, v) // so that all of v is known to be set here
			VMOVUPD(m, v.AsX())
		case tail == nil:
			VMOVUPD(m, v)
		default:
			tail.LoadWide(m, v)
		}
		return v, m
	}
	ofRow := func(disp int) reg.VecVirtual {
		v := YMM()
		VBROADCASTSD(Mem{Base: f.row, Disp: disp}, v)
		return v
	}
	value := YMM()
	from, half := Mem{Base: f.x, Index: f.at, Scale: 4}, XMM()
	switch {
	case pair:
		VMOVSD(from, half)
		VCVTPS2PD(half, value)
	case tail == nil:
		VCVTPS2PD(from, value)
	default:
		tail.LoadSingle(from, half)
		VCVTPS2PD(half, value)
	}
	mean, _ := wide(f.mean)
	centred := YMM()
	VSUBPD(mean, value, centred)
	away, _ := wide(f.wx)
	VDIVPD(ofRow(degree), away, away)
	VSUBPD(away, value, away) // value - wx/degree
	label := ofRow(weight)
	VMULPD(centred, label, label)
	target, _ := wide(f.target)
	VSUBPD(target, label, label)

	next, term := ofRow(spring), ofRow(tie)
	VMULPD(away, next, next)
	VSUBPD(next, value, next) // value - spring*away
	VMULPD(label, term, term)
	VADDPD(term, next, next)
	rounded := XMM()
	VCVTPD2PSY(next, rounded)
	// Lanes that are not in use are zero, unless Tie is infinite.
	to := Mem{Base: f.dst, Index: f.at, Scale: 4}
	switch {
	case pair:
		VMOVQ(rounded, rounded)
		VMOVSD(rounded, to)
	case tail == nil:
		VMOVUPS(rounded, to)
	default:
		VANDPS(tail.Single(), rounded, rounded)
		tail.StoreSingle(rounded, to)
	}
	moved := YMM()
	VCVTPS2PD(rounded, moved)
	// As integers without their signs, NaN is the largest of numbers.
	VPSLLD(U8(1), rounded, rounded)
	VPSRLD(U8(1), rounded, rounded)
	VPMAXUD(rounded, f.maxAbs, f.maxAbs)

	pull := YMM()
	VBROADCASTSD(address("pull"), pull)
	VMULPD(label, pull, pull)
	slope := ofRow(laplace)
	VMULPD(away, slope, slope)
	VSUBPD(pull, slope, slope)
	VMULPD(slope, centred, centred)
	VADDPD(centred, f.objective, f.objective)
	VSUBPD(value, moved, value)
	VMULPD(value, value, value)
	VADDPD(value, f.change, f.change)
	VSUBPD(mean, moved, mean)
	VMULPD(mean, mean, mean)
	VADDPD(mean, f.spread, f.spread)
	for _, base := range []reg.GPVirtual{f.sums, f.slot} {
		sum, m := wide(base)
		VADDPD(moved, sum, sum)
		switch {
		case pair:
			VMOVUPD(sum.AsX(), m)
		case tail == nil:
			VMOVUPD(sum, m)
		default:
			tail.StoreWide(sum, m)
		}
	}
}
