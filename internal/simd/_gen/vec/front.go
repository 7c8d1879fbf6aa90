package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Front moves the lanes that pass a test to the front of a vector. AVX2 has no
// instruction for this, so there are tables: they hold, for each mask of four lanes,
// the order of the 32-bit halves of float64 lanes, and of the bytes of 32-bit lanes.
type Front struct {
	l            *Level
	wide, single Mem
}

// NewFront writes the tables of a family.
func NewFront(l *Level, family string) Front {
	f := Front{l: l}
	if l.Lanes == 8 {
		return f
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
	f.wide = GLOBL(family+"Wide"+l.Suffix, RODATA|NOPTR)
	for mask, order := range orders {
		for i, lane := range order {
			DATA(32*mask+8*i, U32(2*lane))
			DATA(32*mask+8*i+4, U32(2*lane+1))
		}
	}
	f.single = GLOBL(family+"Single"+l.Suffix, RODATA|NOPTR)
	for mask, order := range orders {
		for i, lane := range order {
			DATA(16*mask+4*i, U32(0x03020100+0x04040404*lane))
		}
	}
	return f
}

// Passed holds the lanes that pass a test: a mask register with AVX-512, bits with AVX2.
type Passed struct {
	f    Front
	k    reg.Register
	bits reg.GPVirtual
}

// The comparisons, false for NaN.
const (
	lessOrEqual = 0x12
	notEqual    = 0x0c
)

// AtMost tests which sums are at most a limit and, unless zero is nil, not zero. It sets
// count to their number; AVX2 needs a register for their bits.
func (f Front) AtMost(sum, limit, zero reg.VecVirtual, bits, count reg.GPVirtual) Passed {
	if f.l.Lanes == 8 {
		pass := K()
		VCMPPD(U8(lessOrEqual), limit, sum, pass)
		if zero != nil {
			other := K()
			VCMPPD(U8(notEqual), zero, sum, pass, other)
			pass = other
		}
		KMOVB(pass, count.As32())
		POPCNTL(count.As32(), count.As32())
		return Passed{f: f, k: pass}
	}
	pass := YMM()
	VCMPPD(U8(lessOrEqual), limit, sum, pass)
	if zero != nil {
		other := YMM()
		VCMPPD(U8(notEqual), zero, sum, other)
		VANDPD(pass, other, pass)
	}
	VMOVMSKPD(pass, bits.As32())
	POPCNTL(bits.As32(), count.As32())
	return Passed{f: f, bits: bits}
}

// Move moves the lanes of sum to the front of to, which may be sum. It also moves the
// lanes of ind, which are 32-bit lanes that load loads, to the front of ind. It changes
// the bits.
func (p Passed) Move(sum, to, ind reg.VecVirtual, load func(ind reg.VecVirtual)) {
	if p.f.l.Lanes == 8 {
		load(ind)
		VPCOMPRESSD_Z(ind, p.k, ind)
		VCOMPRESSPD_Z(sum, p.k, to)
		return
	}
	table, order := GP64(), YMM()
	SHLL(U8(4), p.bits.As32())
	LEAQ(p.f.wide, table)
	VMOVDQU(Mem{Base: table, Index: p.bits, Scale: 2}, order)
	VPERMD(sum, order, to)
	load(ind)
	LEAQ(p.f.single, table)
	VPSHUFB(Mem{Base: table, Index: p.bits, Scale: 1}, ind, ind)
}
