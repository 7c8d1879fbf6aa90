// Command weights_64 writes Gaussian weights in float64.
//
// The method is that of weights_64.go, operation by operation, so that plain Go has the
// same bits.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

func main() { vec.Write(write, "avx2", "avx512") }

// The constants of weights_64.go.
var (
	log2e        = 0x1.71547652b82fep+0
	ln2          = 0x1.62e42fefa39efp-1
	ln2Rest      = 0x1.abc9e3b39803fp-56
	shift        = 0x1.8p52
	coefficients = []float64{
		1, -1, 0x1.0000000000005p-1, -0x1.5555555555557p-3, 0x1.55555555520afp-5, -0x1.11111111100dfp-7, 0x1.6c16c17f43acbp-10,
		-0x1.a01a01abe6323p-13, 0x1.a019a66a5f0b6p-16, -0x1.71de0237484cdp-19, 0x1.28a2c0bee04a5p-22, -0x1.af4ddda1c08cdp-26,
	}
)

func write(level string) {
	l := vec.Named(level)
	name := "WeightsF64" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst, d2 *float64, n uintptr, gamma, least, most float64)")
	Pragma("noescape")
	Doc(name+" computes Gaussian weights.", "", "\tfor i := range n {", "\t\tdst[i] = max(expNeg64Go(gamma*d2[i], most), least)", "\t}")
	dst, d2, n := vec.Argument("dst"), vec.Argument("d2"), vec.Argument("n")
	gamma, least, most := l.Wide(), l.Wide(), l.Wide()
	VBROADCASTSD(vec.Address("gamma"), gamma)
	VBROADCASTSD(vec.Address("least"), least)
	VBROADCASTSD(vec.Address("most"), most)
	e := newExponential(l, most)
	at := GP64()
	XORQ(at, at)
	SUBQ(U8(l.Lanes), n)
	JL(LabelRef("tail"))
	Label("loop")
	x := l.Wide()
	VMULPD(Mem{Base: d2, Index: at, Scale: 8}, gamma, x)
	VMOVUPD(e.of(x, least), Mem{Base: dst, Index: at, Scale: 8})
	ADDQ(U8(l.Lanes), at)
	SUBQ(U8(l.Lanes), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(l.Lanes), n)
	JZ(LabelRef("done"))
	t := l.Tail("weights64", n)
	x = l.Wide()
	t.LoadWide(Mem{Base: d2, Index: at, Scale: 8}, x)
	VMULPD(gamma, x, x)
	t.StoreWide(e.of(x, least), Mem{Base: dst, Index: at, Scale: 8})
	Label("done")
	VZEROUPPER()
	RET()
}

// exponential holds the constants, in registers where there are enough.
type exponential struct {
	l                                 *vec.Level
	most                              reg.VecVirtual
	log2e, ln2, ln2Rest, shift, power Op
	c                                 []Op
}

func newExponential(l *vec.Level, most reg.VecVirtual) *exponential {
	e := &exponential{
		l: l, most: most, log2e: l.Vector("weights64Log2e", log2e), shift: l.Constant("weights64Shift", shift),
		ln2: l.Vector("weights64Ln2", ln2), ln2Rest: l.Vector("weights64Ln2Rest", ln2Rest),
		// Its bits, less those of n + shift, are 1023 - n in the low 12 bits.
		power: l.Constant("weights64Bias", shift+1023),
	}
	for i, c := range coefficients {
		e.c = append(e.c, l.Vector(fmt.Sprintf("weights64C%d", i), c))
	}
	return e
}

// load returns a constant in a register that may be changed.
func (e *exponential) load(c Op) reg.VecVirtual {
	v := e.l.Wide()
	VMOVUPD(c, v)
	return v
}

// of returns exp(-x), or 0 where x is above most, but no less than least.
func (e *exponential) of(x, least reg.VecVirtual) reg.VecVirtual {
	n, r := e.l.Wide(), e.l.Wide()
	t := e.load(e.shift)
	VFMADD231PD(e.log2e, x, t)
	VSUBPD(e.shift, t, n)
	VMOVUPD(x, r)
	VFNMADD231PD(e.ln2, n, r)
	VFNMADD231PD(e.ln2Rest, n, r)
	last := len(e.c) - 1
	p := e.load(e.c[last])
	for i := last - 1; i >= 0; i-- {
		VFMADD213PD(e.c[i], r, p)
	}
	VPSUBQ(t, e.power, t)
	VPSLLQ(U8(52), t, t)
	VMULPD(t, p, p)
	const above = 0x1e // false for NaN
	if e.l.Lanes == 8 {
		k := K()
		VCMPPD(U8(above), e.most, x, k)
		VXORPD(p, p, k, p) // 0 where x is above
	} else {
		far := e.l.Wide()
		VCMPPD(U8(above), e.most, x, far)
		VANDNPD(p, far, p)
	}
	VMAXPD(p, least, p) // in this order of operands a NaN passes through
	return p
}
