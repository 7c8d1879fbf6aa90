package simd

// MulSparseOffsets is MulSparse for a matrix whose columns are offsets of 16 bits:
// entry p of row r is in column
//
//	base[r] + off[p]
//
// with a base for every row of the run. The sums are the same, with the same bits
// at every level. x must reach to the base of every row, of empty ones too.
func (s *Kernels) MulSparseOffsets(dst []float32, dstStride, k int, ptr []uint64, base []uint32, off []uint16, val, x []float32, stride int) {
	if checkMulSparse(len(dst), dstStride, k, ptr, len(off), len(val), len(x), stride) {
		checkBases(ptr, base)
		reads(off[ptr[0]:ptr[len(ptr)-1]])
		reads(val[ptr[0]:ptr[len(ptr)-1]])
		writes(dst[:(len(ptr)-2)*dstStride+k])
		s.mulSparseOffsets(dst, dstStride, k, ptr, base, off, val, x, stride)
	}
}

// MulSparseOffsets16 is MulSparseOffsets with values of 16 bits as well, which Float16 makes.
// They are converted to float32, which is exact, before they are multiplied.
func (s *Kernels) MulSparseOffsets16(dst []float32, dstStride, k int, ptr []uint64, base []uint32, off, val []uint16, x []float32, stride int) {
	if checkMulSparse(len(dst), dstStride, k, ptr, len(off), len(val), len(x), stride) {
		checkBases(ptr, base)
		reads(off[ptr[0]:ptr[len(ptr)-1]])
		reads(val[ptr[0]:ptr[len(ptr)-1]])
		writes(dst[:(len(ptr)-2)*dstStride+k])
		if s.mulSparseOffsets16 != nil && s.mulSparseOffsets16(dst, dstStride, k, ptr, base, off, val, x, stride) {
			return
		}
		s.mulSparseOffsets16InPieces(dst, dstStride, k, ptr, base, off, val, x, stride)
	}
}

func checkBases(ptr []uint64, base []uint32) {
	if len(base) < len(ptr)-1 {
		panic("simd: mul sparse offsets: fewer bases than rows")
	}
}

// mulSparseOffsetsGo is the reference.
func mulSparseOffsetsGo(dst []float32, dstStride, k int, ptr []uint64, base []uint32, off []uint16, val, x []float32, stride int) {
	for r, hi := range ptr[1:] {
		mulSparseRowGo(dst[r*dstStride:][:k], off[ptr[r]:hi], val[ptr[r]:hi], x[min(int(base[r])*stride, len(x)):], stride)
	}
}
