package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

// A tile of sums is 16 rows by 16 columns, a tile of a is 16 rows by 64 places, and a
// tile of the panel is 16 lines by 16 columns.
const (
	tileRows  = 16
	tileBytes = 1024
)

// The tiles in use: sums of two times two, two of rows and two of columns.
var (
	sumTiles    = [2][2]vec.Tile{{0, 1}, {2, 3}}
	rowTiles    = [2]vec.Tile{4, 5}
	columnTiles = [2]vec.Tile{6, 7}
)

// The registers in use.
var (
	maskR, thresholdR, aR, panelR, depthR, leftR, rowsR, biasR = reg.RSI, reg.RDI, reg.R8, reg.R9, reg.R10, reg.R11, reg.R12, reg.R13

	line   = reg.RBX // 64, the bytes of a line
	work   = reg.RDX // where tiles are stored, then the configuration
	second = reg.RCX // the second tile of rows
	right  = reg.R14 // the second tile of columns
	stride = right   // of the mask, after the tiles of columns
	count  = reg.RAX
)

// tiles writes the function for all rows. Shapes change at most once, for the rows that
// do not fill a tile.
func tiles() {
	config := GLOBL("byteDotsAboveConfig", RODATA|NOPTR)
	for at, v := range []uint64{
		1, 0, // the palette
		0x40004000400040, 0x40004000400040, 0, 0, // bytes of a row
		0x1010101010101010, 0, // rows
	} {
		DATA(8*at, U64(v))
	}

	// The frame is too large for NOSPLIT. The stack can only grow before the first
	// instruction; nothing else can switch goroutines in here.
	const name = "ByteDotsAboveAMX"
	TEXT(name, 0, "func(mask *uint64, a *int8, panel *uint8, depth, columns, rows uintptr, bias, threshold *int32)")
	Pragma("noescape")
	Doc(name+" compares the products of rows with their thresholds.", "",
		"\tfor i := range rows {",
		"\t\tfor j := range columns {",
		"\t\t\tsum := bias[j]",
		"\t\t\tfor t := range depth {",
		"\t\t\t\tsum += a[i*depth+t] * panel[(j/16)*16*depth+(t/4)*64+(j%16)*4+t%4]",
		"\t\t\t}",
		"\t\t\tbit j%64 of mask[(i*columns+j)/64] = sum >= threshold[i]",
		"\t\t}",
		"\t}", "",
		"It needs the permission of the operating system to use tiles.")
	local := AllocLocal(4*tileBytes + 64 + 64)
	LEAQ(local, work)
	ADDQ(U8(63), work)
	ANDQ(I8(-64), work)
	configuration := Mem{Base: work, Disp: 4 * tileBytes}
	VMOVDQU32(config, reg.Z0)
	VMOVDQU32(reg.Z0, configuration)
	vec.TileConfigure(configuration)
	Load(Param("mask"), maskR)
	Load(Param("a"), aR)
	Load(Param("depth"), depthR)
	Load(Param("rows"), rowsR)
	Load(Param("threshold"), thresholdR)
	MOVQ(U32(64), line)

	Label("pair")
	CMPQ(rowsR, U8(2*tileRows))
	JLT(LabelRef("single"))
	strip("pair", 2, nil)
	SUBQ(U8(2*tileRows), rowsR)
	JMP(LabelRef("pair"))

	Label("single")
	CMPQ(rowsR, U8(tileRows))
	JLT(LabelRef("rest"))
	strip("single", 1, nil)
	SUBQ(U8(tileRows), rowsR)

	Label("rest")
	TESTQ(rowsR, rowsR)
	JZ(LabelRef("done"))
	for _, t := range []vec.Tile{sumTiles[0][0], sumTiles[0][1], rowTiles[0]} {
		MOVB(reg.R12B, configuration.Offset(48+int(t)))
	}
	vec.TileConfigure(configuration)
	strip("rest", 1, rowsR)

	Label("done")
	vec.TileRelease()
	VZEROUPPER()
	RET()
}

// strip writes the products of one or two tiles of rows with all columns, 32 at a
// time. The number of rows may be in a register, if it is less than a tile has. The sums of
// some columns are compared while the next are multiplied, and overwritten only afterwards:
// a product takes long, and a store waits for it. The registers of rows, masks and
// thresholds move on to the next strip.
func strip(name string, tall int, fewer reg.Register) {
	Load(Param("columns"), leftR)
	Load(Param("panel"), panelR)
	Load(Param("bias"), biasR)
	if fewer == nil {
		for i, v := range thresholds[:tall*tileRows] {
			VPBROADCASTD(Mem{Base: thresholdR, Disp: 4 * i}, v)
		}
	}
	multiply(name+"First", tall, false)
	JMP(LabelRef(name + "Store"))
	Label(name + "Columns")
	multiply(name+"Next", tall, true)
	compareRows(name+"Before", tall, fewer)
	ADDQ(U8(4), maskR)
	Label(name + "Store")
	for i, sums := range sumTiles[:tall] {
		for v, sum := range sums {
			vec.TileStore(sum, Mem{Base: work, Index: line, Disp: (2*i + v) * tileBytes})
		}
	}
	SUBQ(U8(32), leftR)
	JNZ(LabelRef(name + "Columns"))
	compareRows(name+"Last", tall, fewer)

	SUBQ(stride, count) // the last row: its bits end where those of the next begin
	LEAQ(Mem{Base: count, Disp: 4}, maskR)
	ADDQ(U8(tall*tileRows*4), thresholdR)
	MOVQ(depthR, second)
	SHLQ(U8(4), second)
	for range tall {
		ADDQ(second, aR)
	}
}

