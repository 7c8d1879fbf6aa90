package simd

// Centre moves and scales rows:
//
//	dst[r][t] = (x[r][t] - centre[t]) scale,   t < len(centre),
//
// for r < rows, where [r][t] is number t of row r. The difference is rounded to float32
// before it is multiplied. Centre has the same bits at every level. It panics where a
// slice is too short, and allocates nothing.
func (s *Kernels) Centre(dst, x Rows[float32], rows int, centre []float32, scale float32) {
	d := len(centre)
	switch {
	case rows < 0 || dst.Stride < d || x.Stride < d:
		panic("simd: centre: bad shape")
	case rows == 0 || d == 0:
		return
	case !dst.holds(rows, d):
		panic("simd: centre: short destination")
	case !x.holds(rows, d):
		panic("simd: centre: short x")
	}
	reads(x.span(rows, d))
	reads(centre)
	writes(dst.span(rows, d))
	s.centre(dst, x, rows, centre, scale)
}

// centreGo is the reference.
func centreGo(dst, x Rows[float32], rows int, centre []float32, scale float32) {
	for r := range rows {
		out, in := dst.row(r, len(centre)), x.row(r, len(centre))
		for t, c := range centre {
			out[t] = float32(in[t]-c) * scale
		}
	}
}

// CentredMulTrans is MulTrans with centred rows of x in place of a. It does not store
// them:
//
//	dst[c][t] = sum over r < rows of w[r][c] (x[r][t] - centre[t]) scale
//
// for c < k and t < len(centre). The bits are those of Centre and MulTrans. It reads x
// once for two columns of w, in the order of memory.
func (s *Kernels) CentredMulTrans(dst, w, x Rows[float32], k, rows int, centre []float32, scale float32) {
	d := len(centre)
	switch {
	case k < 0 || rows < 0 || dst.Stride < d || w.Stride < k || x.Stride < d:
		panic("simd: centred mul trans: bad shape")
	case k == 0 || d == 0:
		return
	case !dst.holds(k, d):
		panic("simd: centred mul trans: short destination")
	}
	for c := range k {
		clear(dst.row(c, d))
	}
	if rows == 0 {
		return
	}
	if !w.holds(rows, k) || !x.holds(rows, d) {
		panic("simd: centred mul trans: short slice")
	}
	reads(w.span(rows, k))
	reads(x.span(rows, d))
	writes(dst.span(k, d))
	s.centredMulTrans(dst, w, x, k, rows, centre, scale)
}

// centredMulTransGo is the reference. It adds to dst.
func centredMulTransGo(dst, w, x Rows[float32], k, rows int, centre []float32, scale float32) {
	d := len(centre)
	for r := range rows {
		row := x.row(r, d)
		for c := range k {
			f, out := w.Data[r*w.Stride+c], dst.row(c, d)
			for t, m := range centre {
				v := float32(row[t]-m) * scale
				out[t] += float32(f * v)
			}
		}
	}
}

// CentredDots is Dots of k rows of b with centred rows of x. It does not store them:
//
//	dst[c][r] = sum over t of b[c][t] (x[r][t] - centre[t]) scale
//
// for c < k and r < rows. Its error is that of Dots, and its bits depend on the level. It
// reads x once for two rows of b, in the order of memory.
func (s *Kernels) CentredDots(dst, b, x Rows[float32], k, rows int, centre []float32, scale float32) {
	d := len(centre)
	switch {
	case k < 0 || rows < 0 || dst.Stride < rows || b.Stride < d || x.Stride < d:
		panic("simd: centred dots: bad shape")
	case k == 0 || rows == 0:
		return
	case !dst.holds(k, rows):
		panic("simd: centred dots: short destination")
	case !b.holds(k, d) || !x.holds(rows, d):
		panic("simd: centred dots: short slice")
	}
	reads(b.span(k, d))
	reads(x.span(rows, d))
	writes(dst.span(k, rows))
	s.centredDots(dst, b, x, k, rows, centre, scale)
}

// centredDotsGo is the reference.
func centredDotsGo(dst, b, x Rows[float32], k, rows int, centre []float32, scale float32) {
	d := len(centre)
	for r := range rows {
		row := x.row(r, d)
		for c := range k {
			var sums [4]float32
			for t, v := range b.row(c, d) {
				sums[t&3] += float32(v * float32(float32(row[t]-centre[t])*scale))
			}
			dst.Data[c*dst.Stride+r] = (sums[0] + sums[2]) + (sums[1] + sums[3])
		}
	}
}
