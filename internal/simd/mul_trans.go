package simd

// MulTrans multiplies the transpose of a thin block with a wide one:
//
//	dst[c][t] = sum over r < rows of w[r][c] a[r][t]
//
// for c < k and t < cols, where [c][t] is number t of row c. Products are rounded to
// float32 and added in the order of the rows, in float32. The error is at most (rows+1)
// 2^-24 times the sum of |w a|: keep blocks short, and add the results of many blocks in
// float64. MulTrans has the same bits at every level. It panics where a slice is too
// short, and allocates nothing. dst must not overlap w or a.
func (s *Kernels) MulTrans(dst, w, a Rows[float32], k, rows, cols int) {
	switch {
	case k < 0 || rows < 0 || cols < 0 || dst.Stride < cols || w.Stride < k || a.Stride < cols:
		panic("simd: mul trans: bad shape")
	case k == 0 || cols == 0:
		return
	case !dst.holds(k, cols):
		panic("simd: mul trans: short destination")
	case rows > 0 && (!w.holds(rows, k) || !a.holds(rows, cols)):
		panic("simd: mul trans: short slice")
	}
	if rows > 0 {
		reads(w.span(rows, k))
		reads(a.span(rows, cols))
	}
	writes(dst.span(k, cols))
	s.mulTrans(dst, w, a, k, rows, cols)
}

// mulTransGo is the reference.
func mulTransGo(dst, w, a Rows[float32], k, rows, cols int) {
	for c := range k {
		out := dst.row(c, cols)
		clear(out)
		for r := range rows {
			f, row := w.Data[r*w.Stride+c], a.row(r, cols)
			for t, v := range row {
				out[t] += float32(f * v)
			}
		}
	}
}
