// Command sq_dists_64 writes squared distances, in float64, of a row from chosen rows.
//
// Sums are in 16 lanes, two registers of AVX-512 or four of AVX2. A few rows are
// handled together, so that sums do not wait for each other and x is read and converted
// once for all of them. The columns that do not fill lanes go through masks.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

const (
	lanes = 16
	// Rows may lie anywhere, which the processor cannot predict, so they are prefetched.
	// Short rows, of a few lines, are prefetched whole, some rows before their turn. Each
	// line of a longer row is prefetched while the same line of the row before is read.
	shortLines = 4
	ahead      = 12
)

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	suffix, bytes := "AVX2", 32
	if level == "avx512" {
		suffix, bytes = "AVX512", 64
	}
	name := "SqDistsF64" + suffix
	var window Mem
	if bytes == 32 {
		window = vec.Window("sqDists64Window"+suffix, 4*lanes)
	}

	TEXT(name, NOSPLIT, "func(dst *float64, x *float32, d uintptr, rows *float32, stride uintptr, index *uint32, n uintptr)")
	Pragma("noescape")
	Doc(name + " is sqDists64Go for d columns and n rows, n at least one.")
	dst, x, index := vec.Argument("dst"), vec.Argument("x"), vec.Argument("index")
	n := vec.Address("n")                               // counted in memory: registers are few
	whole, tail := vec.Argument("d"), vec.Argument("d") // bytes of the columns that fill lanes, and the others
	SHRQ(U8(4), whole)
	SHLQ(U8(6), whole)
	ANDQ(U8(lanes-1), tail)
	vectors := 8 * lanes / bytes
	// masked returns a load of the numbers of vector v that are in the tail.
	var masked func(v int, m Mem, r reg.VecVirtual)
	if bytes == 64 {
		bits := GP64()
		MOVQ(I32(-1), bits)
		BZHIQ(tail, bits, bits)
		masks := make([]reg.Register, vectors)
		for v := range masks {
			masks[v] = K()
			KMOVW(bits.As32(), masks[v])
			SHRQ(U8(8), bits)
		}
		masked = func(v int, m Mem, r reg.VecVirtual) { VCVTPS2PD_Z(m, masks[v], r) }
	} else {
		base := GP64()
		LEAQ(window, base)
		SHLQ(U8(2), tail)
		SUBQ(tail, base)
		masked = func(v int, m Mem, r reg.VecVirtual) {
			mask, single := XMM(), XMM()
			VMOVUPS(Mem{Base: base, Disp: v * 16}, mask)
			VMASKMOVPS(m, mask, single)
			VCVTPS2PD(single, r)
		}
	}

	// together is the number of rows whose sums fit into registers, half as many with AVX2.
	together := bytes / 16
	group := func(label string, count int, short bool) {
		CMPQ(n, U8(count))
		JL(LabelRef(label + "Done"))
		Label(label)
		// The current rows, and the next ones.
		y, next, sums := make([]reg.GPVirtual, count), make([]reg.GPVirtual, count), make([][]reg.VecVirtual, count)
		rows, stride := vec.Argument("rows"), vec.Stride("stride")
		find := func(r int, row reg.GPVirtual) {
			MOVL(Mem{Base: index, Disp: 4 * r}, row.As32())
			IMULQ(stride, row)
			ADDQ(rows, row)
		}
		for r := range y {
			y[r], next[r] = GP64(), GP64()
			find(r, y[r])
			if !short {
				MOVQ(y[r], next[r])
			}
			for range vectors {
				sum := vec.Register(bytes)
				VXORPS(sum.AsX(), sum.AsX(), sum.AsX())
				sums[r] = append(sums[r], sum)
			}
		}
		for r := range next {
			if short {
				CMPQ(n, U8(ahead+r))
				JLE(LabelRef(label + "Found"))
				find(ahead+r, next[r])
				for line := range shortLines {
					PREFETCHT0(Mem{Base: next[r], Disp: 64 * line})
				}
			} else {
				CMPQ(n, U8(count+r))
				JLE(LabelRef(label + "Found"))
				find(count+r, next[r])
			}
		}
		Label(label + "Found")
		at := GP64()
		add := func(read func(v int, m Mem, r reg.VecVirtual)) {
			for v := range vectors {
				e := vec.Register(bytes)
				read(v, Mem{Base: x, Index: at, Scale: 1, Disp: v * bytes / 2}, e)
				for r := range y {
					f := vec.Register(bytes)
					read(v, Mem{Base: y[r], Index: at, Scale: 1, Disp: v * bytes / 2}, f)
					VSUBPD(f, e, f)
					VFMADD231PD(f, f, sums[r][v])
				}
			}
		}
		XORQ(at, at)
		TESTQ(whole, whole)
		JZ(LabelRef(label + "Tail"))
		Label(label + "Block")
		if !short {
			for _, row := range next {
				PREFETCHT0(Mem{Base: row, Index: at, Scale: 1})
			}
		}
		add(func(_ int, m Mem, r reg.VecVirtual) { VCVTPS2PD(m, r) })
		ADDQ(U8(4*lanes), at)
		CMPQ(at, whole)
		JNE(LabelRef(label + "Block"))

		Label(label + "Tail")
		TESTQ(U32(lanes-1), vec.Address("d"))
		JZ(LabelRef(label + "Store"))
		add(masked)

		Label(label + "Store")
		for r := range y {
			VMOVSD(reduce(sums[r]).AsX(), Mem{Base: dst, Disp: 8 * r})
		}
		ADDQ(U8(8*count), dst)
		ADDQ(U8(4*count), index)
		SUBQ(U8(count), n)
		CMPQ(n, U8(count))
		JGE(LabelRef(label))
		Label(label + "Done")
	}
	CMPQ(whole, U32(64*shortLines))
	JLE(LabelRef("short"))
	group("rows", together, false)
	JMP(LabelRef("rest"))
	Label("short")
	group("shortRows", together, true)
	Label("rest")
	group("row", 1, false)
	VZEROUPPER()
	RET()
}

// reduce adds the lanes in halves.
func reduce(sums []reg.VecVirtual) reg.VecVirtual {
	bytes := 8 * lanes / len(sums)
	for ; len(sums) > 1; sums = sums[:len(sums)/2] {
		for v := range len(sums) / 2 {
			VADDPD(sums[v+len(sums)/2], sums[v], sums[v])
		}
	}
	t, u := sums[0], vec.Register(bytes)
	if bytes == 64 {
		VEXTRACTF64X4(U8(1), t, u.AsY())
		VADDPD(u.AsY(), t.AsY(), t.AsY())
	}
	VEXTRACTF128(U8(1), t.AsY(), u.AsX())
	VADDPD(u.AsX(), t.AsX(), t.AsX())
	VPERMILPD(U8(1), t.AsX(), u.AsX())
	VADDPD(u.AsX(), t.AsX(), t.AsX())
	return t
}
