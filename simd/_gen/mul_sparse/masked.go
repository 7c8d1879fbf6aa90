package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/simd/_gen/vec"
)

// distant is how many rows behind the first column of a row x is asked for, once a
// row. In curve order that is long before another row reads it, and not so long that
// the second-level cache should have lost it.
const distant = 4096

// A masked is the state of a kernel for four columns or more with AVX-512. It is
// made for few instructions, four an entry with up to 16 columns: the multiplication
// broadcasts the value it reads, at a plain pointer, and columns are found by their
// distance from that.
type masked struct {
	k, lanes int  // columns; float32 lanes of a vector of products
	short    bool // columns are offsets of 16 bits

	dst, ptr, last reg.GPVirtual // last is the end of the row pointers
	val, end       reg.GPVirtual // the next value, the end of the row's
	ind            reg.GPVirtual // the next offset; if not short, the columns' distance from val
	x, stride      reg.GPVirtual // x moved to a row's base if short
	j              reg.GPVirtual // byte offset of a row of x
	base           reg.GPVirtual // if short: that of the next row
	far            reg.GPVirtual // the distance of x asked for; if not short, with x added
	ahead, xAhead  reg.GPVirtual // ind and x for the rows of x asked for entry by entry

	counts [4]reg.VecVirtual // 1 to 3 in every lane
	sums   []reg.VecVirtual
}

// maskedFours writes a kernel for four columns or more with AVX-512.
func maskedFours(k int, v variant) {
	signFours(k, v, "AVX512")
	m := &masked{k: k, lanes: min(k, 16), short: v != plain}
	m.load()
	Label("row")
	m.begin()
	CMPQ(m.val, m.end)
	JGE(LabelRef("store"))
	m.lookAhead()
	SUBQ(U8(16), m.end)
	CMPQ(m.val, m.end)
	JGE(LabelRef("last"))
	Label("four")
	m.add(m.four())
	ADDQ(U8(16), m.val)
	if m.short {
		ADDQ(U8(8), m.ind)
	}
	CMPQ(m.val, m.end)
	JLT(LabelRef("four"))
	Label("last")
	m.add(m.lastFour())
	Label("store")
	m.store()
	CMPQ(m.ptr, m.last)
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}

func (m *masked) load() {
	m.dst = vec.Argument("dst")
	m.ptr = vec.Argument("ptr")
	m.last = vec.Argument("rows")
	LEAQ(Mem{Base: m.ptr, Index: m.last, Scale: 8}, m.last)
	m.stride = vec.Stride("stride")
	m.val = vec.Argument("val")
	m.end, m.j, m.ahead, m.xAhead, m.far = GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: m.ptr}, m.j)
	if m.short {
		m.base = vec.Argument("base")
		m.ind = vec.Argument("off")
		LEAQ(Mem{Base: m.ind, Index: m.j, Scale: 2}, m.ind)
		m.x = GP64()
	} else {
		m.ind = vec.Argument("ind")
		SUBQ(m.val, m.ind)
		m.x = vec.Argument("x")
	}
	LEAQ(Mem{Base: m.val, Index: m.j, Scale: 4}, m.val)
	IMUL3Q(U32(distant), m.stride, m.far)
	if !m.short {
		ADDQ(m.x, m.far)
	}
	for u := 1; u < 4; u++ {
		m.counts[u] = m.products()
		MOVL(U32(u), m.j.As32())
		VPBROADCASTD(m.j.As32(), m.counts[u])
	}
	if m.k == 4 {
		m.sums = []reg.VecVirtual{YMM()}
	}
	for range m.k / 8 {
		m.sums = append(m.sums, ZMM())
	}
}

// products returns a vector for products.
func (m *masked) products() reg.VecVirtual {
	switch m.lanes {
	case 16:
		return ZMM()
	case 8:
		return YMM()
	}
	return XMM()
}

