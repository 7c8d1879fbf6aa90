package simd

// GrowBox extends the box from lo to hi so that it contains x: lo[c] becomes x[c] where
// that is less, and hi[c] becomes x[c] where that is more. Zeros of either sign are
// equal, and a NaN is neither less nor more. GrowBox panics where lo or hi is shorter
// than x.
func (s *Kernels) GrowBox(lo, hi, x []float32) {
	if len(lo) < len(x) || len(hi) < len(x) {
		panic("simd: grow box: short slice")
	}
	lo, hi = lo[:len(x)], hi[:len(x)]
	reads(x)
	writes(lo)
	writes(hi)
	s.growBox(lo, hi, x)
}

// growBoxGo is the reference.
func growBoxGo(lo, hi, x []float32) {
	lo, hi = lo[:len(x)], hi[:len(x)]
	for c, v := range x {
		if v < lo[c] {
			lo[c] = v
		}
		if v > hi[c] {
			hi[c] = v
		}
	}
}
