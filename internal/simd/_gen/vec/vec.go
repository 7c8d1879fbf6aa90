// Package vec holds what the generators share: how they begin and end, their parameters,
// vectors of the two amd64 levels, constants, and loads and stores of the last, short
// vector of a slice, which must not touch memory after the slice.
package vec

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Register returns a vector of 32 or 64 bytes.
func Register(bytes int) reg.VecVirtual {
	if bytes == 64 {
		return ZMM()
	}
	return YMM()
}

// Count returns a number of things for a comment, as in "1 row" and "2 rows".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// A Level is a width of vectors.
type Level struct {
	Suffix string // of the names of functions
	Lanes  int    // float64 numbers in a vector

	constants map[string]Mem
	window    Mem
}

// Named returns the level that a flag names.
func Named(name string) *Level {
	l := &Level{constants: make(map[string]Mem)}
	switch name {
	case "avx2":
		l.Suffix, l.Lanes = "AVX2", 4
	case "avx512":
		l.Suffix, l.Lanes = "AVX512", 8
	default:
		panic("no level " + name)
	}
	return l
}

// Wide returns a vector of Lanes float64 numbers.
func (l *Level) Wide() reg.VecVirtual {
	if l.Lanes == 8 {
		return ZMM()
	}
	return YMM()
}

// Half returns a vector of Lanes float32 or uint32 numbers.
func (l *Level) Half() reg.VecVirtual {
	if l.Lanes == 8 {
		return YMM()
	}
	return XMM()
}

// Clear makes a vector of zeros.
func (l *Level) Clear(v reg.VecVirtual) {
	if l.Lanes == 8 {
		VPXORQ(v, v, v)
	} else {
		VXORPD(v, v, v)
	}
}

// Constant returns a vector of equal numbers.
func (l *Level) Constant(name string, value float64) reg.VecVirtual {
	m, ok := l.constants[name]
	if !ok {
		m = GLOBL(name+l.Suffix, RODATA|NOPTR)
		DATA(0, F64(value))
		l.constants[name] = m
	}
	v := l.Wide()
	VBROADCASTSD(m, v)
	return v
}

// Vector returns a vector of equal numbers as the first operand of an
// instruction: a register, or on AVX2, which has few, memory.
func (l *Level) Vector(name string, value float64) Op {
	if l.Lanes == 8 {
		return l.Constant(name, value)
	}
	m, ok := l.constants[name]
	if !ok {
		m = GLOBL(name+l.Suffix, RODATA|NOPTR)
		for i := range l.Lanes {
			DATA(8*i, F64(value))
		}
		l.constants[name] = m
	}
	return m
}

// A Tail is the number of lanes in use of a short vector: masks for loads and
// stores.
type Tail struct {
	l            *Level
	k            reg.Register // AVX-512
	single, wide reg.VecVirtual
}

// Tail makes the masks for the first n lanes, n at most Lanes. It changes no
// register but scratch ones.
func (l *Level) Tail(family string, n reg.GPVirtual) Tail {
	t := Tail{l: l}
	if l.Lanes == 8 {
		mask := GP32()
		MOVL(U32(0xff), mask)
		BZHIL(n.As32(), mask, mask)
		k := K()
		KMOVW(mask, k)
		t.k = k
		return t
	}
	if l.window.Symbol.Name == "" {
		l.window = Window(family+"Window"+l.Suffix, 32)
	}
	base, at := GP64(), GP64()
	LEAQ(l.window, base)
	MOVQ(n, at)
	NEGQ(at)
	t.single, t.wide = XMM(), YMM()
	VMOVUPD(Mem{Base: base, Index: at, Scale: 8}, t.wide)
	// The same mask for 32-bit lanes, which begins n of them before the zeros.
	VMOVUPS(Mem{Base: base, Index: at, Scale: 4}, t.single)
	return t
}

// LoadSingle loads float32 numbers, zeros beyond the tail.
func (t Tail) LoadSingle(m Mem, v reg.VecVirtual) {
	if t.l.Lanes == 8 {
		VMOVUPS_Z(m, t.k, v)
		return
	}
	VMASKMOVPS(m, t.single, v)
}

// LoadWide loads float64 numbers, zeros beyond the tail.
func (t Tail) LoadWide(m Mem, v reg.VecVirtual) {
	if t.l.Lanes == 8 {
		VMOVUPD_Z(m, t.k, v)
		return
	}
	VMASKMOVPD(m, t.wide, v)
}

// StoreSingle stores 32-bit numbers up to the tail.
func (t Tail) StoreSingle(v reg.VecVirtual, m Mem) {
	if t.l.Lanes == 8 {
		VMOVUPS(v, t.k, m)
		return
	}
	VMASKMOVPS(v, t.single, m)
}

// StoreWide stores float64 numbers up to the tail.
func (t Tail) StoreWide(v reg.VecVirtual, m Mem) {
	if t.l.Lanes == 8 {
		VMOVUPD(v, t.k, m)
		return
	}
	VMASKMOVPD(v, t.wide, m)
}

// Mask returns the mask register of AVX-512.
func (t Tail) Mask() reg.Register { return t.k }

// Single returns the mask of 32-bit lanes of AVX2.
func (t Tail) Single() reg.VecVirtual { return t.single }

// Wide returns the mask of 64-bit lanes of AVX2.
func (t Tail) Wide() reg.VecVirtual { return t.wide }

// Float32 rounds a vector of float64 numbers.
func (l *Level) Float32(wide, single reg.VecVirtual) {
	if l.Lanes == 8 {
		VCVTPD2PS(wide, single)
		return
	}
	VCVTPD2PSY(wide, single)
}
