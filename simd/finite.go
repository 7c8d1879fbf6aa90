package simd

import "math"

// Finite tells whether no number of x is NaN or infinite.
func (s *Kernels) Finite(x []float32) bool {
	reads(x)
	return s.finite(x)
}

// infinite are the bits of +Inf, shifted left by one: those of finite numbers are
// less and those of NaN more.
const infinite = 0xff000000

// finiteGo is the reference.
func finiteGo(x []float32) bool {
	most := uint32(0)
	for _, v := range x {
		most = max(most, math.Float32bits(v)<<1)
	}
	return most < infinite
}
