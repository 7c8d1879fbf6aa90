// Command weighted_sums writes sums of columns, weighted by the rows or by the columns of
// a block of weights.
//
// Up to three columns of x are handled together, so that a weight is read once for all
// of them. Sums by rows take 8 rows of weights at a time, or 2 on AVX2, which has half
// the registers and two of them for the lanes of a sum. Sums by columns take 64 columns
// of weights or 16, and 8 at the end.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

// lanes is the number of lanes of a sum by rows.
const lanes = 8

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	l := vec.Named(level)
	rows, vectors := 8, []int{8, 1}
	if l.Lanes == 4 {
		rows, vectors = 2, []int{4, 2}
	}
	for columns := 1; columns <= 3; columns++ {
		byRows(l, rows, columns)
	}
	for columns := 1; columns <= 3; columns++ {
		for _, v := range vectors {
			byColumns(l, columns, v)
		}
	}
}

// stride loads a distance in float64 numbers, and converts it to bytes.
func stride(name string) reg.GPVirtual {
	s := vec.Argument(name)
	SHLQ(U8(3), s)
	return s
}

// rowsAt returns the starts of n rows, which are a stride apart.
func rowsAt(name, strideName string, n int) (at []reg.GPVirtual) {
	at = append(at, vec.Argument(name))
	if n == 1 {
		return at
	}
	s := stride(strideName)
	for i := 1; i < n; i++ {
		next := GP64()
		LEAQ(Mem{Base: at[i-1], Index: s, Scale: 1}, next)
		at = append(at, next)
	}
	return at
}

const parameters = "func(dst *float64, dstStride uintptr, w *float64, wStride uintptr, x *float64, xStride uintptr, n uintptr)"

// byRows writes the sums of some rows of weights with some columns of x.
func byRows(l *vec.Level, rows, columns int) {
	name := fmt.Sprintf("WeightedSums%dF64%s", columns, l.Suffix)
	TEXT(name, NOSPLIT, parameters)
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds to %s of sums of %d rows of n weights:", name, vec.Count(columns, "column"), rows),
		"",
		fmt.Sprintf("\tfor c := range %d {", columns),
		fmt.Sprintf("\t\tfor i := range %d {", rows),
		"\t\t\tdst[c*dstStride+i] += sum over j < n of w[i*wStride+j] * x[c*xStride+j]",
		"\t\t}",
		"\t}",
		"",
		fmt.Sprintf("with j in %d lanes. n is at least 8 and a multiple of 8.", lanes))
	x, w := rowsAt("x", "xStride", columns), rowsAt("w", "wStride", min(rows, 4))
	// Addresses of eight rows would take too many registers: four is the distance of
	// rows 4 to 7 from the first four.
	four := GP64()
	if rows > 4 {
		MOVQ(vec.Address("wStride"), four)
		SHLQ(U8(5), four)
	}
	halves := lanes / l.Lanes
	sums := make([][][]reg.VecVirtual, rows)
	for i := range sums {
		for range columns {
			var sum []reg.VecVirtual
			for range halves {
				v := l.Wide()
				l.Clear(v)
				sum = append(sum, v)
			}
			sums[i] = append(sums[i], sum)
		}
	}
	n := vec.Argument("n")
	SHRQ(U8(3), n)
	Label("loop")
	for h := range halves {
		right := make([]reg.VecVirtual, columns)
		for c := range right {
			right[c] = l.Wide()
			VMOVUPD(Mem{Base: x[c], Disp: 8 * l.Lanes * h}, right[c])
		}
		for i := range rows {
			left, from := l.Wide(), Mem{Base: w[i%4], Disp: 8 * l.Lanes * h}
			if i >= 4 {
				from.Index, from.Scale = four, 1
			}
			VMOVUPD(from, left)
			for c, r := range right {
				VFMADD231PD(left, r, sums[i][c][h])
			}
		}
	}
	for _, row := range append(x, w...) {
		ADDQ(U8(8*lanes), row)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	dst, dstStride := vec.Argument("dst"), stride("dstStride")
	for c := range columns {
		for i := range rows {
			sum := reduce(l, sums[i][c])
			VADDSD(Mem{Base: dst, Disp: 8 * i}, sum, sum)
			VMOVSD(sum, Mem{Base: dst, Disp: 8 * i})
		}
		if c+1 < columns {
			ADDQ(dstStride, dst)
		}
	}
	VZEROUPPER()
	RET()
}

// reduce adds the lanes in halves.
func reduce(l *vec.Level, v []reg.VecVirtual) reg.VecVirtual {
	low, high := YMM(), XMM()
	if l.Lanes == 8 {
		VEXTRACTF64X4(U8(1), v[0], low)
		VADDPD(low, v[0].AsY(), low)
		VEXTRACTF64X2(U8(1), low, high)
	} else {
		VADDPD(v[1], v[0], low)
		VEXTRACTF128(U8(1), low, high)
	}
	VADDPD(high, low.AsX(), high)
	sum := XMM()
	VPERMILPD(U8(1), high, sum)
	VADDSD(sum, high, sum)
	return sum
}

// byColumns writes the sums of some vectors of columns of weights with some columns of x.
func byColumns(l *vec.Level, columns, vectors int) {
	name := fmt.Sprintf("WeightedSumsTrans%dx%dF64%s", columns, l.Lanes*vectors, l.Suffix)
	TEXT(name, NOSPLIT, parameters)
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds to %s of sums of %d columns of n weights:", name, vec.Count(columns, "column"), l.Lanes*vectors),
		"",
		fmt.Sprintf("\tfor c := range %d {", columns),
		fmt.Sprintf("\t\tfor j := range %d {", l.Lanes*vectors),
		"\t\t\tfor i := range n {",
		"\t\t\t\tdst[c*dstStride+j] = fma(w[i*wStride+j], x[c*xStride+i], dst[c*dstStride+j])",
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"",
		"n is at least 1.")
	dst, x := rowsAt("dst", "dstStride", columns), rowsAt("x", "xStride", columns)
	w, wStride, n := vec.Argument("w"), stride("wStride"), vec.Argument("n")
	sums := make([][]reg.VecVirtual, columns)
	for c := range sums {
		for v := range vectors {
			sum := l.Wide()
			VMOVUPD(Mem{Base: dst[c], Disp: 8 * l.Lanes * v}, sum)
			sums[c] = append(sums[c], sum)
		}
	}
	Label("row")
	factors := make([]reg.VecVirtual, columns)
	for c := range factors {
		factors[c] = l.Wide()
		VBROADCASTSD(Mem{Base: x[c]}, factors[c])
	}
	for v := range vectors {
		if l.Lanes == 4 && columns == 3 { // no register is left
			for c, f := range factors {
				VFMADD231PD(Mem{Base: w, Disp: 8 * l.Lanes * v}, f, sums[c][v])
			}
			continue
		}
		weights := l.Wide()
		VMOVUPD(Mem{Base: w, Disp: 8 * l.Lanes * v}, weights)
		for c, f := range factors {
			VFMADD231PD(weights, f, sums[c][v])
		}
	}
	for _, row := range x {
		ADDQ(U8(8), row)
	}
	ADDQ(wStride, w)
	DECQ(n)
	JNZ(LabelRef("row"))
	for c := range sums {
		for v, sum := range sums[c] {
			VMOVUPD(sum, Mem{Base: dst[c], Disp: 8 * l.Lanes * v})
		}
	}
	VZEROUPPER()
	RET()
}
