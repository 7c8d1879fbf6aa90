package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The assembler of Go has no instructions for tiles, so they are written as bytes:
// a VEX prefix of three of them, the opcode, and what it works on. Registers must be
// the processor's own: bytes cannot be allocated later.

// A tile is one of the eight tile registers.
type tile byte

// tileConfigure sets the shapes of all tiles from 64 bytes, and makes them zero.
func tileConfigure(m Mem) { withMemory("AMX-TILE", noPrefix, 0x49, 0, m) }

// tileRelease gives the tiles up, so that nobody has to save them.
func tileRelease() { withTiles("AMX-TILE", noPrefix, 0x49, 0, 0, 0) }

// tileLoad loads rows whose distance in bytes is the index of the address: none
// for the same row over and over.
func tileLoad(m Mem, t tile) { withMemory("AMX-TILE", prefixF2, 0x4b, t, m) }

// tileStore stores rows likewise.
func tileStore(t tile, m Mem) { withMemory("AMX-TILE", prefixF3, 0x4b, t, m) }

// tileMultiply adds the products of signed bytes of a with unsigned bytes of b to c.
func tileMultiply(c, a, b tile) { withTiles("AMX-INT8", prefixF3, 0x5e, c, a, b) }

// What tells instructions of the same opcode apart.
const (
	noPrefix = 0
	prefixF3 = 2
	prefixF2 = 3
)

func withTiles(isa string, prefix, opcode byte, first, second, third tile) {
	bytes(isa, 0xc4, 0xe2, (^byte(third)&15)<<3|prefix, opcode, 3<<6|byte(first)<<3|byte(second))
}

func withMemory(isa string, prefix, opcode byte, t tile, m Mem) {
	// The highest bits of the numbers of registers are stored inverted. The
	// number of the stack pointer stands for no index.
	base, index := number(m.Base), byte(4)
	if m.Index != nil {
		index = number(m.Index)
	}
	high := ^(index>>3<<6 | base>>3<<5) & 0xe0
	bytes(isa, 0xc4, high|2, 15<<3|prefix, opcode,
		2<<6|byte(t)<<3|4, index&7<<3|base&7,
		byte(m.Disp), byte(m.Disp>>8), byte(m.Disp>>16), byte(m.Disp>>24))
}

func number(r reg.Register) byte { return byte(r.(reg.GPPhysical).ID().Index()) }

func bytes(isa string, code ...byte) {
	for _, b := range code {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}, ISA: []string{isa}})
	}
}
