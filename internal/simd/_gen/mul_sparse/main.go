// Command mul_sparse writes the kernels of the product of sparse rows with a dense
// matrix, one function for each number of columns.
//
// Products are added in float32, four entries of a row at a time into two sums, and every
// 32 entries these are added to a sum in float64. Converting every number of x takes 1.8
// times as long with 32 columns, and converting the sum of every four products 1.2 times.
// Nothing is fused, so that plain Go has the same bits. The order is the same for every
// width and level, and so are the bits. It also suits one and two columns, where a vector
// has several entries.
//
// Columns are loaded one by one into an address, which beats a gather where a row of x is
// one vector load. Gathers are for one or two columns with AVX-512, on processors with
// fast gathers; others use the kernels of AVX2 there. A row ends without branches on its
// length, which are hard to predict: where fewer than four entries are left, the last one
// is repeated, and the extra products are zeros.
//
// Memory is prefetched: columns and values, and one row of x for each row of the matrix,
// far after the current one. In matrices whose rows lie along a curve other rows will soon
// read that row of x, and none has yet. From 16 columns on, rows whose columns are far
// apart also prefetch the rows of x of other entries, which makes products in random order
// up to 1.8 times as fast. Near columns are in the cache, and prefetching them costs a
// tenth.
//
// In the kernels named Offsets, columns are offsets of 16 bits from a base column of
// each row. They move x to the base once per row, and are otherwise the same: nothing
// is decoded.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

const (
	// block is the number of entries of a row that are added in float32.
	block = 32
	// streamed is how many entries ahead columns and values are prefetched.
	streamed = 512
)

func main() { vec.Write(write, "avx2", "avx512") }

func write(level string) {
	if level == "avx512" {
		for _, k := range []int{1, 2} {
			gathered(k, plain)
			gathered(k, short)
			gathered(k, shortHalf)
		}
		for _, k := range []int{4, 8, 16, 32} {
			wideAVX512(k, plain)
			wideAVX512(k, short)
		}
		return
	}
	window := vec.Window("mulSparseWindowAVX2", 16)
	for _, k := range []int{1, 2} {
		few(k, plain, window)
		few(k, short, window)
		few(k, shortHalf, window)
	}
	for _, k := range []int{4, 8, 16, 32} {
		wideAVX2(k, plain, window)
		wideAVX2(k, short, window)
	}
}

// A variant is a way to store columns and values.
type variant struct {
	name, columns, value string // type of functions, parameters
	column               string // in the comment
}

var (
	plain     = variant{"MulSparse%dF32", "ind *uint32", "float32", "ind[p+e]"}
	short     = variant{"MulSparseOffsets%dF32", "base *uint32, off *uint16", "float32", "(base[r]+off[p+e])"}
	shortHalf = variant{"MulSparseOffsets%dF16", "base *uint32, off *uint16", "uint16", "(base[r]+off[p+e])"}
)

func sign(k int, v variant, suffix string) {
	name := fmt.Sprintf(v.name, k) + suffix
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, %s, val *%s, nnz uintptr, x *float32, stride uintptr)", v.columns, v.value))
	Pragma("noescape")
	Doc(name+" computes "+vec.Count(k, "column")+" of the product of sparse rows with x.",
		"",
		"\tfor r := range rows {",
		"\t\tsum := 0.0 // for each column",
		"\t\tfor p := ptr[r]; p < ptr[r+1]; {",
		"\t\t\tvar even, odd float32",
		fmt.Sprintf("\t\t\tfor end := min(p+%d, ptr[r+1]); p < end; p += 4 {", block),
		"\t\t\t\tvar v [4]float32",
		"\t\t\t\tfor e := range min(4, end-p) {",
		"\t\t\t\t\tv[e] = val[p+e] * x["+v.column+"*stride+column]",
		"\t\t\t\t}",
		"\t\t\t\teven += v[0] + v[2]",
		"\t\t\t\todd += v[1] + v[3]",
		"\t\t\t}",
		"\t\t\tsum += float64(even + odd)",
		"\t\t}",
		"\t\tdst[r*dstStride+column] = float32(sum)",
		"\t}",
		"",
		"Columns and values have nnz entries. Only those of the rows and those to prefetch are",
		"read.")
}

// rows is the state shared by the kernels that load columns one by one. Values are read
// at a plain pointer, and columns at a distance from that.
type rows struct {
	k     int
	short bool // columns are offsets of 16 bits
	half  bool // values have 16 bits

	ptr         reg.GPVirtual // the row pointer at hand
	val, next   reg.GPVirtual // the next value, the first of the next block
	limit       reg.GPVirtual // four entries before the end of the row's
	ind         reg.GPVirtual // the columns' distance from val; if apart, the next offset
	x, stride   reg.GPVirtual // x moved to a row's base if short
	base        reg.GPVirtual // if short: that of the next row
	cols, final reg.GPVirtual // in the last four: the first column, the number of the last entry
}

// value returns the number of bytes of a value.
func (r *rows) value() int {
	if r.half {
		return 2
	}
	return 4
}

// apart reports whether columns and values differ in size, so that each has its own pointer.
func (r *rows) apart() bool { return r.short && !r.half }

