package simd

// Dots sets number j of row i of dst to the dot product of row i of a, which has na, with
// row j of b, which has nb. The rows of a and b have d numbers.
//
// Sums are float32, in at least four chains. Their error is at most (d/4 + 6) 2^-24 times
// the sum of |a_i b_j| over the columns: use them as a filter, not as a result where that
// error matters. The bits of a pair depend only on the level. Dots panics where a slice is
// too short, and allocates nothing.
func (s *Kernels) Dots(dst, a, b Rows[float32], na, nb, d int) {
	switch {
	case na < 0 || nb < 0 || d < 0 || a.Stride < d || b.Stride < d || dst.Stride < nb:
		panic("simd: dots: bad shape")
	case na == 0 || nb == 0:
		return
	case !dst.holds(na, nb) || !a.holds(na, d) || !b.holds(nb, d):
		panic("simd: dots: short slice")
	}
	reads(a.span(na, d))
	reads(b.span(nb, d))
	writes(dst.span(na, nb))
	s.dots(dst, a, b, na, nb, d)
}

// dotsGo is the reference.
func dotsGo(dst, a, b Rows[float32], na, nb, d int) {
	for i := range na {
		row, out := a.row(i, d), dst.row(i, nb)
		for j := range out {
			out[j] = dotGo(row, b.row(j, d))
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
