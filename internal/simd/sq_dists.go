package simd

import "math"

// SqDists sets dst[m] to the squared distance of x from row index[m] of rows, of d = len(x)
// numbers each. It checks the sum after every 64 columns: if that is above the limit,
// dst[m] keeps the sum so far, and SqDists goes on to the next row. So dst[m] > limit if
// and only if the whole sum is.
//
// Differences are rounded to float32, squared, rounded and added in 64 lanes: column c to
// lane c%64. Lanes are added in halves: 0 to 31 and 32 to 63, then 0 to 15 and 16 to 31,
// down to one. So the bits are the same at every level. The error of a whole sum is at
// most (d/64 + 10) 2^-24 times the squared distance, wherever the origin is, and d 2^-149
// more where squares are too small for float32.
//
// SqDists panics where dst is too short, or where the first or the last index is beyond
// rows. It does not check the indices between, which ascend in most lists. It allocates
// nothing.
func (s *Kernels) SqDists(dst, x []float32, rows Rows[float32], index []uint32, limit float32) {
	if len(dst) < len(index) || rows.Stride < len(x) {
		panic("simd: sq dists: bad shape")
	}
	if len(index) == 0 {
		return
	}
	for _, i := range []uint32{index[0], index[len(index)-1]} {
		if uint64(i) >= math.MaxInt || !rows.holds(int(i)+1, len(x)) {
			panic("simd: sq dists: short slice")
		}
	}
	reads(x)
	reads(index)
	readsRows(rows, len(x), index)
	writes(dst[:len(index)])
	s.sqDists(dst, x, rows, index, limit)
}

// sqDistsGo is the reference.
func sqDistsGo(dst, x []float32, rows Rows[float32], index []uint32, limit float32) {
	for m, i := range index {
		dst[m] = sqDistGo(x, rows.row(int(i), len(x)), limit)
	}
}

func sqDistGo(x, y []float32, limit float32) (sum float32) {
	var lanes [64]float32
	for len(x) > 0 {
		n := min(64, len(x))
		for l, v := range x[:n] {
			e := v - y[l]
			lanes[l] += float32(e * e)
		}
		x, y = x[n:], y[n:]
		halves := lanes
		for width := 32; width > 0; width /= 2 {
			for l, v := range halves[width : 2*width] {
				halves[l] += v
			}
		}
		if sum = halves[0]; sum > limit {
			break
		}
	}
	return sum
}