// load loads the arguments. It replaces the number of rows by the end of the row
// pointers.
func (r *rows) load() {
	r.ptr = vec.Argument("ptr")
	last := vec.Argument("rows")
	LEAQ(Mem{Base: r.ptr, Index: last, Scale: 8}, last)
	MOVQ(last, vec.Address("rows"))
	r.stride = vec.Stride("stride")
	r.val = vec.Argument("val")
	r.next, r.limit = GP64(), GP64()
	first := GP64()
	MOVQ(Mem{Base: r.ptr}, first)
	if r.short {
		r.base = vec.Argument("base")
		r.ind = vec.Argument("off")
		r.x = GP64()
	} else {
		r.ind = vec.Argument("ind")
		r.x = vec.Argument("x")
	}
	if r.apart() {
		LEAQ(Mem{Base: r.ind, Index: first, Scale: 2}, r.ind)
	} else {
		SUBQ(r.val, r.ind)
	}
	LEAQ(Mem{Base: r.val, Index: first, Scale: uint8(r.value())}, r.val)
}

// begin starts a row: it finds its base and its end, and goes on to its product or, if it
// has no entries, to storing it.
func (r *rows) begin() {
	MOVQ(Mem{Base: r.ptr, Disp: 8}, r.limit)
	ADDQ(U8(8), r.ptr)
	SHLQ(U8(r.value()/2), r.limit)
	ADDQ(vec.Address("val"), r.limit)
	if r.short {
		j := GP64()
		MOVL(Mem{Base: r.base}, j.As32())
		ADDQ(U8(4), r.base)
		IMULQ(r.stride, j)
		MOVQ(vec.Address("x"), r.x)
		ADDQ(j, r.x)
	}
	r.stream()
	LEAQ(Mem{Base: r.val, Disp: r.value() * block}, r.next)
	CMPQ(r.val, r.limit)
	JGE(LabelRef("store"))
	SUBQ(U8(4*r.value()), r.limit)
}

// stream prefetches the columns and values of a block's number of entries, far enough
// ahead for memory to deliver them in time. The processor's own prefetching is not
// enough: with stream, products with two columns are 1.4 times as fast.
func (r *rows) stream() {
	ahead := r.value() * streamed
	if r.apart() {
		PREFETCHT0(Mem{Base: r.ind, Disp: 2 * streamed})
	}
	for line := 0; line < r.value()*block; line += 64 {
		if !r.apart() {
			PREFETCHT0(Mem{Base: r.val, Index: r.ind, Scale: 1, Disp: ahead + line})
		}
		PREFETCHT0(Mem{Base: r.val, Disp: ahead + line})
	}
}

// each runs body for every group of four entries of a row except the last, and endBlock
// after each block. A test for the end of the block in every group is easier to predict
// than a loop over blocks.
func (r *rows) each(label string, body, endBlock func()) {
	Label(label)
	body()
	ADDQ(U8(4*r.value()), r.val)
	if r.apart() {
		ADDQ(U8(8), r.ind)
	}
	CMPQ(r.val, r.next)
	JNE(LabelRef(label + "On"))
	endBlock()
	r.stream()
	ADDQ(I32(r.value()*block), r.next)
	Label(label + "On")
	CMPQ(r.val, r.limit)
	JLT(LabelRef(label))
}

// column loads a column, or its offset, at a place given in the form of r.ind.
func (r *rows) column(ind reg.GPVirtual, e int, j reg.GPVirtual) {
	switch {
	case r.apart():
		MOVWLZX(Mem{Base: ind, Disp: 2 * e}, j.As32())
	case r.half:
		MOVWLZX(Mem{Base: r.val, Index: ind, Scale: 1, Disp: 2 * e}, j.As32())
	default:
		MOVL(Mem{Base: r.val, Index: ind, Scale: 1, Disp: 4 * e}, j.As32())
	}
}

// beginLast prepares the last one to four entries of a row and returns their number
// times four.
func (r *rows) beginLast() (bytes reg.GPVirtual) {
	bytes, r.final, r.cols = GP64(), GP64(), r.ind
	LEAQ(Mem{Base: r.limit, Disp: 4 * r.value()}, bytes)
	SUBQ(r.val, bytes)
	if r.half {
		ADDQ(bytes, bytes)
	}
	MOVQ(bytes, r.final)
	SHRQ(U8(2), r.final)
	DECQ(r.final)
	if !r.apart() {
		r.cols = GP64()
		LEAQ(Mem{Base: r.val, Index: r.ind, Scale: 1}, r.cols)
	}
	return bytes
}

// lastColumn sets e to n, or to the number of the last entry if that is less, and loads
// the column of that entry.
func (r *rows) lastColumn(n int, e, j reg.GPVirtual) {
	MOVL(U32(n), e.As32())
	if n > 0 {
		CMPQ(e, r.final)
		CMOVQGT(r.final, e)
	}
	if r.short {
		MOVWLZX(Mem{Base: r.cols, Index: e, Scale: 2}, j.As32())
	} else {
		MOVL(Mem{Base: r.cols, Index: e, Scale: 4}, j.As32())
	}
}

// endLast moves past the last entries.
func (r *rows) endLast() {
	LEAQ(Mem{Base: r.limit, Disp: 4 * r.value()}, r.val)
	if r.apart() {
		LEAQ(Mem{Base: r.ind, Index: r.final, Scale: 2, Disp: 2}, r.ind)
	}
}

// loop ends a row and continues with the next one.
func (r *rows) loop() {
	CMPQ(r.ptr, vec.Address("rows"))
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}
