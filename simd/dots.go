package simd

// Dots sets dst[i*dstStride+j] to the dot product of row i of a, of na, with row
// j of b, of nb. Rows have d numbers and are aStride and bStride apart.
//
// Sums are float32, in at least four chains: their error is at most
// (d/4 + 6) 2^-24 times the sum of |a_i b_j| over the columns, which makes them
// a filter and not a result where it matters. The bits of a pair depend on the
// level, and on nothing else. Dots panics where a slice is too short; it
// allocates nothing.
func (s *Kernels) Dots(dst []float32, dstStride int, a []float32, aStride, na int, b []float32, bStride, nb, d int) {
	switch {
	case na < 0 || nb < 0 || d < 0 || aStride < d || bStride < d || dstStride < nb:
		panic("simd: dots: bad shape")
	case na == 0 || nb == 0:
		return
	case !holds(len(dst), na, dstStride, nb) || !holds(len(a), na, aStride, d) || !holds(len(b), nb, bStride, d):
		panic("simd: dots: short slice")
	}
	reads(a[:(na-1)*aStride+d])
	reads(b[:(nb-1)*bStride+d])
	writes(dst[:(na-1)*dstStride+nb])
	s.dots(dst, dstStride, a, aStride, na, b, bStride, nb, d)
}

// holds tells whether n numbers are rows rows of the given width.
func holds(n, rows, stride, width int) bool {
	return n >= width && (stride == 0 || (n-width)/stride >= rows-1)
}

func dotsGo(dst []float32, dstStride int, a []float32, aStride, na int, b []float32, bStride, nb, d int) {
	for i := range na {
		row := a[i*aStride:][:d]
		for j := range nb {
			dst[i*dstStride+j] = dotGo(row, b[j*bStride:][:d])
		}
	}
}

func dotGo(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	c := 0
	for ; c+4 <= len(a); c += 4 {
		x, y := (*[4]float32)(a[c:]), (*[4]float32)(b[c:])
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
	}
	for ; c < len(a); c++ {
		s0 += float32(a[c] * b[c])
	}
	return (s0 + s2) + (s1 + s3)
}
