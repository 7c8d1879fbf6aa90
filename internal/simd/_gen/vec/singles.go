package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Singles are vectors of float32 of a level.
type Singles struct {
	Suffix string // of the names of functions
	Lanes  int    // float32 numbers in a vector

	window Mem
}

// SinglesNamed returns the vectors of the level that a flag names, for the functions of
// one family.
func SinglesNamed(name, family string) *Singles {
	if name == "avx512" {
		return &Singles{Suffix: "AVX512", Lanes: 16}
	}
	l := &Singles{Suffix: "AVX2", Lanes: 8}
	l.window = Window(family+"Window"+l.Suffix, 32)
	return l
}

// Vector returns a vector.
func (l *Singles) Vector() reg.VecVirtual {
	return Register(4 * l.Lanes)
}

// Zero returns a vector of zeros.
func (l *Singles) Zero() reg.VecVirtual {
	v := l.Vector()
	if l.Lanes == 16 {
		VPXORQ(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
	return v
}

// A SinglesTail is the mask of the first lanes of a vector.
type SinglesTail struct {
	l *Singles
	k reg.Register
	v reg.VecVirtual
}

// First makes the mask of the first n lanes, n from 0 to Lanes; n is changed.
func (l *Singles) First(n reg.GPVirtual) SinglesTail {
	if l.Lanes == 16 {
		mask, k := GP32(), K()
		MOVL(U32(0xffff), mask)
		BZHIL(n.As32(), mask, mask)
		KMOVW(mask, k)
		return SinglesTail{l: l, k: k}
	}
	base, v := GP64(), YMM()
	LEAQ(l.window, base)
	NEGQ(n)
	VMOVUPS(Mem{Base: base, Index: n, Scale: 4}, v)
	return SinglesTail{l: l, v: v}
}

// Load loads numbers, zeros beyond the mask.
func (t SinglesTail) Load(m Mem, v reg.VecVirtual) {
	if t.l.Lanes == 16 {
		VMOVUPS_Z(m, t.k, v)
	} else {
		VMASKMOVPS(m, t.v, v)
	}
}

// Store stores the numbers of the mask.
func (t SinglesTail) Store(v reg.VecVirtual, m Mem) {
	if t.l.Lanes == 16 {
		VMOVUPS(v, t.k, m)
	} else {
		VMASKMOVPS(v, t.v, m)
	}
}

// Sum adds the lanes of a vector, in halves, to its first lane. add is VADDPS, or VPADDD for
// vectors of 32-bit words.
func (l *Singles) Sum(v reg.VecVirtual, add func(ops ...Op)) {
	half, quarter := YMM(), XMM()
	if l.Lanes == 16 {
		VEXTRACTF64X4(U8(1), v, half)
		add(half, v.AsY(), v.AsY())
		VEXTRACTF32X4(U8(1), v.AsY(), quarter)
	} else {
		VEXTRACTF128(U8(1), v.AsY(), quarter)
	}
	add(quarter, v.AsX(), v.AsX())
	VPERMILPS(U8(0x4e), v.AsX(), quarter)
	add(quarter, v.AsX(), v.AsX())
	VPERMILPS(U8(0xb1), v.AsX(), quarter)
	add(quarter, v.AsX(), v.AsX())
}