// begin starts a row: it finds its end, clears the sums and asks for columns and
// values.
func (m *masked) begin() {
	MOVQ(Mem{Base: m.ptr, Disp: 8}, m.end)
	ADDQ(U8(8), m.ptr)
	SHLQ(U8(2), m.end)
	ADDQ(vec.Address("val"), m.end)
	for _, sum := range m.sums {
		VPXORQ(sum, sum, sum)
	}
	if m.short {
		MOVL(Mem{Base: m.base}, m.j.As32())
		ADDQ(U8(4), m.base)
		IMULQ(m.stride, m.j)
		MOVQ(vec.Address("x"), m.x)
		ADDQ(m.j, m.x)
		PREFETCHT0(Mem{Base: m.ind, Disp: 2 * streamed})
	} else {
		PREFETCHT0(Mem{Base: m.val, Index: m.ind, Scale: 1, Disp: 4 * streamed})
		PREFETCHT0(Mem{Base: m.val, Index: m.ind, Scale: 1, Disp: 4*streamed + 64})
	}
	PREFETCHT0(Mem{Base: m.val, Disp: 4 * streamed})
	PREFETCHT0(Mem{Base: m.val, Disp: 4*streamed + 64})
}

// lookAhead asks for a row of x far from the first column: where columns are near
// each other in near rows, others will read it soon, and none has yet. From 16
// columns on it sets what else is asked for entry by entry: the entries at a fixed
// distance, or if short those of the row after the next, which has a base of its
// own. Rows at the end have nothing ahead; they ask again for what they are about to
// read.
func (m *masked) lookAhead() {
	at := Mem{Base: m.x, Index: m.far, Scale: 1}
	if !m.short {
		m.column(m.ind, 0)
		at = Mem{Base: m.far, Index: m.j, Scale: 1}
	}
	PREFETCHT1(at)
	if m.k < 16 {
		return
	}
	shift, limit := GP64(), GP64()
	MOVQ(vec.Address("nnz"), limit)
	SHLQ(U8(2), limit)
	ADDQ(vec.Address("val"), limit)
	MOVQ(m.ind, m.ahead)
	if !m.short {
		SUBQ(U32(4*prefetch), limit)
		LEAQ(Mem{Base: m.ind, Disp: 4 * prefetch}, shift)
		CMPQ(m.end, limit)
		CMOVQLS(shift, m.ahead)
		return
	}
	MOVQ(m.x, m.xAhead)
	MOVQ(m.last, m.j)
	SUBQ(m.ptr, m.j)
	CMPQ(m.j, U8(16))
	JL(LabelRef("begun"))
	MOVQ(Mem{Base: m.ptr, Disp: 8}, shift)
	SHLQ(U8(2), shift)
	ADDQ(vec.Address("val"), shift)
	SUBQ(m.val, shift)
	LEAQ(Mem{Base: m.end, Index: shift, Scale: 1}, m.j)
	CMPQ(m.j, limit)
	JHI(LabelRef("begun"))
	SHRQ(U8(1), shift)
	ADDQ(shift, m.ahead)
	MOVL(Mem{Base: m.base, Disp: 4}, m.j.As32())
	IMULQ(m.stride, m.j)
	MOVQ(vec.Address("x"), m.xAhead)
	ADDQ(m.j, m.xAhead)
	Label("begun")
}

// column leaves the byte offset of the row of x of an entry in j.
func (m *masked) column(ind reg.GPVirtual, u int) {
	if m.short {
		MOVWLZX(Mem{Base: ind, Disp: 2 * u}, m.j.As32())
	} else {
		MOVL(Mem{Base: m.val, Index: ind, Scale: 1, Disp: 4 * u}, m.j.As32())
	}
	IMULQ(m.stride, m.j)
}

// four returns the sums of the products of four entries.
func (m *masked) four() []reg.VecVirtual {
	return sumOfFour(func(u int) []reg.VecVirtual {
		if m.k >= 16 {
			x := m.x
			if m.short {
				x = m.xAhead
			}
			m.column(m.ahead, u)
			for at := 0; at < 4*m.k; at += 64 {
				PREFETCHT0(Mem{Base: x, Index: m.j, Scale: 1, Disp: at})
			}
		}
		m.column(m.ind, u)
		return m.times(u, m.j, nil)
	})
}

