package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Argument loads a parameter of 64 bits.
func Argument(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// Stride loads a distance in float32 numbers, and converts it to bytes.
func Stride(name string) reg.GPVirtual {
	stride := Argument(name)
	SHLQ(U8(2), stride)
	return stride
}

// Address returns the address of a parameter.
func Address(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
