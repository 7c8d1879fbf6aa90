package simd

// AddRows adds multiples of the rows of x to dst,
//
//	dst[i] += v[j] x[j][i]    for j = 0, 1, ..., len(v)-1, one after the other
//
// for every i below len(dst), where [j][i] is number i of row j. Products are rounded
// before they are added, so the bits are the same at every level. AddRows panics where x
// is too short, and allocates nothing.
func (s *Kernels) AddRows(dst, v []float64, x Rows[float64]) {
	n, rows := len(dst), len(v)
	switch {
	case n == 0 || rows == 0:
		return
	case x.Stride < n && rows > 1:
		panic("simd: add rows: bad stride")
	case !x.holds(rows, n):
		panic("simd: add rows: short slice")
	}
	readsFirst(x, rows, n)
	writes(dst)
	s.addRows(dst, v, x)
}

// addRowsGo is the reference. It takes four rows at a time, then single rows.
func addRowsGo(dst, v []float64, x Rows[float64]) {
	j, n := 0, len(dst)
	for ; j+4 <= len(v); j += 4 {
		v0, v1, v2, v3 := v[j], v[j+1], v[j+2], v[j+3]
		x0, x1, x2, x3 := x.row(j, n), x.row(j+1, n), x.row(j+2, n), x.row(j+3, n)
		for i, sum := range dst {
			sum += float64(v0 * x0[i]) // the conversions prevent fusing
			sum += float64(v1 * x1[i])
			sum += float64(v2 * x2[i])
			dst[i] = sum + float64(v3*x3[i])
		}
	}
	for ; j < len(v); j++ {
		factor := v[j]
		for i, e := range x.row(j, n) {
			dst[i] += float64(factor * e)
		}
	}
}
