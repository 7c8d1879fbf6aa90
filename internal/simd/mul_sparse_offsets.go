package simd

// MulSparseOffsets is MulSparse for a matrix whose columns are offsets of 16 bits:
// entry p of row r is in column
//
//	base[r] + off[p]
//
// There is a base for every row of the run. The sums are those of MulSparse, with the same
// bits at every level. x must reach to the base of every row, even of empty rows.
func (s *Kernels) MulSparseOffsets(dst Rows[float32], k int, ptr []uint64, base []uint32, off []uint16, val []float32, x Rows[float32]) {
	if checkMulSparse(dst, k, ptr, len(off), len(val), x) {
		checkBases(ptr, base)
		reads(off[ptr[0]:ptr[len(ptr)-1]])
		reads(val[ptr[0]:ptr[len(ptr)-1]])
		writes(dst.span(len(ptr)-1, k))
		s.mulSparseOffsets(dst, k, ptr, base, off, val, x)
	}
}

// MulSparseOffsets16 is MulSparseOffsets with values of 16 bits, as Float16 makes them. It
// converts them to float32, which is exact, before it multiplies.
func (s *Kernels) MulSparseOffsets16(dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) {
	if checkMulSparse(dst, k, ptr, len(off), len(val), x) {
		checkBases(ptr, base)
		reads(off[ptr[0]:ptr[len(ptr)-1]])
		reads(val[ptr[0]:ptr[len(ptr)-1]])
		writes(dst.span(len(ptr)-1, k))
		if s.mulSparseOffsets16 != nil && s.mulSparseOffsets16(dst, k, ptr, base, off, val, x) {
			return
		}
		s.mulSparseOffsets16InPieces(dst, k, ptr, base, off, val, x)
	}
}

// checkBases panics where a row has no base.
func checkBases(ptr []uint64, base []uint32) {
	if len(base) < len(ptr)-1 {
		panic("simd: mul sparse offsets: fewer bases than rows")
	}
}

// mulSparseOffsetsGo is the reference.
func mulSparseOffsetsGo(dst Rows[float32], k int, ptr []uint64, base []uint32, off []uint16, val []float32, x Rows[float32]) {
	for r, hi := range ptr[1:] {
		mulSparseRowGo(dst.row(r, k), off[ptr[r]:hi], val[ptr[r]:hi], x.Data[min(int(base[r])*x.Stride, len(x.Data)):], x.Stride)
	}
}
