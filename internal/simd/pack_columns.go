package simd

// PackColumns turns the columns of a run of rows into offsets for MulSparseOffsets:
//
//	off[p] = ind[p] - base[r]   mod 2^16
//
// for the entries p of row r, from ptr[r] to ptr[r+1]-1. It panics where the ends of slices
// do not fit, and allocates nothing.
func (s *Kernels) PackColumns(off []uint16, ptr []uint64, base, ind []uint32) {
	rows := len(ptr) - 1
	if rows <= 0 {
		return
	}
	if len(base) < rows || ptr[0] > ptr[rows] || ptr[rows] > uint64(min(len(off), len(ind))) {
		panic("simd: pack columns: rows beyond the slices")
	}
	reads(ind[ptr[0]:ptr[rows]])
	writes(off[ptr[0]:ptr[rows]])
	s.packColumns(off, ptr, base, ind)
}

// packColumnsGo is the reference.
func packColumnsGo(off []uint16, ptr []uint64, base, ind []uint32) {
	for r, hi := range ptr[1:] {
		row, out, first := ind[ptr[r]:hi], off[ptr[r]:hi], base[r]
		for e, j := range row {
			out[e] = uint16(j - first)
		}
	}
}
