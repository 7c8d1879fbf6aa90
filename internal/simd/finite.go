package simd

import "math"

// Finite reports whether all numbers of x are finite: none is infinite or NaN.
func (s *Kernels) Finite(x []float32) bool {
	reads(x)
	return s.finite(x)
}

// infinite are the bits of +Inf, shifted left by one. Those of finite numbers are less,
// and those of NaN more.
const infinite = 0xff000000

// finiteGo is the reference.
func finiteGo(x []float32) bool {
	most := uint32(0)
	for _, v := range x {
		most = max(most, math.Float32bits(v)<<1)
	}
	return most < infinite
}
