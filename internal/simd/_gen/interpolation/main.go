// Command interpolation writes the interpolation between points and the nodes of a tensor grid.
// A vector holds several points, for any number of nodes.
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
	lagrangeBasis(l)
	pointsToNodes(l)
	nodesToPoints(l)
}

// lanes is the number of chains of pointsToNodes. The number of points of a call is a multiple
// of it.
const lanes = 8

// together is the number of nodes, or of rows of nodes, that are computed at once. They
// do not wait for each other.
const together = 4

func clone(r reg.GPVirtual) reg.GPVirtual {
	c := GP64()
	MOVQ(r, c)
	return c
}

// bytes converts a number of float64 numbers to a number of bytes.
func bytes(n reg.GPVirtual) reg.GPVirtual {
	SHLQ(U8(3), n)
	return n
}

// repeat writes a loop that runs n times, n at least one, and leaves n zero.
func repeat(name string, n reg.GPVirtual, body func()) {
	Label(name)
	body()
	DECQ(n)
	JNZ(LabelRef(name))
}

// inParts writes the body for together things at once, as often as possible, and for
// those that are left. It leaves n zero.
func inParts(name string, n reg.GPVirtual, body func(name string, count int)) {
	CMPQ(n, U8(together))
	JL(LabelRef(name + "_few"))
	Label(name)
	body(name, together)
	SUBQ(U8(together), n)
	CMPQ(n, U8(together))
	JGE(LabelRef(name))
	Label(name + "_few")
	for few := together - 1; few > 0; few-- {
		CMPQ(n, U8(few))
		JE(LabelRef(fmt.Sprintf("%s_%d", name, few)))
	}
	JMP(LabelRef(name + "_end"))
	for few := together - 1; few > 0; few-- {
		part := fmt.Sprintf("%s_%d", name, few)
		Label(part)
		body(part, few)
		if few > 1 {
			JMP(LabelRef(name + "_end"))
		}
	}
	Label(name + "_end")
}

func zero(l *vec.Level, v reg.VecVirtual) {
	if l.Lanes == 8 {
		VPXORD(v, v, v)
		return
	}
	VXORPD(v, v, v)
}

// broadcast returns a vector of a number in memory.
func broadcast(l *vec.Level, m Mem) reg.VecVirtual {
	v := l.Wide()
	VBROADCASTSD(m, v)
	return v
}

// addBroadcast adds the products of a vector and a number in memory.
func addBroadcast(l *vec.Level, m Mem, v, sum reg.VecVirtual) {
	product := l.Wide()
	if l.Lanes == 8 {
		VMULPD_BCST(m, v, product)
	} else {
		VMULPD(broadcast(l, m), v, product)
	}
	VADDPD(product, sum, sum)
}

func lagrangeBasis(l *vec.Level) {
	name := "LagrangeBasisF64" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst, t *float64, m uintptr, nodes, factor *float64, p uintptr)")
	Pragma("noescape")
	Doc(name + " is lagrangeBasisGo for p nodes, at least one, and m points, at least one vector.")
	dst, t, m, nodes, factor, p := vec.Argument("dst"), vec.Argument("t"), bytes(vec.Argument("m")), vec.Argument("nodes"), vec.Argument("factor"), vec.Argument("p")
	one := l.Constant("lagrangeBasisOne", 1)
	up := GP64() // bytes of the rows up to the last one
	LEAQ(Mem{Base: p, Disp: -1}, up)
	IMULQ(m, up)
	vectors := clone(m)
	SHRQ(U8(map[int]int{4: 5, 8: 6}[l.Lanes]), vectors)

	Label("vector")
	at := l.Wide()
	VMOVUPD(Mem{Base: t}, at)
	left, right := l.Wide(), l.Wide()
	VMOVAPD(one, left)
	VMOVAPD(one, right)
	low, high := clone(dst), clone(dst)
	ADDQ(up, high)
	a, b, pairs := GP64(), GP64(), clone(p)
	XORQ(a, a)
	LEAQ(Mem{Base: p, Disp: -1}, b)
	of := func(table, i reg.GPVirtual) Mem { return Mem{Base: table, Index: i, Scale: 8} }
	// by multiplies a product with the difference from a node.
	by := func(product reg.VecVirtual, i reg.GPVirtual) {
		difference := l.Wide()
		VSUBPD(broadcast(l, of(nodes, i)), at, difference)
		VMULPD(difference, product, product)
	}
	next := func() {
		by(left, a)
		by(right, b)
		ADDQ(m, low)
		SUBQ(m, high)
		INCQ(a)
		DECQ(b)
	}
	SHRQ(U8(1), pairs)
	JZ(LabelRef("middle"))
	repeat("ends", pairs, func() {
		first, last := l.Wide(), l.Wide()
		VMULPD(broadcast(l, of(factor, a)), left, first)
		VMULPD(broadcast(l, of(factor, b)), right, last)
		VMOVUPD(first, Mem{Base: low})
		VMOVUPD(last, Mem{Base: high})
		next()
	})
	Label("middle")
	TESTQ(U32(1), p)
	JZ(LabelRef("back"))
	both := l.Wide()
	VMULPD(left, right, both)
	VMULPD(broadcast(l, of(factor, a)), both, both)
	VMOVUPD(both, Mem{Base: low})
	next()
	Label("back")
	MOVQ(p, pairs)
	SHRQ(U8(1), pairs)
	JZ(LabelRef("next"))
	repeat("beyond", pairs, func() {
		first, last := l.Wide(), l.Wide()
		VMULPD(Mem{Base: low}, left, first)
		VMULPD(Mem{Base: high}, right, last)
		VMOVUPD(first, Mem{Base: low})
		VMOVUPD(last, Mem{Base: high})
		next()
	})
	Label("next")
	ADDQ(U8(8*l.Lanes), t)
	ADDQ(U8(8*l.Lanes), dst)
	DECQ(vectors)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

