package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/seed-64e14a55/privatemail/internal/simd/_gen/vec"
)

// A tile of pieces is up to 16 pieces by 64 places, a tile of the panel is 16 lines by 16
// rows, and a tile of sums is up to 16 pieces by 16 rows.
const tileBytes = 1024

// The tiles in use: sums of two tiles of pieces by two groups of rows, two tiles of pieces and
// two of the panel.
var (
	sumTiles   = [2][2]vec.Tile{{0, 1}, {2, 3}} // by group, then by tile of pieces
	pieceTiles = [2]vec.Tile{4, 5}
	panelTiles = [2]vec.Tile{6, 7}
)

// The registers in use.
var (
	sumsR, strideR, panelR, groupR, groupsR, packedR, piecesR = reg.RSI, reg.RDI, reg.R8, reg.R9, reg.R10, reg.R11, reg.R12

	line   = reg.RBX // 64, the bytes of a line
	work   = reg.RDX // where tiles are stored, then the configuration
	tall   = reg.R13 // the bytes of a tile of pieces
	first  = reg.R14 // lines of the first group
	second = reg.R15 // lines of the second group
	at     = reg.RCX // in packed
	count  = reg.RAX
)

// tiles writes the function for all groups of rows and some blocks of pieces. All blocks have
// the same number of pieces, half of them in each tile, since smaller tiles take less time.
func tiles() {
	config := GLOBL("mulWordsConfig", RODATA|NOPTR)
	for at, v := range []uint64{
		1, 0, // the palette
		0x40004000400040, 0x40004000400040, 0, 0, // bytes of a row
		0x1010000000000000, 0, // rows; those of pieces and sums are set below
	} {
		DATA(8*at, U64(v))
	}

	// The frame is too large for NOSPLIT. The stack can only grow before the first
	// instruction; nothing else can switch goroutines in here.
	const name = "MulWordsAMX"
	TEXT(name, 0, "func(sums *uint32, stride uintptr, panel *int8, group, groups, depth uintptr, packed *uint32, block, blocks, half uintptr, pieces *[2]uint32)")
	Pragma("noescape")
	Doc(name+" adds the products of groups of 16 rows with blocks of bytes of words.", "",
		"\tfor r := range 16*groups {",
		"\t\tfor i := range blocks*2*half {",
		"\t\t\tsum, first := 0, i/(2*half)*block",
		"\t\t\tfor t := range depth {",
		"\t\t\t\tsum += panel[(r/16)*group+(t/4)*64+(r%16)*4+t%4] * packed[first+(t/64)*128*half+i%(2*half)*64+t%64]",
		"\t\t\t}",
		"\t\t\tsums[pieces[i][0]*stride+r] += sum << pieces[i][1]",
		"\t\t}",
		"\t}", "",
		"stride counts words, group and block bytes. half is at most 16. It needs the permission of",
		"the operating system to use tiles.")
	local := AllocLocal(4*tileBytes + 64 + 64)
	LEAQ(local, work)
	ADDQ(U8(63), work)
	ANDQ(I8(-64), work)
	configuration := Mem{Base: work, Disp: 4 * tileBytes}
	VMOVDQU32(config, reg.Z0)
	VMOVDQU32(reg.Z0, configuration)
	Load(Param("half"), tall)
	for t := range vec.Tile(6) {
		MOVB(reg.R13B, configuration.Offset(48+int(t)))
	}
	vec.TileConfigure(configuration)
	SHLQ(U8(6), tall)
	Load(Param("sums"), sumsR)
	Load(Param("stride"), strideR)
	SHLQ(U8(2), strideR)
	Load(Param("panel"), panelR)
	Load(Param("group"), groupR)
	Load(Param("groups"), groupsR)
	MOVQ(U32(64), line)

	// The number of blocks left is on the stack.
	left := Mem{Base: work, Disp: 4*tileBytes + 56}
	Label("groups")
	Load(Param("packed"), packedR)
	Load(Param("pieces"), piecesR)
	Load(Param("blocks"), count)
	MOVQ(count, left)

	Label("blocks")
	multiply()
	addSums()
	ADDQ(vec.Address("block"), packedR)
	DECQ(left)
	JNZ(LabelRef("blocks"))

	ADDQ(I32(128), sumsR)
	LEAQ(Mem{Base: panelR, Index: groupR, Scale: 2}, panelR)
	SUBQ(U8(2), groupsR)
	JG(LabelRef("groups"))
	vec.TileRelease()
	VZEROUPPER()
	RET()
}

// multiply computes the sums of a block and two groups, and stores them. Where one group is
// left it stands for both.
func multiply() {
	MOVQ(panelR, first)
	MOVQ(panelR, second)
	CMPQ(groupsR, U8(1))
	JEQ(LabelRef("single"))
	ADDQ(groupR, second)
	Label("single")
	MOVQ(packedR, at)
	Load(Param("depth"), count)
	for _, sums := range sumTiles {
		for _, sum := range sums {
			vec.TileClear(sum)
		}
	}
	Label("places")
	vec.TileLoad(Mem{Base: at, Index: line}, pieceTiles[0])
	vec.TileLoad(Mem{Base: first, Index: line}, panelTiles[0])
	vec.TileMultiplyUS(sumTiles[0][0], pieceTiles[0], panelTiles[0])
	ADDQ(tall, at)
	vec.TileLoad(Mem{Base: at, Index: line}, pieceTiles[1])
	vec.TileMultiplyUS(sumTiles[0][1], pieceTiles[1], panelTiles[0])
	vec.TileLoad(Mem{Base: second, Index: line}, panelTiles[1])
	vec.TileMultiplyUS(sumTiles[1][0], pieceTiles[0], panelTiles[1])
	vec.TileMultiplyUS(sumTiles[1][1], pieceTiles[1], panelTiles[1])
	ADDQ(tall, at)
	ADDQ(U32(tileBytes), first)
	ADDQ(U32(tileBytes), second)
	SUBQ(U8(64), count)
	JNZ(LabelRef("places"))
	LEAQ(Mem{Base: work, Index: tall, Scale: 1}, at)
	for g, sums := range sumTiles {
		vec.TileStore(sums[0], Mem{Base: work, Index: line, Disp: g * 2 * tileBytes})
		vec.TileStore(sums[1], Mem{Base: at, Index: line, Disp: g * 2 * tileBytes})
	}
}

// addSums adds the stored sums to those of the words, and moves on to the next pieces.
func addSums() {
	MOVQ(work, at)
	LEAQ(Mem{Base: work, Index: tall, Scale: 2}, count)
	to, by := first, reg.X1
	Label("pieces")
	MOVL(Mem{Base: piecesR}, reg.R14L)
	IMULQ(strideR, to)
	ADDQ(sumsR, to)
	VMOVD(Mem{Base: piecesR, Disp: 4}, by)
	for g, sum := range []reg.VecPhysical{reg.Z2, reg.Z3} {
		if g == 1 {
			CMPQ(groupsR, U8(1))
			JEQ(LabelRef("added"))
		}
		there := Mem{Base: to, Disp: 64 * g}
		VMOVDQU32(Mem{Base: at, Disp: g * 2 * tileBytes}, sum)
		VPSLLD(by, sum, sum)
		VPADDD(there, sum, sum)
		VMOVDQU32(sum, there)
	}
	Label("added")
	ADDQ(U8(8), piecesR)
	ADDQ(U8(64), at)
	CMPQ(at, count)
	JLT(LabelRef("pieces"))
}
