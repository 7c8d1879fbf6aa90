package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Coordinate sets a vector to a float32 number in memory, in all its lanes.
func Coordinate(from reg.GPVirtual, v reg.VecVirtual) {
	x := XMM()
	VXORPS(x, x, x) // the conversion leaves the upper half as it is
	VCVTSS2SD(Mem{Base: from}, x, x)
	VBROADCASTSD(x, v)
}

// AddSquare adds the square of e to the sum, or sets the sum to it on the first axis. It
// changes e.
func AddSquare(axis int, e, sum reg.VecVirtual) {
	if axis == 0 {
		VMULPD(e, e, sum)
		return
	}
	VMULPD(e, e, e)
	VADDPD(e, sum, sum)
}
