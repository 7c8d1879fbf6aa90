package simd

// SumSparse sums the values of a run of rows of a compressed sparse matrix:
//
//	dst[r] = sum over p from ptr[r] to ptr[r+1]-1 of val[p]
//
// for r from 0 to len(ptr)-2, with ptr as in MulSparse. Each row is summed in float64, in
// four chains: entry e of the row in chain e mod 4, and (c0 + c2) + (c1 + c3) at the end.
// So the result has the same bits at every level. Its error is at most (m/4 + 3) 2^-53
// times the sum of |val| for a row of m entries. SumSparse panics where the ends of slices
// do not fit, and allocates nothing.
func (s *Kernels) SumSparse(dst []float64, ptr []uint64, val []float32) {
	rows := len(ptr) - 1
	switch {
	case rows <= 0:
		return
	case len(dst) < rows:
		panic("simd: sum sparse: short destination")
	case ptr[0] > ptr[rows] || ptr[rows] > uint64(len(val)):
		panic("simd: sum sparse: row pointers beyond the entries")
	}
	reads(val[ptr[0]:ptr[rows]])
	writes(dst[:rows])
	s.sumSparse(dst, ptr, val)
}

// sumSparseGo is the reference.
func sumSparseGo(dst []float64, ptr []uint64, val []float32) {
	for r, hi := range ptr[1:] {
		row := val[ptr[r]:hi]
		var c [4]float64
		for len(row) >= 4 {
			c[0] += float64(row[0])
			c[1] += float64(row[1])
			c[2] += float64(row[2])
			c[3] += float64(row[3])
			row = row[4:]
		}
		for e, v := range row {
			c[e&3] += float64(v)
		}
		dst[r] = (c[0] + c[2]) + (c[1] + c[3])
	}
}
