package simd

// Centre moves and scales rows:
//
//	dst[r*dstStride+t] = (x[r*stride+t] - centre[t]) scale,   t < len(centre),
//
// for r < rows, the difference rounded to float32 before it is multiplied. It has
// the same bits at every level, panics where a slice is too short and allocates
// nothing.
func (s *Kernels) Centre(dst []float32, dstStride int, x []float32, stride, rows int, centre []float32, scale float32) {
	d := len(centre)
	switch {
	case rows < 0 || dstStride < d || stride < d:
		panic("simd: centre: bad shape")
	case rows == 0 || d == 0:
		return
	case !holds(len(dst), rows, dstStride, d):
		panic("simd: centre: short destination")
	case !holds(len(x), rows, stride, d):
		panic("simd: centre: short x")
	}
	reads(x[:(rows-1)*stride+d])
	reads(centre)
	writes(dst[:(rows-1)*dstStride+d])
	s.centre(dst, dstStride, x, stride, rows, centre, scale)
}

func centreGo(dst []float32, dstStride int, x []float32, stride, rows int, centre []float32, scale float32) {
	for r := range rows {
		out, in := dst[r*dstStride:][:len(centre)], x[r*stride:][:len(centre)]
		for t, c := range centre {
			out[t] = float32(in[t]-c) * scale
		}
	}
}

// CentredMulTrans is MulTrans of the rows that Centre would make of x, which are not
// stored:
//
//	dst[c*dstStride+t] = sum over r < rows of w[r*wStride+c] (x[r*stride+t] - centre[t]) scale
//
// for c < k and t < len(centre), with the same bits. x is read once for two columns
// of w, in the order of memory.
func (s *Kernels) CentredMulTrans(dst []float32, dstStride int, w []float32, wStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	d := len(centre)
	switch {
	case k < 0 || rows < 0 || dstStride < d || wStride < k || stride < d:
		panic("simd: centred mul trans: bad shape")
	case k == 0 || d == 0:
		return
	case !holds(len(dst), k, dstStride, d):
		panic("simd: centred mul trans: short destination")
	}
	for c := range k {
		clear(dst[c*dstStride:][:d])
	}
	if rows == 0 {
		return
	}
	if !holds(len(w), rows, wStride, k) || !holds(len(x), rows, stride, d) {
		panic("simd: centred mul trans: short slice")
	}
	reads(w[:(rows-1)*wStride+k])
	reads(x[:(rows-1)*stride+d])
	writes(dst[:(k-1)*dstStride+d])
	s.centredMulTrans(dst, dstStride, w, wStride, k, x, stride, rows, centre, scale)
}

func centredMulTransGo(dst []float32, dstStride int, w []float32, wStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	d := len(centre)
	for r := range rows {
		row := x[r*stride:][:d]
		for c := range k {
			f, out := w[r*wStride+c], dst[c*dstStride:][:d]
			for t, m := range centre {
				v := float32(row[t]-m) * scale
				out[t] += float32(f * v)
			}
		}
	}
}

// CentredDots is Dots of k rows of b with the rows that Centre would make of x, which
// are not stored:
//
//	dst[c*dstStride+r] = sum over t of b[c*bStride+t] (x[r*stride+t] - centre[t]) scale
//
// for c < k and r < rows. Its error is that of Dots, and its bits depend on the
// level. x is read once for two rows of b, in the order of memory.
func (s *Kernels) CentredDots(dst []float32, dstStride int, b []float32, bStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	d := len(centre)
	switch {
	case k < 0 || rows < 0 || dstStride < rows || bStride < d || stride < d:
		panic("simd: centred dots: bad shape")
	case k == 0 || rows == 0:
		return
	case !holds(len(dst), k, dstStride, rows):
		panic("simd: centred dots: short destination")
	case !holds(len(b), k, bStride, d) || !holds(len(x), rows, stride, d):
		panic("simd: centred dots: short slice")
	}
	reads(b[:(k-1)*bStride+d])
	reads(x[:(rows-1)*stride+d])
	writes(dst[:(k-1)*dstStride+rows])
	s.centredDots(dst, dstStride, b, bStride, k, x, stride, rows, centre, scale)
}

func centredDotsGo(dst []float32, dstStride int, b []float32, bStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	d := len(centre)
	for r := range rows {
		row := x[r*stride:][:d]
		for c := range k {
			var sums [4]float32
			for t, v := range b[c*bStride:][:d] {
				sums[t&3] += float32(v * float32(float32(row[t]-centre[t])*scale))
			}
			dst[c*dstStride+r] = (sums[0] + sums[2]) + (sums[1] + sums[3])
		}
	}
}
