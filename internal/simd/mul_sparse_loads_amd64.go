//go:build gc && !noasm && !purego

package simd

// The functions in this file are those of AVX-512 for processors with slow gathers. One and
// two columns take the loops of AVX2, which load one row of x after the other. The loops of
// AVX-512 for more columns do not gather.
var (
	mulSparseOfAVX512Loads        = withFirst(mulSparseOfAVX512, mulSparseOfAVX2[:2])
	mulSparseOffsetsOfAVX512Loads = withFirst(mulSparseOffsetsOfAVX512, mulSparseOffsetsOfAVX2[:2])
)

// withFirst returns the functions of all widths with the first ones replaced.
func withFirst[F any](all [6]F, first []F) [6]F {
	copy(all[:], first)
	return all
}

func mulSparseAVX512Loads(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	mulSparseInWidths(mulSparseOfAVX512Loads[:], dst, k, ptr, ind, val, x)
}

func mulSparseOffsetsAVX512Loads(dst Rows[float32], k int, ptr []uint64, base []uint32, off []uint16, val []float32, x Rows[float32]) {
	mulSparseOffsetsInWidths(mulSparseOffsetsOfAVX512Loads[:], dst, k, ptr, base, off, val, x)
}
