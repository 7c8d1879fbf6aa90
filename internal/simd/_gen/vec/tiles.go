package vec

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The assembler of Go has no instructions for tiles, so they are written as bytes: a
// VEX prefix of three bytes, the opcode, and the operands. Registers must be physical
// ones, since avo cannot allocate them within bytes.

// A Tile is one of the eight tile registers.
type Tile byte

// TileConfigure sets the shapes of all tiles from 64 bytes, and makes them zero.
func TileConfigure(m Mem) { withMemory("AMX-TILE", noPrefix, 0x49, 0, m) }

// TileRelease releases the tiles, so that the operating system need not save them.
func TileRelease() { withTiles("AMX-TILE", noPrefix, 0x49, 0, 0, 0) }

// TileLoad loads rows. The index of the address is their distance in bytes; without an
// index all rows are the same.
func TileLoad(m Mem, t Tile) { withMemory("AMX-TILE", prefixF2, 0x4b, t, m) }

// TileStore stores rows, with addresses as for TileLoad.
func TileStore(t Tile, m Mem) { withMemory("AMX-TILE", prefixF3, 0x4b, t, m) }

// TileClear makes a tile zero.
func TileClear(t Tile) { withTiles("AMX-TILE", prefixF2, 0x49, t, 0, 0) }

// TileMultiplySU adds the products of signed bytes of a with unsigned bytes of b to c.
func TileMultiplySU(c, a, b Tile) { withTiles("AMX-INT8", prefixF3, 0x5e, c, a, b) }

// TileMultiplyUS adds the products of unsigned bytes of a with signed bytes of b to c.
func TileMultiplyUS(c, a, b Tile) { withTiles("AMX-INT8", prefix66, 0x5e, c, a, b) }

// The prefixes distinguish instructions with the same opcode.
const (
	noPrefix = 0
	prefix66 = 1
	prefixF3 = 2
	prefixF2 = 3
)

func withTiles(isa string, prefix, opcode byte, first, second, third Tile) {
	code(isa, 0xc4, 0xe2, (^byte(third)&15)<<3|prefix, opcode, 3<<6|byte(first)<<3|byte(second))
}

func withMemory(isa string, prefix, opcode byte, t Tile, m Mem) {
	// The highest bits of register numbers are stored inverted. The number of the stack
	// pointer means no index.
	base, index := number(m.Base), byte(4)
	if m.Index != nil {
		index = number(m.Index)
	}
	high := ^(index>>3<<6 | base>>3<<5) & 0xe0
	code(isa, 0xc4, high|2, 15<<3|prefix, opcode,
		2<<6|byte(t)<<3|4, index&7<<3|base&7,
		byte(m.Disp), byte(m.Disp>>8), byte(m.Disp>>16), byte(m.Disp>>24))
}

func number(r reg.Register) byte { return byte(r.(reg.GPPhysical).ID().Index()) }

func code(isa string, bytes ...byte) {
	for _, b := range bytes {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}, ISA: []string{isa}})
	}
}
