package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Window writes n bytes of ones followed by n bytes of zeros, n a multiple of eight, and
// returns where the zeros begin. Memory that begins some lanes before the zeros is a mask
// of that many lanes.
func Window(name string, n int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for at := 0; at < 2*n; at += 8 {
		ones := uint64(1<<64 - 1)
		if at >= n {
			ones = 0
		}
		DATA(at, U64(ones))
	}
	return m.Offset(n)
}
