// Command exp_neg writes exp(-x) over a block of numbers.
//
// Everything is computed in float64 and rounded to float32 once, at the end.
// Eight numbers take as many instructions in float64 as in float32, because the
// registers are twice as wide, so this is no slower than float32 with the
// reduction by two constants it would need, and it is more precise.
//
// The method is that of exp_neg.go, operation by operation. Products and sums
// are not fused, so that plain Go has the same bits.
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
	expNeg(l)
	weights(l)
}

// The constants of exp_neg.go.
var (
	bounds       = [2]float64{-100, 110}
	log2e        = 0x1.71547652b82fep+0
	ln2          = 0x1.62e42fefa39efp-1
	shift        = 0x1.8p52
	coefficients = []float64{
		0x1.0000000000000p+0, -0x1.0000002e4388dp+0, 0x1.0000000b8f670p-1, -0x1.55547cb25a76cp-3,
		0x1.5554e91133b7ep-5, -0x1.123d81adc404bp-7, 0x1.6d43152a5e20ap-10,
	}
)

func expNeg(l *vec.Level) {
	name := "ExpNegF32" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst, x *float32, n uintptr)")
	Pragma("noescape")
	Doc(name+" computes exp(-x).", "", "\tfor i := range n {", "\t\tdst[i] = expNegGo(float64(x[i]))", "\t}")
	x := vec.Argument("x")
	over(l, func(at reg.GPVirtual, load func(single bool, m Mem) reg.VecVirtual) reg.VecVirtual {
		v := l.Wide()
		VCVTPS2PD(load(true, Mem{Base: x, Index: at, Scale: 4}), v)
		return v
	})
}

func weights(l *vec.Level) {
	name := "WeightsF32" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst *float32, d2 *float64, n uintptr, gamma float64)")
	Pragma("noescape")
	Doc(name+" computes Gaussian weights.", "", "\tfor i := range n {", "\t\tdst[i] = expNegGo(gamma * d2[i])", "\t}")
	d2 := vec.Argument("d2")
	gamma := l.Wide()
	VBROADCASTSD(vec.Address("gamma"), gamma)
	over(l, func(at reg.GPVirtual, load func(single bool, m Mem) reg.VecVirtual) reg.VecVirtual {
		v := load(false, Mem{Base: d2, Index: at, Scale: 8})
		VMULPD(gamma, v, v)
		return v
	})
}

// over writes the loop over n numbers; argument loads and converts a vector.
func over(l *vec.Level, argument func(at reg.GPVirtual, load func(single bool, m Mem) reg.VecVirtual) reg.VecVirtual) {
	dst := vec.Argument("dst")
	n := vec.Argument("n")
	e := newExponential(l)
	at := GP64()
	XORQ(at, at)
	SUBQ(U8(l.Lanes), n)
	JL(LabelRef("tail"))
	Label("loop")
	v := argument(at, func(single bool, m Mem) reg.VecVirtual {
		if single {
			v := l.Half()
			VMOVUPS(m, v)
			return v
		}
		v := l.Wide()
		VMOVUPD(m, v)
		return v
	})
	VMOVUPS(e.of(v), Mem{Base: dst, Index: at, Scale: 4})
	ADDQ(U8(l.Lanes), at)
	SUBQ(U8(l.Lanes), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(l.Lanes), n)
	JZ(LabelRef("done"))
	t := l.Tail("expneg", n)
	v = argument(at, func(single bool, m Mem) reg.VecVirtual {
		if single {
			v := l.Half()
			t.LoadSingle(m, v)
			return v
		}
		v := l.Wide()
		t.LoadWide(m, v)
		return v
	})
	t.StoreSingle(e.of(v), Mem{Base: dst, Index: at, Scale: 4})
	Label("done")
	VZEROUPPER()
	RET()
}

// exponential holds the constants, in registers where there are enough.
type exponential struct {
	l                               *vec.Level
	low, high, log2e, ln2, shift, k Op
	c                               []Op
}

func newExponential(l *vec.Level) *exponential {
	e := &exponential{
		l: l, low: l.Constant("expnegLow", bounds[0]), high: l.Constant("expnegHigh", bounds[1]),
		log2e: l.Vector("expnegLog2e", log2e), ln2: l.Vector("expnegLn2", ln2), shift: l.Constant("expnegShift", shift),
		// Its bits, less those of n + shift, are 1023 - n in the low 12 bits.
		k: l.Constant("expnegBias", shift+1023),
	}
	for i, c := range coefficients {
		e.c = append(e.c, l.Vector(fmt.Sprintf("expnegC%d", i), c))
	}
	return e
}

// of returns exp(-x) rounded to float32. It changes x.
func (e *exponential) of(x reg.VecVirtual) reg.VecVirtual {
	// In this order of operands a NaN passes through.
	VMINPD(x, e.high, x)
	VMAXPD(x, e.low, x)
	t, n, r, p := e.l.Wide(), e.l.Wide(), e.l.Wide(), e.l.Wide()
	VMULPD(e.log2e, x, t)
	VADDPD(e.shift, t, t)
	VSUBPD(e.shift, t, n)
	VMULPD(e.ln2, n, n)
	VSUBPD(n, x, r)
	last := len(e.c) - 1
	VMULPD(e.c[last], r, p)
	VADDPD(e.c[last-1], p, p)
	for i := last - 2; i >= 0; i-- {
		VMULPD(r, p, p)
		VADDPD(e.c[i], p, p)
	}
	VPSUBQ(t, e.k, t)
	VPSLLQ(U8(52), t, t)
	VMULPD(t, p, p)
	out := e.l.Half()
	e.l.Float32(p, out)
	return out
}