// multiply computes the sums of 32 columns and moves on to the next. When it is called
// again and there is only one tile of places, the tiles of rows are still loaded.
func multiply(name string, tall int, again bool) {
	MOVQ(depthR, right)
	SHLQ(U8(4), right)
	LEAQ(Mem{Base: aR, Index: right, Scale: 1}, second)
	ADDQ(panelR, right)
	for _, sums := range sumTiles[:tall] {
		for v, sum := range sums {
			vec.TileLoad(Mem{Base: biasR, Disp: 64 * v}, sum)
		}
	}
	if again { // of the least depth
		CMPQ(depthR, U8(64))
		JNE(LabelRef(name + "Deep"))
		for v, from := range []Mem{{Base: panelR, Index: line}, {Base: right, Index: line}} {
			vec.TileLoad(from, columnTiles[v])
			for i, sums := range sumTiles[:tall] {
				vec.TileMultiplySU(sums[v], rowTiles[i], columnTiles[v])
			}
		}
		ADDQ(U32(tileBytes), right)
		JMP(LabelRef(name + "Done"))
		Label(name + "Deep")
	}
	MOVQ(depthR, count)
	Label(name + "Places")
	vec.TileLoad(Mem{Base: aR, Index: depthR}, rowTiles[0])
	vec.TileLoad(Mem{Base: panelR, Index: line}, columnTiles[0])
	vec.TileMultiplySU(sumTiles[0][0], rowTiles[0], columnTiles[0])
	if tall > 1 {
		vec.TileLoad(Mem{Base: second, Index: depthR}, rowTiles[1])
		vec.TileMultiplySU(sumTiles[1][0], rowTiles[1], columnTiles[0])
	}
	vec.TileLoad(Mem{Base: right, Index: line}, columnTiles[1])
	vec.TileMultiplySU(sumTiles[0][1], rowTiles[0], columnTiles[1])
	if tall > 1 {
		vec.TileMultiplySU(sumTiles[1][1], rowTiles[1], columnTiles[1])
		ADDQ(U8(64), second)
	}
	ADDQ(U8(64), aR)
	ADDQ(U32(tileBytes), panelR)
	ADDQ(U32(tileBytes), right)
	SUBQ(U8(64), count)
	JNZ(LabelRef(name + "Places"))
	SUBQ(depthR, aR)
	if again {
		Label(name + "Done")
	}
	MOVQ(right, panelR) // the third group of columns begins where the second ends
	ADDQ(U8(128), biasR)
}

// compareRows writes the bits of 32 columns to the address in maskR, from the stored
// tiles. It leaves count after the last row.
func compareRows(name string, tall int, fewer reg.Register) {
	Load(Param("columns"), stride)
	SHRQ(U8(3), stride)
	MOVQ(maskR, count)
	row := func(threshold reg.VecPhysical, sums Mem) {
		for v, k := range []reg.Register{reg.K1, reg.K2} {
			VPCMPD(U8(lessOrEqual), sums.Offset(v*tileBytes), threshold, k)
		}
		KUNPCKWD(reg.K1, reg.K2, reg.K1)
		KMOVD(reg.K1, Mem{Base: count})
		ADDQ(stride, count)
	}
	if fewer == nil {
		for i, v := range thresholds[:tall*tileRows] {
			row(v, Mem{Base: work, Disp: i/tileRows*2*tileBytes + i%tileRows*64})
		}
		return
	}
	at, from := second, reg.R15
	XORQ(at, at)
	MOVQ(work, from)
	Label(name + "Rows")
	VPBROADCASTD(Mem{Base: thresholdR, Index: at, Scale: 4}, reg.Z0)
	row(reg.Z0, Mem{Base: from})
	ADDQ(U8(64), from)
	INCQ(at)
	CMPQ(at, fewer)
	JLT(LabelRef(name + "Rows"))
}

// thresholds are the registers that hold those of up to 32 rows.
var thresholds = []reg.VecPhysical{
	reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
}

const lessOrEqual = 2

// xgetbv writes the function that asks which registers the operating system saves.
func xgetbv() {
	TEXT("SavedByOS", NOSPLIT, "func() uint32")
	Pragma("noescape")
	Doc("SavedByOS returns the low half of the register that says which parts of the state of a", "thread the operating system saves. The processor must have XSAVE, and the system use it.")
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	Store(reg.EAX, ReturnIndex(0))
	RET()
}