func pointsToNodes(l *vec.Level) {
	name := "PointsToNodesF64" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst, rows *float64, r uintptr, last *float64, p uintptr, x *float64, m uintptr)")
	Pragma("noescape")
	Doc(name + " is pointsToNodesGo for r rows of p nodes and m points, all at least one.")
	dst, row, r, last, p, x, m := vec.Argument("dst"), vec.Argument("rows"), vec.Argument("r"), vec.Argument("last"), vec.Argument("p"), vec.Argument("x"), bytes(vec.Argument("m"))
	halves := lanes / l.Lanes
	Label("row")
	column, left := clone(last), clone(p)
	inParts("nodes", left, func(name string, count int) {
		columns := []reg.GPVirtual{column}
		for len(columns) < count {
			columns = append(columns, clone(columns[len(columns)-1]))
			ADDQ(m, columns[len(columns)-1])
		}
		sums := make([][]reg.VecVirtual, count)
		for j := range sums {
			for range halves {
				sum := l.Wide()
				zero(l, sum)
				sums[j] = append(sums[j], sum)
			}
		}
		at := GP64()
		XORQ(at, at)
		Label(name + "_points")
		for h := range halves {
			from := func(p reg.GPVirtual) Mem { return Mem{Base: p, Index: at, Scale: 1, Disp: 8 * l.Lanes * h} }
			v := l.Wide()
			VMOVUPD(from(row), v)
			VMULPD(from(x), v, v)
			for j, column := range columns {
				product := l.Wide()
				VMULPD(from(column), v, product)
				VADDPD(product, sums[j][h], sums[j][h])
			}
		}
		ADDQ(U8(8*lanes), at)
		CMPQ(at, m)
		JL(LabelRef(name + "_points"))
		for _, sum := range sums {
			store(l, sum, dst)
			ADDQ(U8(8), dst)
		}
		LEAQ(Mem{Base: columns[count-1], Index: m, Scale: 1}, column)
	})
	ADDQ(m, row)
	DECQ(r)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// store adds the sum of the chains to a number.
func store(l *vec.Level, chains []reg.VecVirtual, dst reg.GPVirtual) {
	sum := chains[0]
	if l.Lanes == 8 {
		high := YMM()
		VEXTRACTF64X4(U8(1), sum, high)
		VADDPD(high, sum.AsY(), sum.AsY())
	} else {
		VADDPD(chains[1], sum, sum)
	}
	high := XMM()
	VEXTRACTF128(U8(1), sum.AsY(), high)
	VADDPD(high, sum.AsX(), sum.AsX())
	VPERMILPD(U8(1), sum.AsX(), high)
	VADDSD(high, sum.AsX(), sum.AsX())
	VADDSD(Mem{Base: dst}, sum.AsX(), sum.AsX())
	VMOVSD(sum.AsX(), Mem{Base: dst})
}

func nodesToPoints(l *vec.Level) {
	name := "NodesToPointsF64" + l.Suffix
	TEXT(name, NOSPLIT, "func(dst *float64, n uintptr, rows *float64, r uintptr, last *float64, p uintptr, nodes *float64, m uintptr)")
	Pragma("noescape")
	Doc(name + " is nodesToPointsGo for r rows of p nodes and n of m points, all at least one. It does whole vectors.")
	n := vec.Argument("n")
	dst, rows, r, last, p, nodes, m := vec.Argument("dst"), vec.Argument("rows"), vec.Argument("r"), vec.Argument("last"), vec.Argument("p"), vec.Argument("nodes"), bytes(vec.Argument("m"))
	pitch := clone(p)
	bytes(pitch)
	Label("vector")
	sum := l.Wide()
	zero(l, sum)
	row, node, left := clone(rows), clone(nodes), clone(r)
	inParts("rows", left, func(name string, count int) {
		third := GP64()
		LEAQ(Mem{Base: pitch, Index: pitch, Scale: 2}, third)
		of := []Mem{{Base: node}, {Base: node, Index: pitch, Scale: 1}, {Base: node, Index: pitch, Scale: 2}, {Base: node, Index: third, Scale: 1}}
		inner := make([]reg.VecVirtual, count)
		for j := range inner {
			inner[j] = l.Wide()
			zero(l, inner[j])
		}
		column := clone(last)
		repeat(name+"_nodes", clone(p), func() {
			v := l.Wide()
			VMOVUPD(Mem{Base: column}, v)
			for j := range inner {
				addBroadcast(l, of[j], v, inner[j])
			}
			ADDQ(m, column)
			ADDQ(U8(8), node)
		})
		for j := range inner {
			VMULPD(Mem{Base: row}, inner[j], inner[j])
			VADDPD(inner[j], sum, sum)
			ADDQ(m, row)
			if j > 0 {
				ADDQ(pitch, node)
			}
		}
	})
	VMOVUPD(sum, Mem{Base: dst})
	for _, p := range []reg.GPVirtual{dst, rows, last} {
		ADDQ(U8(8*l.Lanes), p)
	}
	SUBQ(U8(l.Lanes), n)
	JG(LabelRef("vector"))
	VZEROUPPER()
	RET()
}