// times returns the products of value u with the row of x at j, zeros where a
// mask says so.
func (m *masked) times(u int, j reg.GPVirtual, mask reg.OpmaskVirtual) (v []reg.VecVirtual) {
	value := Mem{Base: m.val, Disp: 4 * u}
	for at := 0; at < m.k; at += m.lanes {
		r := m.products()
		VMOVUPS(Mem{Base: m.x, Index: j, Scale: 1, Disp: 4 * at}, r)
		if mask != nil {
			VMULPS_BCST_Z(value, r, mask, r)
		} else {
			VMULPS_BCST(value, r, r)
		}
		v = append(v, r)
	}
	return v
}

// lastFour returns the sums of the last one to four entries, and leaves the
// pointers behind them. Masks stand for those that are not there, in place of
// branches that rows of all lengths would make unpredictable; their column is 0.
func (m *masked) lastFour() []reg.VecVirtual {
	count, bits, there := GP64(), GP32(), K()
	MOVQ(m.end, count)
	SUBQ(m.val, count)
	SARQ(U8(2), count)
	ADDQ(U8(4), count)
	MOVL(U32(15), bits)
	BZHIL(count.As32(), bits, bits)
	KMOVW(bits, there)
	counts, columns := m.products(), XMM()
	VPBROADCASTD(count.As32(), counts)
	if m.short {
		VPMOVZXWD_Z(Mem{Base: m.ind}, there, columns)
		LEAQ(Mem{Base: m.ind, Index: count, Scale: 2}, m.ind)
	} else {
		VMOVDQU32_Z(Mem{Base: m.val, Index: m.ind, Scale: 1}, there, columns)
	}
	two := GP64()
	sum := sumOfFour(func(u int) []reg.VecVirtual {
		switch u {
		case 0:
			VMOVQ(columns, two)
		case 2:
			VPEXTRQ(U8(1), columns, two)
		}
		if u%2 == 0 {
			MOVL(two.As32(), m.j.As32())
		} else {
			SHRQ(U8(32), two)
			MOVQ(two, m.j)
		}
		IMULQ(m.stride, m.j)
		if u == 0 {
			return m.times(u, m.j, nil)
		}
		mask := K()
		const greater = 6
		VPCMPUD(U8(greater), m.counts[u], counts, mask)
		return m.times(u, m.j, mask)
	})
	LEAQ(Mem{Base: m.end, Disp: 16}, m.val)
	return sum
}

// add adds float32 sums to the float64 ones.
func (m *masked) add(v []reg.VecVirtual) {
	for g, sum := range m.sums {
		var wide reg.VecVirtual = ZMM()
		switch {
		case m.k == 4:
			wide = YMM()
			VCVTPS2PD(v[0], wide)
		case m.k == 8:
			VCVTPS2PD(v[0], wide)
		case g%2 == 0:
			VCVTPS2PD(v[g/2].AsY(), wide)
		default:
			half := YMM()
			VEXTRACTF64X4(U8(1), v[g/2], half)
			VCVTPS2PD(half, wide)
		}
		VADDPD(wide, sum, sum)
	}
}

// store stores a row and moves on.
func (m *masked) store() {
	for g, sum := range m.sums {
		if m.k == 4 {
			s := XMM()
			VCVTPD2PSY(sum, s)
			VMOVUPS(s, Mem{Base: m.dst})
			continue
		}
		s := YMM()
		VCVTPD2PS(sum, s)
		VMOVUPS(s, Mem{Base: m.dst, Disp: 32 * g})
	}
	MOVQ(vec.Address("dstStride"), m.j)
	LEAQ(Mem{Base: m.dst, Index: m.j, Scale: 4}, m.dst)
}
