package simd

// MulTrans multiplies the transpose of a thin block with a wide one:
//
//	dst[c*dstStride+t] = sum over r < rows of w[r*wStride+c] a[r*aStride+t]
//
// for c < k and t < cols. Products are rounded to float32 and added in the order of
// the rows, in float32: the error is at most (rows+1) 2^-24 times the sum of
// |w a|, so blocks are to be short, and sums over many of them float64. It has the
// same bits at every level. MulTrans panics where a slice is too short; it allocates
// nothing. dst must not overlap w or a.
func (s *Kernels) MulTrans(dst []float32, dstStride int, w []float32, wStride, k int, a []float32, aStride, rows, cols int) {
	switch {
	case k < 0 || rows < 0 || cols < 0 || dstStride < cols || wStride < k || aStride < cols:
		panic("simd: mul trans: bad shape")
	case k == 0 || cols == 0:
		return
	case !holds(len(dst), k, dstStride, cols):
		panic("simd: mul trans: short destination")
	case rows > 0 && (!holds(len(w), rows, wStride, k) || !holds(len(a), rows, aStride, cols)):
		panic("simd: mul trans: short slice")
	}
	if rows > 0 {
		reads(w[:(rows-1)*wStride+k])
		reads(a[:(rows-1)*aStride+cols])
	}
	writes(dst[:(k-1)*dstStride+cols])
	s.mulTrans(dst, dstStride, w, wStride, k, a, aStride, rows, cols)
}

func mulTransGo(dst []float32, dstStride int, w []float32, wStride, k int, a []float32, aStride, rows, cols int) {
	for c := range k {
		out := dst[c*dstStride:][:cols]
		clear(out)
		for r := range rows {
			f, row := w[r*wStride+c], a[r*aStride:][:cols]
			for t, v := range row {
				out[t] += float32(f * v)
			}
		}
	}
}
